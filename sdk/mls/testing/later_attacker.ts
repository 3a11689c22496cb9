/**
 * Somebody that recorded all that ever went over the wire and breaks X25519 later: it is given
 * every private key of X25519 that anybody made, and nothing else of a member. It opens what it
 * can.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import { portableKeyAgreement } from "../crypto/key_agreement.ts";
import { createXWing } from "../crypto/x_wing.ts";
import type { Signatures } from "../crypto/signatures.ts";
import { atOnce } from "../../base/interruptible_work.ts";
import { createEntry } from "../admissions.ts";
import { baseOf, pskOf } from "../base_epoch.ts";
import { MlsFault } from "../codec.ts";
import type { Epoch } from "../epoch.ts";
import { Group, type MemberDeps } from "../group.ts";
import { type KeyPackage, keyPackageReference } from "../key_package.ts";
import { directPathOf } from "../tree_math.ts";
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

/** Cryptography as ever, but every private key of X25519 is noted. */
export async function signaturesThatTell(keys: BrokenKeys): Promise<Signatures> {
  const agreement = {
    ...portableKeyAgreement,
    publicKeyOf: (privateKey: Uint8Array): Uint8Array => {
      const publicKey = portableKeyAgreement.publicKeyOf(privateKey);
      keys.set(bytesToHex(publicKey), privateKey.slice());
      return publicKey;
    },
  };
  return { ...portableSignatures, agreement, xWing: await createXWing(undefined, agreement) };
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

  #join(welcome: Uint8Array, keyPackage: KeyPackage): void {
    const own = {
      keyPackage,
      reference: keyPackageReference(keyPackage),
      message: new Uint8Array(0),
      initPrivateKey: this.#keyOf(keyPackage.initKey),
      leafPrivateKey: this.#keyOf(keyPackage.leafNode.hpkePublicKey),
      sealSeed: undefined,
      // A layer is opened by nothing that it has, so it tries something.
      layerSecret: new Uint8Array(32),
    };
    const findPsk: MemberDeps["findPsk"] = (id) => {
      for (const epoch of this.#known.values()) {
        const found = pskOf(baseOf(epoch))(id);
        if (found !== undefined) return found;
      }
      return undefined;
    };
    const welcomed = { welcome: decodeWelcomeMessage(welcome), own };
    const joined = unlessRefused(() => atOnce(joinGroup(welcomed, { ...this.#deps, findPsk })));
    if (joined !== undefined) this.learn(joined.epoch);
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
    const key = this.#keys.get(bytesToHex(publicKey));
    if (key === undefined) throw new Error("A key of X25519 was not noted");
    return key;
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
