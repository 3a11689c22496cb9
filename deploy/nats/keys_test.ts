import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { X509Certificate } from "node:crypto";
import { runCommand } from "../../tests/support/mod.ts";
import { writeNatsKeys } from "./keys.ts";

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "static-keys-" });
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function filesIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (!isDirectory) found.push(name);
    else found.push(...(await filesIn(`${folder}/${name}`)).map((path) => `${name}/${path}`));
  }
  return found.sort();
}

Deno.test("every node has a certificate of its own names from one authority, and relays have their key; nobody else reads them", () =>
  inFolder(async (folder) => {
    const keys = `${folder}/keys`;
    await writeNatsKeys(keys, [["nats-1", "10.0.0.1"], ["nats-2.example.com"]], Date.now());
    const files = await filesIn(keys);
    const ofNodes = ["nats-1", "nats-2.example.com"].flatMap((node) =>
      ["accounts.conf", "ca.pem", "node.key", "node.pem"].map((name) => `${node}/${name}`)
    );
    assertEquals(files, [...ofNodes, "relay/nats_ca.pem", "relay/relay.creds"].sort());
    for (const path of files) assertEquals((Deno.statSync(`${keys}/${path}`).mode ?? 0) & 0o777, 0o600, path);
    for (const path of ["nats-1", "relay"]) {
      assertEquals((Deno.statSync(`${keys}/${path}`).mode ?? 0) & 0o777, 0o700, path);
    }
    const read = (path: string): X509Certificate => new X509Certificate(Deno.readTextFileSync(`${keys}/${path}`));
    const [first, second, ca] = [
      read("nats-1/node.pem"),
      read("nats-2.example.com/node.pem"),
      read("relay/nats_ca.pem"),
    ];
    assert(ca.ca && first.verify(ca.publicKey) && second.verify(ca.publicKey));
    assertEquals([first.checkHost("nats-1"), first.checkIP("10.0.0.1")], ["nats-1", "10.0.0.1"]);
    assertEquals([first.checkHost("nats-2.example.com"), second.checkHost("nats-2.example.com")], [
      undefined,
      "nats-2.example.com",
    ]);
    const all = files.map((path) => Deno.readTextFileSync(`${keys}/${path}`));
    assertEquals(all.filter((text) => text.includes("SEED")).length, 1, "one key of an account, which is the relays'");
    assertEquals(all.filter((text) => text.includes("PRIVATE KEY")).length, 2, "no key of the authority");
  }));

Deno.test("keys that are there are not replaced, and a name that is none is refused", () =>
  inFolder(async (folder) => {
    const make = (...args: string[]): Promise<string> =>
      runCommand(Deno.execPath(), ["task", "--quiet", "nats:keys", ...args], {
        cwd: new URL("../../", import.meta.url).pathname,
        mayFail: true,
      });
    assertStringIncludes(await make(`${folder}/keys`, "nats-1"), `${folder}/keys/relay for every relay`);
    const key = await Deno.readTextFile(`${folder}/keys/nats-1/node.key`);
    assertStringIncludes(await make(`${folder}/keys`, "nats-1"), "is there already");
    assertEquals(await Deno.readTextFile(`${folder}/keys/nats-1/node.key`), key);
    await assertRejects(() => writeNatsKeys(`${folder}/keys`, [["nats-1"]], Date.now()), Deno.errors.AlreadyExists);
    for (const wrong of ["../nats", "-x", "relay", "nats-1,"]) {
      assertStringIncludes(await make(`${folder}/other`, wrong), "cannot be the name of a node");
    }
    assertStringIncludes(await make(`${folder}/other`), "Usage: deno task nats:keys");
    assertEquals((await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name), ["keys"]);
  }));
