import { utf8ToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals } from "@std/assert";
import { FirstUseTrust } from "./first_use.ts";

Deno.test("an identity keeps its first key; a change is told, and reported when it is learned", () => {
  const identity = utf8ToBytes("agent");
  const [first, second] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const trust = new FirstUseTrust();
  assertEquals(trust.policy({ identity, signatureKey: first }), undefined);
  assertEquals(
    trust.policy({ identity, signatureKey: second }),
    undefined,
    "checking alone learns nothing",
  );
  assertEquals(trust.learn([{ identity, signatureKey: first }]), []);
  assert(trust.policy({ identity, signatureKey: second })?.includes("another key"));
  const restored = new FirstUseTrust(trust.keys());
  assert(restored.policy({ identity, signatureKey: second })?.includes("another key"));
  assertEquals(restored.learn([{ identity, signatureKey: second }]), [identity]);
  assert(restored.policy({ identity, signatureKey: first })?.includes("another key"));
});
