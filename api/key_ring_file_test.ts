import { assert, assertEquals, assertRejects } from "@std/assert";
import { keyRingPath, openKeyRing, rotateKeyRingFile } from "./key_ring_file.ts";
import { publishedKeys, signingKey } from "./domain/key_ring.ts";
import { Secret } from "../server/mod.ts";
import { type Requirement, testWhen } from "../tests/support/mod.ts";

async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await use(`${folder}/data`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("token keys are made once, for this user only, also when many processes start together", async () => {
  await withFolder(async (folder) => {
    const rings = await Promise.all(
      Array.from({ length: 20 }, () => openKeyRing(undefined, folder)),
    );
    assertEquals(new Set(rings.map(({ ring }) => ring().keys[0]?.kid)).size, 1);
    assertEquals(((await Deno.stat(keyRingPath(folder))).mode ?? 0) & 0o777, 0o600);
    assertEquals(Array.from(Deno.readDirSync(folder), ({ name }) => name), ["jwt_keys.json"]);
  });
});

Deno.test("a rotated file is seen at reload; a broken one leaves the ring as it was and says so", async () => {
  await withFolder(async (folder) => {
    const source = await openKeyRing(undefined, folder);
    const { kid } = await rotateKeyRingFile(keyRingPath(folder), Date.now());
    await source.reload();
    assertEquals([source.ring().keys.length, source.ring().keys[0]?.kid], [2, kid]);
    await Deno.writeTextFile(keyRingPath(folder), "{");
    await assertRejects(() => source.reload(), Error, "is not JSON");
    assertEquals(source.ring().keys.length, 2);
  });
});

const asRoot: Requirement = { met: Deno.uid() === 0, reason: "only root can give files away" };

testWhen(asRoot, "a rotation by root leaves the key file to its owner", async () => {
  await withFolder(async (folder) => {
    await openKeyRing(undefined, folder);
    const [uid, gid] = [12_345, 23_456];
    await Deno.chown(keyRingPath(folder), uid, gid);
    await rotateKeyRingFile(keyRingPath(folder), Date.now());
    const file = await Deno.stat(keyRingPath(folder));
    assertEquals([file.uid, file.gid, (file.mode ?? 0) & 0o777], [uid, gid, 0o600]);
  });
});

Deno.test("a leaked key that is taken out of the file by hand stops at once, and the rotated one signs before its time", async () => {
  await withFolder(async (folder) => {
    const [path, now] = [keyRingPath(folder), Date.now()];
    const source = await openKeyRing(undefined, folder);
    const leaked = source.ring().keys[0]?.kid;
    const { kid } = await rotateKeyRingFile(path, now);
    const { keys } = JSON.parse(await Deno.readTextFile(path));
    const left = keys.filter((key: { kid: string }) => key.kid !== leaked);
    await Deno.writeTextFile(path, JSON.stringify({ keys: left }));
    await source.reload();
    assertEquals(publishedKeys(source.ring(), now).map(({ kid }) => kid), [kid]);
    assertEquals(signingKey(source.ring(), now).kid, kid);
    // The next rotation is an ordinary one.
    const next = await rotateKeyRingFile(path, now);
    await source.reload();
    assertEquals(
      [signingKey(source.ring(), now).kid, signingKey(source.ring(), now + 601_000).kid],
      [kid, next.kid],
    );
  });
});

Deno.test("given keys are refused with a reason that holds no key when they are malformed or do not belong together", async () => {
  await withFolder(async (folder) => {
    const [a, b] = await Promise.all([
      openKeyRing(undefined, `${folder}/a`),
      openKeyRing(undefined, `${folder}/b`),
    ]);
    const [first, second] = [a.ring().keys[0], b.ring().keys[0]];
    const open = (keys: unknown): ReturnType<typeof openKeyRing> =>
      openKeyRing({ json: new Secret(JSON.stringify({ keys })) }, folder);
    assertEquals((await open([first, second])).ring().keys.length, 2);
    for (
      const [keys, why] of [[[{ ...first, d: second?.d }], "do not belong together"], [
        [],
        "JWK set",
      ]] as const
    ) {
      const error = await assertRejects(() => open(keys), Error, why);
      assert(!error.message.includes(second?.d ?? "?"));
    }
  });
});
