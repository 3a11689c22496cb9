import { ConnectError } from "@connectrpc/connect";
import { assertEquals, assertRejects } from "@std/assert";
import { ErrorDetailSchema } from "../../proto/wire/grpc.ts";
import { Strangers } from "../strangers.ts";
import { SimulatedClock } from "../../tests/support/mod.ts";
import { CellStreams } from "./cell_streams.ts";

const cellBytes = 1024;
const peer = { remoteAddress: "192.0.2.1", vouch: () => {} };

/** Returns the code that the client of a stream is told, and the faults for the log. */
async function end(
  requests: () => AsyncGenerator<{ cell: Uint8Array }>,
  receive: () => Promise<void> | undefined,
): Promise<{ code: string | undefined; faults: unknown[]; lost: number }> {
  const clock = new SimulatedClock();
  const faults: unknown[] = [];
  let lost = 0;
  const streams = new CellStreams({
    upstream: {
      cellBytes,
      openTyped: () => {
        throw new Error("not in this test");
      },
      openCells: () => ({ cellBytes, receive, ended: () => {}, lost: () => void lost++ }),
    },
    strangers: new Strangers(1),
    idleTimeoutMs: 60_000,
    nowMs: clock.nowMs,
    after: clock.after,
    randomBytes: (length) => new Uint8Array(length),
    onFault: (error) => void faults.push(error),
  });
  const error = await assertRejects(
    () => Array.fromAsync(streams.run(requests(), peer, new AbortController().signal)),
    ConnectError,
  );
  return { code: error.findDetails(ErrorDetailSchema)[0]?.code, faults, lost: Math.min(lost, 1) };
}

async function* oneCell(): AsyncGenerator<{ cell: Uint8Array }> {
  yield await Promise.resolve({ cell: new Uint8Array(cellBytes) });
}

// deno-lint-ignore require-yield
async function* noCells(): AsyncGenerator<{ cell: Uint8Array }> {
  await Promise.reject(new Error("of its bytes"));
}

Deno.test("a stream whose bytes are no cells is its client's mistake, and no fault", async () => {
  assertEquals(await end(noCells, () => undefined), {
    code: "invalid_request",
    faults: [],
    lost: 1,
  });
});

Deno.test("a cell that the relay fails to take is a fault of ours: the log has it, and the client is not blamed", async () => {
  const ours = new Error("ours");
  const fails = (): undefined => {
    throw ours;
  };
  for (const receive of [fails, () => Promise.reject(ours)]) {
    assertEquals(await end(oneCell, receive), { code: "internal", faults: [ours], lost: 1 });
  }
});
