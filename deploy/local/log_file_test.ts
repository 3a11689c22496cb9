import { assertEquals, assertMatch } from "@std/assert";
import { LogFile } from "./log_file.ts";

const full = "/dev/full";

Deno.test({
  name: "a full disk costs lines of the log, which is said once, and never throws",
  ignore: Deno.build.os !== "linux",
  fn: () => {
    const said: string[] = [];
    const log = new LogFile(full, (text) => said.push(text));
    log.write("one");
    log.write("two");
    log.close();
    assertEquals(said.length, 1);
    assertMatch(
      said[0] ?? "",
      /^Cannot write to \/dev\/full: .*No space left.*is the disk full\?$/,
    );
  },
});

Deno.test("a log begins a new file when it is full, and writes on after a turn that failed", async () => {
  const folder = await Deno.makeTempDir({ prefix: "static-log-" });
  const path = `${folder}/part.log`;
  const said: string[] = [];
  const line = "x".repeat(1024 * 1024);
  const log = new LogFile(path, (text) => said.push(text));
  // A folder cannot be replaced by a file, so the log cannot turn while this one is in its way.
  await Deno.mkdir(`${path}.1`);
  for (let written = 0; written < 18; written++) log.write(line);
  assertEquals(said.length, 1);
  await Deno.remove(`${path}.1`);
  log.write("after");
  assertEquals(said.at(-1), `${path} is written again; 2 lines were lost`);
  log.close();
  assertEquals((await Deno.stat(`${path}.1`)).size, 16 * (line.length + 1));
  assertEquals(await Deno.readTextFile(path), "\nafter\n");
  await Deno.remove(folder, { recursive: true });
});
