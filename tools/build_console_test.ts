import { dirname } from "node:path";
import { assertEquals, assertNotEquals } from "@std/assert";
import { runCommand } from "../tests/support/mod.ts";

const repository = new URL("../", import.meta.url).pathname;

/** Those of packages, because the first one names them. */
const configs = [
  "deno.json",
  "deno.lock",
  ...["api", "cli", "relay", "server"].map((name) => `${name}/deno.json`),
];

/** A checkout of what the console is made of, and of what makes it. */
async function withCheckout(use: (checkout: Checkout) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir({ prefix: "static-build-" });
  try {
    const parts = ["api/console", "proto", "sdk", "wasm", "tools", ...configs];
    await runCommand("cp", ["-r", "--parents", ...parts, root], { cwd: repository });
    const at = (path: string): string => `${root}/${path}`;
    await use({
      build: async () =>
        (await runCommand(Deno.execPath(), [
          "run",
          "-A",
          "--no-check",
          at("tools/build_console.ts"),
        ])).trim(),
      write: async (path, text) => {
        await Deno.mkdir(dirname(at(path)), { recursive: true });
        await Deno.writeTextFile(at(path), text, { append: true });
      },
      list: async (path = "") =>
        (await Array.fromAsync(Deno.readDir(at(`dist/console/${path}`)), ({ name }) => name))
          .sort(),
    });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

interface Checkout {
  /** Returns what is printed. */
  build(): Promise<string>;
  /** At the end of a file, or as a new one. */
  write(path: string, text: string): Promise<void>;
  /** Names in a folder of `dist/console`. */
  list(path?: string): Promise<readonly string[]>;
}

function around(build: string): readonly string[] {
  return [build, "current", "lock"].sort();
}

Deno.test("the console is built once for the same sources, also by two at once, and anew for others", () =>
  withCheckout(async ({ build, write, list }) => {
    const printed = (await Promise.all([build(), build()])).sort();
    const [, name = ""] = /^dist\/console\/(\w{16}) is built$/.exec(printed[0] ?? "") ?? [];
    assertEquals(printed, [`dist/console/${name} is built`, `dist/console/${name} is current`]);
    const files = [
      "console.css",
      "console.js",
      "live.js",
      "operator.js",
      "plot.js",
      "shared.js",
      "ui.js",
      "worker.js",
    ];
    assertEquals([await list(), await list(name)], [around(name), files]);

    await write("sdk/mod_test.ts", "\n");
    await write("sdk/testing/new.ts", "export {};\n");
    assertEquals(await build(), `dist/console/${name} is current`);

    // As a process leaves them that is ended in between.
    for (const folder of ["making", "0123456789abcdef"]) {
      await write(`dist/console/${folder}/ui.js`, "half");
    }
    await write("api/console/page/style.css", "p {}\n");
    const [, next = ""] = /^dist\/console\/(\w{16}) is built$/.exec(await build()) ?? [];
    assertNotEquals(next, name);
    assertEquals(await list(), around(next));
  }));
