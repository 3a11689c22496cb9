import { assert, assertEquals } from "@std/assert";
import { openFileLimit } from "./open_files.ts";

const script = `
  import { openFileLimit } from ${JSON.stringify(new URL("open_files.ts", import.meta.url).href)};
  console.log(openFileLimit({ atMost: 1000, path: Deno.args[0] }));
`;

Deno.test("openFileLimit() finds the limit of the process with any permissions, and looks no further than it is told", async () => {
  const folder = await Deno.makeTempDir();
  try {
    for (const permission of ["--allow-all", `--allow-read=${folder}`]) {
      for (const [limit, expected] of [[200, 200], [4096, 1000]] as const) {
        const file = `${folder}/ask.ts`;
        await Deno.writeTextFile(file, script);
        const { stdout } = await new Deno.Command("sh", {
          args: [
            "-c",
            `ulimit -n ${limit}; exec "$@"`,
            "sh",
            Deno.execPath(),
            "run",
            "--no-check",
            permission,
            file,
            folder,
          ],
        }).output();
        const found = Number(new TextDecoder().decode(stdout));
        // Without the kernel's word, those that the runtime itself has open are not counted.
        assert(found <= expected && found > expected - 60, `${permission} at ${limit}: ${found}`);
      }
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  assertEquals(openFileLimit({ atMost: 5, path: "." }), 5);
});
