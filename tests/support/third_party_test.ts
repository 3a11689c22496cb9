// Files of others: tests find them in any of their places, and a machine without them is told how
// to get them.
import { assertEquals, assertThrows } from "@std/assert";
import { natsPackage } from "../../tools/fetch/debian_package.ts";
import { requireNats } from "./nats.ts";
import { vectors } from "./vectors.ts";

const file = "cbor/appendix_a.json";

/** A folder with these files. */
async function withFiles(names: readonly string[], use: (folder: string) => void): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "static-places-" });
  try {
    await Deno.mkdir(`${folder}/cbor`);
    for (const name of names) await Deno.writeTextFile(`${folder}/${name}`, "[]");
    use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("vectors() asks for a file in any place, and names the command that brings it", async () => {
  await withFiles([file], (folder) => {
    assertEquals(vectors(file, ["/nowhere", folder]).met, true);
    assertEquals(vectors(file, ["/nowhere"]), {
      met: false,
      reason: `third-party vectors ${file} are not on this machine (deno task fetch brings them)`,
    });
  });
});

Deno.test("vectors() refuses a file that is not in the table of sources: nobody else could run the test", () => {
  assertThrows(
    () => vectors("mls/no_such.json"),
    Error,
    "mls/no_such.json is not in tools/fetch/sources.ts",
  );
});

Deno.test("nats-server is found as Debian's package, and a machine without it is told how to get it", async () => {
  const nats = natsPackage();
  const [names, help] = "obstacle" in nats
    ? [[], nats.obstacle]
    : [[nats.name], "deno task fetch brings one"];
  await withFiles(names, (folder) => {
    const machine = { named: undefined, path: "/nowhere", packages: ["/nowhere"] };
    assertEquals(requireNats(machine), {
      met: false,
      reason: `no nats-server of at least 2.15: PATH has no nats-server (${help})`,
    });
    assertEquals(requireNats({ ...machine, packages: ["/nowhere", folder] }).met, names.length > 0);
    assertEquals(requireNats({ ...machine, packages: [folder], named: "/nowhere/nats" }), {
      met: false,
      reason:
        "no nats-server of at least 2.15: STATIC_NATS_SERVER names /nowhere/nats, which is no nats-server (name another)",
    });
  });
});
