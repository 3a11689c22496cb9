import { assertEquals, assertRejects } from "@std/assert";
import { encodeApiKey, parseAccountId, parseApiKey, parseKeyId } from "../../proto/mod.ts";
import { createAttempts } from "./attempts.ts";
import { createAuthenticator } from "./authentication.ts";
import { Fault } from "./fault.ts";
import type { StoredKey } from "./deps.ts";
import type { Secret } from "../../server/secret.ts";

const key = encodeApiKey({ environment: "live", lookup: "AAAAAAAA", secret: "a".repeat(32) });
const otherSecret = encodeApiKey({
  environment: "live",
  lookup: "AAAAAAAA",
  secret: "b".repeat(32),
});
const row: StoredKey = {
  id: parseKeyId("00000000-0000-0000-0000-000000000001"),
  accountId: parseAccountId("00000000-0000-0000-0000-000000000002"),
  plan: "free",
  keyHash: key,
  revoked: false,
};

interface World {
  rows: Map<string, StoredKey>;
  reads: number;
  verified: (string | undefined)[];
  used: string[];
  attempts: number;
  overloaded: boolean;
  /** Events while a key is being verified. */
  meanwhile: () => void;
}

/** Counts what each authentication costs. The "hash" of a key is the key. */
function createWorld(
  memorySize = 10,
): { world: World; authenticate: (header?: string) => Promise<string> } {
  const world: World = {
    rows: new Map([[parseApiKey(key)?.keyPrefix ?? "", row]]),
    reads: 0,
    verified: [],
    used: [],
    attempts: 0,
    overloaded: false,
    meanwhile: () => {},
  };
  const never = (): never => {
    throw new Error("not needed");
  };
  const authenticator = createAuthenticator({
    store: {
      findKey: (prefix) => {
        world.reads++;
        return Promise.resolve(world.rows.get(prefix));
      },
    },
    clock: () => 0,
    hasher: {
      hash: never,
      verify: (secret: Secret, hash) => {
        if (world.overloaded) return Promise.reject(new Fault("overloaded", "try again"));
        world.verified.push(hash);
        world.meanwhile();
        return Promise.resolve(secret.reveal() === hash);
      },
    },
    environment: "live",
    fingerprint: (secret) => `fingerprint of ${secret.reveal()}`,
    memorySize,
    onUse: (id) => world.used.push(id),
  });
  const decision = { allowed: true, policy: "", limit: 1, windowMs: 1, remaining: 1, resetMs: 1 };
  const attempts = createAttempts({
    take: (): typeof decision => {
      world.attempts++;
      return decision;
    },
    refund: (): void => {
      world.attempts--;
    },
  })("client");
  return {
    world,
    authenticate: async (header) => {
      const result = await authenticator.authenticate(header, attempts);
      return result.outcome === "refused" ? result.code : result.outcome;
    },
  };
}

Deno.test("a wrong form, checksum or environment is refused without touching database, hash or attempts", async () => {
  const { world, authenticate } = createWorld();
  const test = encodeApiKey({ environment: "test", lookup: "AAAAAAAA", secret: "a".repeat(32) });
  for (const bad of [`${key.slice(0, -1)}0`, test, "x", key.slice(1)]) {
    assertEquals(await authenticate(`Bearer ${bad}`), "auth_key_invalid");
  }
  assertEquals(await authenticate(undefined), "auth_failed");
  assertEquals(await authenticate(key), "auth_failed");
  assertEquals([world.reads, world.verified.length, world.attempts], [0, 0, 0]);
});

Deno.test("a key is hashed once per process, its row is read every time, and each use is noted", async () => {
  const { world, authenticate } = createWorld();
  for (let i = 0; i < 5; i++) assertEquals(await authenticate(`Bearer ${key}`), "accepted");
  // And once more after the hash, which takes its time.
  assertEquals([world.reads, world.verified.length, world.used.length, world.attempts], [
    6,
    1,
    5,
    0,
  ]);
});

Deno.test("a remembered key is refused as soon as its row says revoked", async () => {
  const { world, authenticate } = createWorld();
  await authenticate(`Bearer ${key}`);
  world.rows.set(parseApiKey(key)?.keyPrefix ?? "", { ...row, revoked: true });
  assertEquals(await authenticate(`Bearer ${key}`), "auth_key_invalid");
});

Deno.test("a key that is revoked while it is being verified is refused: the queue for that may be long", async () => {
  const { world, authenticate } = createWorld();
  world.meanwhile = () =>
    world.rows.set(parseApiKey(key)?.keyPrefix ?? "", { ...row, revoked: true });
  assertEquals(await authenticate(`Bearer ${key}`), "auth_key_invalid");
});

Deno.test("the memory holds the key, not its prefix: another secret behind a known prefix is verified and refused", async () => {
  const { world, authenticate } = createWorld();
  await authenticate(`Bearer ${key}`);
  assertEquals(await authenticate(`Bearer ${otherSecret}`), "auth_key_invalid");
  assertEquals(world.verified.length, 2);
});

Deno.test("a key that nobody has time to verify is no failed attempt", async () => {
  const { world, authenticate } = createWorld();
  world.overloaded = true;
  for (let i = 0; i < 3; i++) await assertRejects(() => authenticate(`Bearer ${key}`), Fault);
  assertEquals(world.attempts, 0);
});

Deno.test("requests that bring one key at the same time share one verification, and each use is noted", async () => {
  const { world, authenticate } = createWorld(0);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => authenticate(`Bearer ${key}`)),
  );
  assertEquals(new Set(answers), new Set(["accepted"]));
  assertEquals([world.verified.length, world.used.length, world.attempts], [1, 20, 0]);
  assertEquals(await authenticate(`Bearer ${key}`), "accepted");
  assertEquals(world.verified.length, 2);
});

Deno.test("an unknown key costs one verification too, against no hash", async () => {
  const { world, authenticate } = createWorld();
  const unknown = encodeApiKey({ environment: "live", lookup: "ZZZZZZZZ", secret: "z".repeat(32) });
  assertEquals(await authenticate(`Bearer ${unknown}`), "auth_key_invalid");
  assertEquals(world.verified, [undefined]);
});

Deno.test("with no memory every request is verified; with a full one the oldest key is verified again", async () => {
  const off = createWorld(0);
  for (let i = 0; i < 3; i++) await off.authenticate(`Bearer ${key}`);
  assertEquals(off.world.verified.length, 3);

  const { world, authenticate } = createWorld(1);
  const second = encodeApiKey({ environment: "live", lookup: "BBBBBBBB", secret: "b".repeat(32) });
  const id = parseKeyId("00000000-0000-0000-0000-000000000003");
  world.rows.set(parseApiKey(second)?.keyPrefix ?? "", { ...row, id, keyHash: second });
  for (const bearer of [key, second, second, key]) {
    assertEquals(await authenticate(`Bearer ${bearer}`), "accepted");
  }
  assertEquals(world.verified.length, 3);
});
