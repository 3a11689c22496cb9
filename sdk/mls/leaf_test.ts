import { ed25519 } from "@noble/curves/ed25519.js";
import { assert, assertThrows } from "@std/assert";
import { createRandom } from "../../tests/support/mod.ts";
import { MlsFault } from "./codec.ts";
import { deriveKeyPair } from "./crypto/hpke.ts";
import { portableSignatures } from "./testing/portable_signatures.ts";
import { checkLeaf, createKeyPackageLeaf, encodeLeaf, isOwnLeaf } from "./leaf.ts";
import { World } from "./testing/world.ts";
import type { LeafNode } from "./ts_mls.ts";

const random = createRandom(3);
const rules = { suiteId: 3, extensions: [], policy: () => undefined } as const;

function leafOf(identityBytes: number): LeafNode {
  const signingSeed = random.bytes(32);
  const identity = {
    identity: random.bytes(identityBytes),
    signingSeed,
    signatureKey: ed25519.getPublicKey(signingSeed),
  };
  const { publicKey } = deriveKeyPair(random.bytes(32));
  const input = { suiteId: 3, publicKey, lifetime: { notBefore: 0n, notAfter: 1n } } as const;
  return createKeyPackageLeaf(input, identity, portableSignatures);
}

Deno.test("checkLeaf() takes identities of 1 to 256 bytes, and no others", () => {
  for (const length of [1, 256]) checkLeaf(leafOf(length), rules);
  for (const length of [0, 257, 1000]) {
    const leaf = leafOf(length);
    assertThrows(() => checkLeaf(leaf, rules), MlsFault, `${length} bytes`);
  }
});

Deno.test("isOwnLeaf() takes a leaf that this agent made with a commit, for its group and its place", async () => {
  const world = new World(random);
  const [owner, bob] = [await world.create(), world.newAgent()];
  await world.add(owner, bob);
  const { tree, context: { groupId } } = owner.member.current;
  const { leafIndex } = bob.member.self;
  const place = { groupId, leafIndex, ofKeyPackage: false };
  const joined = tree.leaf(leafIndex)?.encoded;
  await world.commit(bob, () => ({}));
  const made = bob.member.current.tree.leaf(leafIndex)?.encoded;
  assert(joined && made);
  const isBobs = (bytes: Uint8Array, at = place, by = bob): boolean =>
    isOwnLeaf(bytes, at, by.identity, portableSignatures);
  const changed = (bytes: Uint8Array): Uint8Array =>
    bytes.with(bytes.length - 1, (bytes.at(-1) ?? 0) ^ 1);
  assert(isBobs(made));
  assert(!isBobs(joined), "it names no group");
  const anywhere = { ...place, ofKeyPackage: true };
  assert(isBobs(joined, anywhere) && isBobs(made, anywhere));
  assert(!isBobs(joined, anywhere, owner) && !isBobs(changed(joined), anywhere));
  assert(!isBobs(made, { ...place, groupId: new Uint8Array(16) }), "another group");
  assert(!isBobs(made, { ...place, leafIndex: leafIndex + 1 }), "another place");
  assert(!isBobs(made, place, owner), "another agent");
  assert(!isBobs(changed(made)) && !isBobs(made.subarray(1)) && !isBobs(new Uint8Array(0)));
  assert(!isBobs(encodeLeaf(leafOf(1))));
});
