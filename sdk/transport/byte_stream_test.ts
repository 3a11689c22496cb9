import { assert, assertEquals, assertRejects } from "@std/assert";
import { errorCodes } from "../../proto/mod.ts";
import { SimulatedClock } from "../../tests/support/mod.ts";
import { createByteStream } from "./byte_stream.ts";
import type { CellStream } from "./transport.ts";

/** A connection in memory with one stream, and what became of it. */
class Connection {
  readonly clock = new SimulatedClock();
  readonly written: Uint8Array[] = [];
  finished = false;
  closedWith: number | undefined;
  refuses: Error | undefined;
  #source: ReadableByteStreamController | undefined;
  readonly #closed = Promise.withResolvers<{ closeCode?: number }>();
  readonly stream: CellStream;

  constructor() {
    this.stream = createByteStream({
      readable: new ReadableStream({
        type: "bytes",
        start: (controller) => void (this.#source = controller),
      }),
      writable: new WritableStream({
        write: (chunk) => {
          if (this.refuses !== undefined) throw this.refuses;
          this.written.push(chunk.slice());
        },
        close: () => void (this.finished = true),
      }),
      closed: this.#closed.promise,
      close: (closeCode) => {
        this.closedWith = closeCode;
        this.#closed.resolve({});
      },
      after: this.clock.after,
    });
  }

  send(...bytes: number[]): void {
    this.#source?.enqueue(Uint8Array.from(bytes));
  }

  finish(): void {
    this.#source?.close();
    this.#source?.byobRequest?.respond(0);
  }

  closeWith(closeCode: number): void {
    this.#closed.resolve({ closeCode });
  }

  lose(error: Error): void {
    this.#source?.error(error);
    this.#closed.reject(error);
  }
}

Deno.test("bytes go both ways, and one buffer serves all reads", async () => {
  const connection = new Connection();
  for (let i = 0; i < 5; i++) {
    connection.send(i, i + 1);
    assertEquals((await connection.stream.read())?.slice(), Uint8Array.of(i, i + 1));
  }
  await connection.stream.write(Uint8Array.of(1, 2, 3), 3);
  assertEquals(connection.written, [Uint8Array.of(1, 2, 3)]);
});

Deno.test("a relay that ends and closes is answered in kind, and its close code is known", async () => {
  const connection = new Connection();
  connection.finish();
  assertEquals(await connection.stream.read(), undefined);
  await connection.clock.settle();
  assert(connection.finished, "our direction goes on");
  connection.closeWith(errorCodes.session_replaced.close);
  assertEquals((await connection.stream.closed).code, "session_replaced");
  assertEquals(connection.clock.timers, 0);
});

Deno.test("a relay that ends its direction and never closes is left after a while", async () => {
  const connection = new Connection();
  connection.finish();
  assertEquals(await connection.stream.read(), undefined);
  await connection.clock.advance(1_500);
  assertEquals(connection.closedWith, 0);
  await connection.stream.closed;
});

Deno.test("a lost connection ends reading and tells why", async () => {
  const connection = new Connection();
  const read = connection.stream.read();
  connection.lose(new Error("timed out"));
  assertEquals(await read, undefined);
  assertEquals(await connection.stream.closed, { message: "timed out" });
  await connection.clock.advance(2_000);
});

Deno.test("an ordinary close lets what was written arrive; any other closes at once with its code", async () => {
  const ordinary = new Connection();
  ordinary.stream.close(0);
  await ordinary.clock.settle();
  assertEquals([ordinary.finished, ordinary.closedWith], [true, undefined]);
  await ordinary.clock.advance(1_500);
  assertEquals(ordinary.closedWith, 0);
  const fault = new Connection();
  fault.stream.close(errorCodes.protocol_error.close);
  assertEquals(fault.closedWith, errorCodes.protocol_error.close);
  fault.stream.close(0);
});

Deno.test("a write that is refused rejects and ends the stream, even when the connection lives on", async () => {
  const connection = new Connection();
  connection.refuses = new Error("gone");
  await assertRejects(() => connection.stream.write(Uint8Array.of(1), 1), Error, "gone");
  await connection.clock.advance(1_500);
  await connection.stream.closed;
  assertEquals(connection.closedWith, 0);
});
