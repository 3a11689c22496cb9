/**
 * Somebody that recorded all that ever went over the wire and breaks X25519 later: it is given
 * every private key of X25519 that anybody made, and nothing else of a member. It opens what it
 * can.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import { portableKeyAgreement } from "../crypto/key_agreement.ts";
import { mlKemBytes } from "../crypto/ml_kem.ts";
import { combineSecrets, createXWing, type XWing, xWingBytes } from "../crypto/x_wing.ts";
import type { Signatures } from "../crypto/signatures.ts";
import { atOnce } from "../../base/interruptible_work.ts";
import { createEntry } from "../admissions.ts";
import { baseOf, pskOf } from "../base_epoch.ts";
import { equalBytes, MlsFault } from "../codec.ts";
import type { Epoch } from "../epoch.ts";
import { Group, type MemberDeps } from "../group.ts";
import { type KeyPackage, keyPackageReference, sealKeyOf } from "../key_package.ts";
import { directPathOf } from "../tree_math.ts";
import type { Welcome } from "../ts_mls.ts";
import { decodeWelcomeMessage, joinGroup } from "../welcome.ts";
import { portableSignatures } from "./portable_signatures.ts";

/** As it went over the wire, with the KeyPackages that anybody could fetch. */
export type Recorded =
  | { readonly is: "commit"; readonly bytes: Uint8Array }
  | {
    readonly is: "welcome";
    readonly bytes: Uint8Array;
    readonly keyPackages: readonly KeyPackage[];
  };

/** Private keys of X25519 by their public keys in hexadecimal. */
export type BrokenKeys = Map<string, Uint8Array>;

/**
 * Cryptography as ever, but every private key of X25519 is noted. `layer`: "X25519 alone" is a
 * control, an X-Wing in which ML-KEM has no part.
 */
export function signaturesThatTell(
  keys: BrokenKeys,
  layer: "X-Wing" | "X25519 alone" = "X-Wing",
): Signatures {
  const agreement = {
    ...portableKeyAgreement,
    publicKeyOf: (privateKey: Uint8Array): Uint8Array => {
      const publicKey = portableKeyAgreement.publicKeyOf(privateKey);
      keys.set(bytesToHex(publicKey), privateKey.slice());
      return publicKey;
    },
  };
  const whole = createXWing(undefined, agreement);
  const xWing = layer === "X-Wing" ? whole : withoutMlKem(whole, keys);
  return { ...portableSignatures, agreement, xWing };
}

/** Secrets that X25519 alone decides. The bytes on the wire are those of X-Wing. */
function withoutMlKem(xWing: XWing, keys: BrokenKeys): XWing {
  return {
    ...xWing,
    encapsulate: (publicKey, randomness) => {
      const { kemOutput } = xWing.encapsulate(publicKey, randomness);
      return { kemOutput, sharedSecret: secretByX25519(kemOutput, publicKey, keys) };
    },
    decapsulate: async (kemOutput, seed) =>
      secretByX25519(kemOutput, await xWing.publicKeyOf(seed), keys),
  };
}

/** As far as the private keys of X25519 lead: the secret of ML-KEM is guessed, as zeros. */
function secretByX25519(
  kemOutput: Uint8Array,
  sealKey: Uint8Array,
  keys: BrokenKeys,
): Uint8Array {
  const ephemeral = kemOutput.slice(mlKemBytes.ciphertext);
  const publicKey = sealKey.slice(mlKemBytes.publicKey);
  const x25519 = portableKeyAgreement.sharedSecret(keyOf(publicKey, keys), ephemeral);
  return combineSecrets({ mlKem: new Uint8Array(32), x25519, ephemeral, publicKey });
}

function keyOf(publicKey: Uint8Array, keys: BrokenKeys): Uint8Array {
  const key = keys.get(bytesToHex(publicKey));
  if (key === undefined) throw new Error("A key of X25519 was not noted");
  return key;
}

export class LaterAttacker {
  readonly #keys: BrokenKeys;
  readonly #deps: MemberDeps;
  readonly #known = new Map<string, Epoch>();

