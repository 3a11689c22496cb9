import { assertEquals } from "@std/assert";
import { createBatchedOutput } from "./batched_output.ts";

Deno.test("batched output writes every line once, in order, also when the descriptor takes only a part", () => {
  const written: number[] = [];
  const output = createBatchedOutput({
    writeSync: (bytes) => {
      const taken = Math.min(3, bytes.length);
      written.push(...bytes.subarray(0, taken));
      return taken;
    },
    intervalMs: 1000,
  });
  output.write("first");
  output.write("second");
  assertEquals(written.length, 0);
  output.flush();
  output.flush();
  assertEquals(new TextDecoder().decode(new Uint8Array(written)), "first\nsecond\n");
});

Deno.test("a reader of the log that has gone costs lines, and nothing else", () => {
  const taken: string[] = [];
  const gone = { isTrue: true };
  const writeSync = (bytes: Uint8Array): number => {
    if (gone.isTrue) throw new Deno.errors.BrokenPipe("Broken pipe (os error 32)");
    return taken.push(new TextDecoder().decode(bytes)) && bytes.length;
  };
  const output = createBatchedOutput({ writeSync, intervalMs: 60_000 });
  output.write("lost");
  output.flush();
  gone.isTrue = false;
  output.write("kept");
  output.flush();
  assertEquals(taken, ["kept\n"]);
});
