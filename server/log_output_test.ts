import { assertEquals } from "@std/assert";
import { eventually } from "../tests/support/mod.ts";
import { createLogOutput, type LogOutputDeps } from "./log_output.ts";

/** Where the log goes: it takes a few bytes at a time, nothing for a while, or fails. */
class Reader implements LogOutputDeps {
  text = "";
  ms = 0;
  atOnce = Infinity;
  /** Resolved when it reads again. */
  away = Promise.withResolvers<void>();
  fault: Error | undefined;

  constructor() {
    this.away.resolve();
  }

  readonly nowMs = (): number => this.ms;
  readonly writeSync = (bytes: Uint8Array): number => {
    if (this.fault !== undefined) throw this.fault;
    const taken = Math.min(this.atOnce, bytes.length);
    this.text += new TextDecoder().decode(bytes.subarray(0, taken));
    return taken;
  };
  readonly write = async (bytes: Uint8Array): Promise<number> => {
    await this.away.promise;
    return this.writeSync(bytes);
  };
}

/** Without the line that tells of lost ones, whose number comes first. */
function toldLost(text: string): readonly unknown[] {
  return text.trim().split("\n").map((line) =>
    line.startsWith("{") ? JSON.parse(line).lines : line
  );
}

Deno.test("every line is written once, in order, also by a reader that takes a few bytes at a time", async () => {
  const reader = new Reader();
  reader.atOnce = 3;
  const output = createLogOutput(reader);
  output.write("first");
  output.write("second");
  await output.close();
  output.write("third");
  output.flush();
  output.flush();
  assertEquals(reader.text, "first\nsecond\nthird\n");
  assertEquals(output.state(), { lostLines: 0, waitingMs: 0 });
});

Deno.test("a line is written soon without being asked for", async () => {
  const reader = new Reader();
  createLogOutput(reader).write("a line");
  await eventually({ what: "the line" }, () => Promise.resolve(reader.text), (text) => text !== "");
  assertEquals(reader.text, "a line\n");
});

Deno.test("a reader that has gone or is full costs lines, which are counted and told once there is room", async () => {
  const reader = new Reader();
  reader.fault = new Deno.errors.BrokenPipe("Broken pipe (os error 32)");
  const output = createLogOutput(reader);
  for (const lines of [["one", "two"], ["three"]]) {
    for (const line of lines) output.write(line);
    await output.close();
  }
  assertEquals(output.state().lostLines, 3);
  reader.fault = undefined;
  for (const line of ["four", "five"]) {
    output.write(line);
    await output.close();
  }
  assertEquals(toldLost(reader.text), [3, "four", "five"]);
  assertEquals(output.state().lostLines, 3);
});

Deno.test("nobody waits for a reader that stands still: lines wait up to a limit, and it shows for how long", async () => {
  const reader = new Reader();
  reader.away = Promise.withResolvers();
  const output = createLogOutput(reader);
  const line = "x".repeat(1024 * 1024);
  output.write("first");
  const closing = output.close();
  for (let i = 0; i < 6; i++) output.write(line);
  reader.ms = 40_000;
  assertEquals(output.state(), { lostLines: 2, waitingMs: 40_000 });
  // A process that ends now ends without it.
  output.flush();
  assertEquals(reader.text, "");
  reader.away.resolve();
  await closing;
  await output.close();
  const [first, told, ...rest] = toldLost(reader.text);
  assertEquals([first, told, rest.length], ["first", 2, 4]);
  assertEquals(output.state(), { lostLines: 2, waitingMs: 0 });
});
