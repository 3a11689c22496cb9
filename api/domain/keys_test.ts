import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { parseAccountId, parseApiKey } from "../../proto/mod.ts";
import { createRandom, seedFromEnvironment } from "../../tests/support/mod.ts";
import { Fault } from "./fault.ts";
import { createKeys, type Keys } from "./keys.ts";
import type { NewKey } from "./deps.ts";

const account = parseAccountId("00000000-0000-0000-0000-000000000001");

function createWorld(collisions: number): { keys: Keys; saved: NewKey[] } {
  const random = createRandom(seedFromEnvironment());
  const saved: NewKey[] = [];
  const never = (): never => {
    throw new Error("not needed");
  };
  const keys = createKeys({
    store: {
      addKey: (key) => {
        saved.push(key);
        return Promise.resolve(saved.length <= collisions ? "prefix_taken" : "added");
      },
      rotateKey: never,
      listKeys: never,
      revokeKey: never,
      findKey: never,
      recordUse: never,
    },
    hasher: {
      hash: (secret) => Promise.resolve(`hash of ${secret.reveal().length} characters`),
      verify: never,
    },
    clock: () => 0,
    randomBytes: (length) => random.bytes(length),
    newId: () => crypto.randomUUID(),
    environment: "test",
    limits: { maxActiveKeys: 100, maxGuests: 1000 },
  });
  return { keys, saved };
}

Deno.test("a new key is well-formed, of its environment, and only its hash is saved", async () => {
  const { keys, saved } = createWorld(0);
  const result = await keys.create({ accountId: account }, { name: "ci" });
  if (result.outcome !== "created") throw new Error(result.outcome);
  const text = result.key.key.reveal();
  assertEquals(parseApiKey(text), { environment: "test", keyPrefix: result.key.keyPrefix });
  assertMatch(result.key.keyPrefix, /^sk_test_[0-9A-Za-z]{8}$/);
  assertEquals([saved[0]?.keyHash, JSON.stringify(saved).includes(text.slice(16))], [
    "hash of 54 characters",
    false,
  ]);
});

Deno.test("a prefix that is taken is drawn again; three in a row are a fault, not an endless loop", async () => {
  const lucky = createWorld(2);
  assertEquals((await lucky.keys.create({ accountId: account }, { name: "x" })).outcome, "created");
  assertEquals(new Set(lucky.saved.map(({ keyPrefix }) => keyPrefix)).size, 3);
  const unlucky = createWorld(3);
  const fault = await assertRejects(
    () => unlucky.keys.create({ accountId: account }, { name: "x" }),
    Fault,
    "no free key prefix",
  );
  assertEquals(fault.code, "internal");
});
