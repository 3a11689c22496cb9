import { ed25519 } from "@noble/curves/ed25519.js";
import type { LeafNode } from "ts-mls/leafNode.js";
import { assertThrows } from "@std/assert";
import { createRandom } from "../../tests/support/mod.ts";
import { MlsFault } from "./codec.ts";
import { deriveKeyPair } from "./crypto/hpke.ts";
import { portableSignatures } from "./crypto/signatures.ts";
import { checkLeaf, createKeyPackageLeaf } from "./leaf.ts";

const random = createRandom(3);
const rules = { suiteId: 3, extensions: [], policy: () => undefined } as const;

function leafOf(identityBytes: number): Promise<LeafNode> {
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

Deno.test("checkLeaf() takes identities of 1 to 256 bytes, and no others", async () => {
  for (const length of [1, 256]) checkLeaf(await leafOf(length), rules);
  for (const length of [0, 257, 1000]) {
    const leaf = await leafOf(length);
    assertThrows(() => checkLeaf(leaf, rules), MlsFault, `${length} bytes`);
  }
});
