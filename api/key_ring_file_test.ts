import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  keyRingPath,
  openKeyRings,
  type RingRotation,
  rotateKeyRingFile,
} from "./key_ring_file.ts";
import { badgeUse, publishedKeys, signingKey, tokenUse } from "./domain/key_ring.ts";
import { Secret } from "../server/mod.ts";
import { type Requirement, testWhen } from "../tests/support/mod.ts";

const tokens = (nowMs: number): RingRotation => ({ use: tokenUse, nowMs });

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
      Array.from({ length: 20 }, () => openKeyRings(undefined, folder)),
    );
    assertEquals(new Set(rings.map(({ rings }) => rings().keys[0]?.kid)).size, 1);
    assertEquals(((await Deno.stat(keyRingPath(folder))).mode ?? 0) & 0o777, 0o600);
    assertEquals(Array.from(Deno.readDirSync(folder), ({ name }) => name), ["jwt_keys.json"]);
  });
});

Deno.test("a rotated file is seen at reload; a broken one leaves the ring as it was and says so", async () => {
  await withFolder(async (folder) => {
    const source = await openKeyRings(undefined, folder);
    const { kid } = await rotateKeyRingFile(keyRingPath(folder), tokens(Date.now()));
    await source.reload();
    assertEquals([source.rings().keys.length, source.rings().keys[0]?.kid], [2, kid]);
    await Deno.writeTextFile(keyRingPath(folder), "{");
    await assertRejects(() => source.reload(), Error, "is not JSON");
    assertEquals(source.rings().keys.length, 2);
  });
});

const asRoot: Requirement = { met: Deno.uid() === 0, reason: "only root can give files away" };

testWhen(asRoot, "a rotation by root leaves the key file to its owner", async () => {
  await withFolder(async (folder) => {
    await openKeyRings(undefined, folder);
    const [uid, gid] = [12_345, 23_456];
    await Deno.chown(keyRingPath(folder), uid, gid);
    await rotateKeyRingFile(keyRingPath(folder), tokens(Date.now()));
    const file = await Deno.stat(keyRingPath(folder));
    assertEquals([file.uid, file.gid, (file.mode ?? 0) & 0o777], [uid, gid, 0o600]);
  });
});

Deno.test("a leaked key that is taken out of the file by hand stops at once, and the rotated one signs before its time", async () => {
  await withFolder(async (folder) => {
    const [path, now] = [keyRingPath(folder), Date.now()];
    const source = await openKeyRings(undefined, folder);
    const leaked = source.rings().keys[0]?.kid;
    const { kid } = await rotateKeyRingFile(path, tokens(now));
    const { keys } = JSON.parse(await Deno.readTextFile(path));
    const left = keys.filter((key: { kid: string }) => key.kid !== leaked);
    await Deno.writeTextFile(path, JSON.stringify({ keys: left }));
    await source.reload();
    assertEquals(publishedKeys(source.rings(), tokenUse, now).map(({ kid }) => kid), [kid]);
    assertEquals(signingKey(source.rings(), now).kid, kid);
    // The next rotation is an ordinary one.
    const next = await rotateKeyRingFile(path, tokens(now));
    await source.reload();
    assertEquals(
      [signingKey(source.rings(), now).kid, signingKey(source.rings(), now + 601_000).kid],
      [kid, next.kid],
    );
  });
});

Deno.test("given keys are refused with a reason that holds no key when they are malformed or do not belong together", async () => {
  await withFolder(async (folder) => {
    const [a, b] = await Promise.all([
      openKeyRings(undefined, `${folder}/a`),
      openKeyRings(undefined, `${folder}/b`),
    ]);
    const [first, second] = [a.rings().keys[0], b.rings().keys[0]];
    const open = (keys: unknown): ReturnType<typeof openKeyRings> =>
      openKeyRings({ json: new Secret(JSON.stringify({ keys })) }, folder);
    assertEquals((await open([first, second])).rings().keys.length, 2);
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

Deno.test("badge keys rotate apart from token keys, each endorsed by the one that signs; a file without them gets the first", async () => {
  await withFolder(async (folder) => {
    const [path, nowMs] = [keyRingPath(folder), Date.now()];
    const source = await openKeyRings(undefined, folder);
    const before = source.rings();
    assertEquals([before.keys.length, before.badge_keys?.length], [1, 1]);
    const endorse: RingRotation["endorse"] = (by) => ({
      endorsed_by: by.kid,
      endorsement: "e".repeat(86),
    });
    const rotation = { use: badgeUse, nowMs, endorse };
    const fresh = await rotateKeyRingFile(path, rotation);
    await source.reload();
    const { keys, badge_keys: badgeKeys = [] } = source.rings();
    assertEquals(keys, before.keys);
    assertEquals(badgeKeys.map(({ kid }) => kid), [fresh.kid, before.badge_keys?.[0]?.kid]);
    assertEquals(badgeKeys[0]?.endorsed_by, before.badge_keys?.[0]?.kid);
    await rotateKeyRingFile(path, tokens(nowMs));
    await source.reload();
    assertEquals(source.rings().badge_keys, badgeKeys);

    await Deno.writeTextFile(path, JSON.stringify({ keys }));
    await source.reload();
    assertEquals(source.rings().badge_keys, undefined);
    const first = await rotateKeyRingFile(path, rotation);
    assertEquals([first.sign_from, first.endorsed_by], [undefined, undefined]);
    for (let i = 1; i < badgeUse.maxPublished; i++) await rotateKeyRingFile(path, rotation);
    const full = await Deno.readTextFile(path);
    await assertRejects(
      () => rotateKeyRingFile(path, rotation),
      Error,
      "8 keys are published, the most there may be. The oldest goes 30 days after",
    );
    assertEquals(await Deno.readTextFile(path), full);
  });
});