  constructor(keys: BrokenKeys, deps: MemberDeps) {
    this.#keys = keys;
    this.#deps = deps;
  }

  /** The state of a member that has left, or whose disk was copied. */
  learn(epoch: Epoch): void {
    this.#known.set(nameOf(epoch.context), epoch);
  }

  /** Authenticators of the epochs that it has opened. */
  get opened(): string[] {
    return Array.from(this.#known.values(), ({ secrets }) => bytesToHex(secrets.authenticator));
  }

  read(recording: readonly Recorded[]): void {
    for (const each of recording) {
      if (each.is === "commit") this.#follow(each.bytes);
      else for (const keyPackage of each.keyPackages) this.#join(each.bytes, keyPackage);
    }
  }

  #join(message: Uint8Array, keyPackage: KeyPackage): void {
    const welcome = decodeWelcomeMessage(message);
    const reference = keyPackageReference(keyPackage);
    const own = {
      keyPackage,
      reference,
      message: new Uint8Array(0),
      initPrivateKey: this.#keyOf(keyPackage.initKey),
      leafPrivateKey: this.#keyOf(keyPackage.leafNode.hpkePublicKey),
      sealSeed: undefined,
      layerSecret: this.#layerSecret(welcome, keyPackage, reference),
    };
    const findPsk: MemberDeps["findPsk"] = (id) => {
      for (const epoch of this.#known.values()) {
        const found = pskOf(baseOf(epoch))(id);
        if (found !== undefined) return found;
      }
      return undefined;
    };
    const welcomed = { welcome, own };
    const joined = unlessRefused(() => atOnce(joinGroup(welcomed, { ...this.#deps, findPsk })));
    if (joined !== undefined) this.learn(joined.epoch);
  }

  /** X25519's part of X-Wing is open to it; of ML-KEM's it knows nothing. */
  #layerSecret(
    { secrets }: Welcome,
    keyPackage: KeyPackage,
    reference: Uint8Array,
  ): Uint8Array | undefined {
    const sealed = secrets.find(({ newMember }) => equalBytes(newMember, reference));
    const sealKey = sealKeyOf(keyPackage);
    if (sealed === undefined || sealKey === undefined) return undefined;
    const { ciphertext } = sealed.encryptedGroupSecrets;
    return secretByX25519(ciphertext.slice(1, 1 + xWingBytes.kemOutput), sealKey, this.#keys);
  }

  /** From whichever leaf of a known epoch: it has the keys of all. */
  #follow(commit: Uint8Array): void {
    for (const epoch of [...this.#known.values()]) {
      for (const [leafIndex] of epoch.tree.leaves()) {
        const next = unlessRefused(() => this.#nextFrom(epoch, leafIndex, commit));
        if (next === undefined) continue;
        this.learn(next);
        return;
      }
    }
  }

  #nextFrom(epoch: Epoch, ownLeaf: number, commit: Uint8Array): Epoch | undefined {
    const { tree } = epoch;
    const leaf = tree.leaf(ownLeaf);
    if (leaf === undefined) return undefined;
    const parents = new Map(
      Array.from(tree.parents(), ([node, { publicKey }]) => [node, publicKey]),
    );
    const pathKeys = new Map(
      directPathOf(ownLeaf, tree.nodeCount).flatMap((node) => {
        const publicKey = parents.get(node);
        if (publicKey === undefined) return [];
        return [[node, { publicKey, privateKey: this.#keyOf(publicKey) }] as const];
      }),
    );
    const leafPrivateKey = this.#keyOf(leaf.node.hpkePublicKey);
    const group = Group.restore({
      epoch: { ...epoch, ownLeaf, leafPrivateKey, pathKeys },
      changes: [],
      entry: createEntry([], this.#deps.randomBytes),
    }, this.#deps);
    return group.tryFollow(commit, () => undefined).next;
  }

  #keyOf(publicKey: Uint8Array): Uint8Array {
    return keyOf(publicKey, this.#keys);
  }
}

function nameOf({ groupId, epoch }: Epoch["context"]): string {
  return `${bytesToHex(groupId)} ${epoch}`;
}

function unlessRefused<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof MlsFault) return undefined;
    throw error;
  }
}
