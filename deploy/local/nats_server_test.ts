import { assert, assertEquals } from "@std/assert";
import { findNatsServer, isNewEnough } from "./nats_server.ts";

/** A folder with a program `nats-server` that prints this. */
async function withProgram(
  prints: string,
  use: (folder: string) => void | Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "static-nats-" });
  try {
    await Deno.writeTextFile(`${folder}/nats-server`, `#!/bin/sh\necho '${prints}'\n`, {
      mode: 0o755,
    });
    await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("isNewEnough() compares versions as numbers", () => {
  const versions = ["2.9.10", "2.14.99", "1.20.0", "2.15.0", "2.100.1", "3.0.0"];
  assertEquals(versions.filter(isNewEnough), ["2.15.0", "2.100.1", "3.0.0"]);
});

Deno.test("findNatsServer() passes over an old program and takes a new one behind it", async () => {
  await withProgram("nats-server: v2.10.27", async (old) => {
    await withProgram("nats-server: v2.15.1", (recent) => {
      const program = `${recent}/nats-server`;
      const found = { outcome: "found" as const, program, version: "2.15.1" };
      assertEquals(findNatsServer({ named: undefined, path: `/nowhere:${old}:${recent}` }), found);
    });
  });
});

Deno.test("findNatsServer() says which version is too old, and takes nothing in place of the one that is named", async () => {
  await withProgram("nats-server: v2.10.27", (old) => {
    const why = `${old}/nats-server is 2.10.27, and at least 2.15 is needed`;
    assertEquals(findNatsServer({ named: undefined, path: old }), { outcome: "missing", why });
  });
  await withProgram("nats-server: v2.15.1", (recent) => {
    const search = findNatsServer({ named: "/nowhere/nats", path: recent });
    assert(search.outcome === "missing");
    assertEquals(search.why, "STATIC_NATS_SERVER names /nowhere/nats, which is no nats-server");
  });
  await withProgram("something else 2.15.1", (other) => {
    const search = findNatsServer({ named: undefined, path: other });
    assertEquals(search, { outcome: "missing", why: "PATH has no nats-server" });
  });
});
