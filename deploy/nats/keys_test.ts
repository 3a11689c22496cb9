import {
  assert,
  assertEquals,
  assertGreater,
  assertLessOrEqual,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { X509Certificate } from "node:crypto";
import { runCommand } from "../../tests/support/mod.ts";
import { addNatsKeys, writeNatsKeys } from "./keys.ts";

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

async function make(...args: string[]): Promise<string> {
  return await runCommand(Deno.execPath(), ["task", "--quiet", "nats:keys", ...args], {
    cwd: new URL("../../", import.meta.url).pathname,
    mayFail: true,
  });
}

Deno.test("every node has a certificate of its own names from one authority, and relays have their key; nobody else reads them", () =>
  inFolder(async (folder) => {
    const keys = `${folder}/keys`;
    await writeNatsKeys(keys, [["nats-1", "10.0.0.1"], ["nats-2.example.com"]], Date.now());
    const files = await filesIn(keys);
    const ofNodes = ["nats-1", "nats-2.example.com"].flatMap((node) =>
      ["accounts.conf", "ca.pem", "node.key", "node.pem"].map((name) => `${node}/${name}`)
    );
    const ofAuthority = ["account.json", "ca.key", "ca.pem"].map((name) => `authority/${name}`);
    assertEquals(
      files,
      [...ofAuthority, ...ofNodes, "relay/nats_ca.pem", "relay/relay.creds"].sort(),
    );
    for (const path of files) {
      assertEquals((Deno.statSync(`${keys}/${path}`).mode ?? 0) & 0o777, 0o600, path);
    }
    for (const path of [".", "nats-1", "relay", "authority"]) {
      assertEquals((Deno.statSync(`${keys}/${path}`).mode ?? 0) & 0o777, 0o700, path);
    }
    const read = (path: string): X509Certificate =>
      new X509Certificate(Deno.readTextFileSync(`${keys}/${path}`));
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
    const withText = (text: RegExp): string[] =>
      files.filter((path) => text.test(Deno.readTextFileSync(`${keys}/${path}`)));
    assertEquals(withText(/PRIVATE KEY/), [
      "authority/ca.key",
      "nats-1/node.key",
      "nats-2.example.com/node.key",
    ]);
    assertEquals(withText(/\bS[AOU][A-Z2-7]{56}\b/), [
      "authority/account.json",
      "relay/relay.creds",
    ], "seeds of NATS");
  }));

Deno.test("keys that are there are not replaced", () =>
  inFolder(async (folder) => {
    assertStringIncludes(
      await make(`${folder}/keys`, "nats-1"),
      `Keep ${folder}/keys/authority offline`,
    );
    const key = await Deno.readTextFile(`${folder}/keys/nats-1/node.key`);
    assertStringIncludes(await make(`${folder}/keys/`, "nats-1"), "is there already");
    assertEquals(await Deno.readTextFile(`${folder}/keys/nats-1/node.key`), key);
    await assertRejects(
      () => writeNatsKeys(`${folder}/keys`, [["nats-1"]], Date.now()),
      Deno.errors.AlreadyExists,
    );
  }));

Deno.test("a name that is none, or that another node has, is refused", () =>
  inFolder(async (folder) => {
    for (
      const wrong of [
        "../nats",
        "relay",
        "authority",
        "nats-1,",
        "300.1.1.1",
        "10.0.0.1.",
        "10.0.0",
        "10.0.0.01",
      ]
    ) {
      assertStringIncludes(
        await make(`${folder}/other`, wrong),
        `cannot be the name of a node`,
        wrong,
      );
    }
    assertStringIncludes(
      await make(`${folder}/other`, "nats-1", "NATS-1"),
      `"NATS-1" is named twice`,
    );
    assertStringIncludes(
      await make(`${folder}/other`, "nats-1,10.0.0.1", "nats-2,10.0.0.1"),
      "is named twice",
    );
    for (const wrong of [[], ["-x"], ["--revoke", "nats-1"]]) {
      assertStringIncludes(await make(`${folder}/other`, ...wrong), "Usage: deno task nats:keys");
    }
    assertStringIncludes(
      await make("--authority", `${folder}/none`, `${folder}/other`),
      "is no folder authority",
    );
    assertEquals(await filesIn(folder), []);
  }));

Deno.test("what an interrupted command has left is removed by the next one", () =>
  inFolder(async (folder) => {
    const left = `${folder}/keys.${crypto.randomUUID()}.new/nats-1`;
    await Deno.mkdir(left, { recursive: true });
    await Deno.writeTextFile(`${left}/node.key`, "a key");
    await Deno.mkdir(`${folder}/keys.of.another.new`);
    await writeNatsKeys(`${folder}/keys`, [["nats-1"]], Date.now());
    const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
    assertEquals(names.sort(), ["keys", "keys.of.another.new"]);
    // No file system takes the second name, so this fails half-way.
    const tooLong = [["nats-1"], ["n".repeat(300)]] as const;
    await assertRejects(() => writeNatsKeys(`${folder}/half`, tooLong, Date.now()), Error);
    assertEquals((await Array.fromAsync(Deno.readDir(folder))).length, 2);
  }));

Deno.test("a clock that is behind revokes all the same, and nobody is let in or left out by it", () =>
  inFolder(async (folder) => {
    const [madeMs, dayMs] = [Date.UTC(2026, 5, 10), 86_400_000];
    const claimsIn = (
      path: string,
      name: string,
    ): { iat: number; nats: { revocations?: Record<string, number> } } => {
      const tokens = Deno.readTextFileSync(`${folder}/${path}`).matchAll(
        /\beyJ[\w-]+\.([\w-]+)\./g,
      );
      const claims = Array.from(
        tokens,
        ([, body = ""]) => JSON.parse(atob(body.replace(/-/g, "+").replace(/_/g, "/"))),
      );
      return claims.find((each) => each.name === name);
    };
    const authority = `${folder}/keys/authority`;
    await writeNatsKeys(`${folder}/keys`, [["nats-1"]], madeMs);
    await addNatsKeys(`${folder}/more`, [], { authority }, madeMs + dayMs);
    await addNatsKeys(
      `${folder}/new`,
      [["nats-1"]],
      { authority, revoke: true },
      madeMs - 3 * dayMs,
    );
    const revoked = claimsIn("new/nats-1/accounts.conf", "relays").nats.revocations?.["*"] ?? 0;
    assertLessOrEqual(claimsIn("more/relay/relay.creds", "relay").iat, revoked);
    assertGreater(claimsIn("new/relay/relay.creds", "relay").iat, revoked);
  }));
