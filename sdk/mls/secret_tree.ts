/**
 * The secret tree of RFC 9420 section 9, derived on demand: an epoch costs nothing until somebody speaks, and then one path.
 * A secret is deleted as soon as what follows from it is known, so what is held never opens what was already read.
 */
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { label, MlsFault } from "./codec.ts";
import { deriveTreeSecret, expandWithLabel } from "./crypto/labelled.ts";
import { type Aead, hashBytes } from "./crypto/suite.ts";
import { isBelow, isLeafNode, leftOf, nodeOfLeaf, rightOf, rootOf } from "./tree_math.ts";

export type RatchetKind = "handshake" | "application";

/** How far a message may be ahead of the last one read, and how many keys of skipped messages are kept, per sender. */
export const maxSkippedGenerations = 1000;

const treeLabel = label("tree");
const ratchetLabels: Readonly<Record<RatchetKind, Uint8Array>> = {
  handshake: label("handshake"),
  application: label("application"),
};
const keyLabel = label("key");
const nonceLabel = label("nonce");
const secretLabel = label("secret");
const [left, right, nothing] = [utf8ToBytes("left"), utf8ToBytes("right"), new Uint8Array(0)];

/** One sender's chain: `secret` makes `generation`; earlier ones that were skipped are kept apart. */
export interface Ratchet {
  readonly secret: Uint8Array;
  readonly generation: number;
  readonly skipped: ReadonlyMap<number, Uint8Array>;
}

export interface LeafRatchets {
  readonly handshake: Ratchet;
  readonly application: Ratchet;
}

export interface MessageKey {
  readonly generation: number;
  readonly key: Uint8Array;
  readonly nonce: Uint8Array;
}

export interface ReceivedKey extends MessageKey {
  /** To be called once the message was verified: the key is gone after it. */
  readonly use: () => void;
}

export class SecretTree {
  readonly #aead: Aead;
  readonly #nodeCount: number;
  /** Secrets of subtrees that nobody has needed yet. */
  readonly #subtrees: Map<number, Uint8Array>;
  readonly #leaves: Map<number, LeafRatchets>;
  readonly #derived = new Map<number, LeafRatchets>();

  private constructor(
    aead: Aead,
    nodeCount: number,
    subtrees: Map<number, Uint8Array>,
    leaves: Map<number, LeafRatchets>,
  ) {
    this.#aead = aead;
    this.#nodeCount = nodeCount;
    this.#subtrees = subtrees;
    this.#leaves = leaves;
  }

  static create(aead: Aead, nodeCount: number, encryptionSecret: Uint8Array): SecretTree {
    return new SecretTree(aead, nodeCount, new Map([[rootOf(nodeCount), encryptionSecret]]), new Map());
  }

  /** From what `subtrees` and `leaves` said. */
  static restore(
    aead: Aead,
    nodeCount: number,
    subtrees: Iterable<readonly [number, Uint8Array]>,
    leaves: Iterable<readonly [number, LeafRatchets]>,
  ): SecretTree {
    return new SecretTree(aead, nodeCount, new Map(subtrees), new Map(leaves));
  }

  get subtrees(): ReadonlyMap<number, Uint8Array> {
    return this.#subtrees;
  }

  get leaves(): ReadonlyMap<number, LeafRatchets> {
    return this.#leaves;
  }

  /**
   * The chains, as they began, of leaves that were derived since this was last asked. Their subtrees' secrets are gone from
   * the frontier, so whoever writes that must write these with it.
   */
  takeDerived(): ReadonlyMap<number, LeafRatchets> {
    const derived = new Map(this.#derived);
    this.#derived.clear();
    return derived;
  }

  /** A leaf's chain as it will be after `count` more messages. */
  ahead(leafIndex: number, kind: RatchetKind, count: number): Ratchet {
    const ratchet = this.#ratchetsOf(leafIndex)[kind];
    let { secret, generation } = ratchet;
    for (let i = 0; i < count; i++) secret = this.#following(secret, generation++);
    return { ...ratchet, secret, generation };
  }

  /** Where a leaf's chain stands. */
  generation(leafIndex: number, kind: RatchetKind): number {
    return this.#ratchetsOf(leafIndex)[kind].generation;
  }

  /** The key of a sender's next message, and the chain moved on. */
  next(leafIndex: number, kind: RatchetKind): MessageKey {
    const ratchets = this.#ratchetsOf(leafIndex);
    const { secret, generation, skipped } = ratchets[kind];
    const moved = { secret: this.#following(secret, generation), generation: generation + 1, skipped };
    this.#leaves.set(leafIndex, { ...ratchets, [kind]: moved });
    return this.#messageKey(secret, generation);
  }

  /**
   * The key of a received message, or why there is none. Nothing changes before `use` is called: a forged message must not
   * consume a key that the real one needs.
   */
  find(leafIndex: number, kind: RatchetKind, generation: number): ReceivedKey | "used" | "too_far_ahead" {
    const ratchets = this.#ratchetsOf(leafIndex);
    const located = this.#locate(ratchets[kind], generation);
    if (typeof located === "string") return located;
    return {
      ...this.#messageKey(located.secret, generation),
      use: () => void this.#leaves.set(leafIndex, { ...this.#ratchetsOf(leafIndex), [kind]: located.advanced }),
    };
  }

  #locate(ratchet: Ratchet, generation: number): { secret: Uint8Array; advanced: Ratchet } | "used" | "too_far_ahead" {
    if (generation < ratchet.generation) {
      const secret = ratchet.skipped.get(generation);
      if (secret === undefined) return "used";
      const skipped = new Map(ratchet.skipped);
      skipped.delete(generation);
      return { secret, advanced: { ...ratchet, skipped } };
    }
    if (generation - ratchet.generation > maxSkippedGenerations) return "too_far_ahead";
    const skipped = new Map(ratchet.skipped);
    let secret = ratchet.secret;
    for (let g = ratchet.generation; g < generation; g++) {
      skipped.set(g, secret);
      secret = this.#following(secret, g);
    }
    for (const oldest of skipped.keys()) {
      if (skipped.size <= maxSkippedGenerations) break;
      skipped.delete(oldest);
    }
    return {
      secret,
      advanced: { secret: this.#following(secret, generation), generation: generation + 1, skipped },
    };
  }

  #messageKey(secret: Uint8Array, generation: number): MessageKey {
    return {
      generation,
      key: deriveTreeSecret(secret, keyLabel, generation, this.#aead.keyBytes),
      nonce: deriveTreeSecret(secret, nonceLabel, generation, this.#aead.nonceBytes),
    };
  }

  #following(secret: Uint8Array, generation: number): Uint8Array {
    return deriveTreeSecret(secret, secretLabel, generation, hashBytes);
  }

  #ratchetsOf(leafIndex: number): LeafRatchets {
    const known = this.#leaves.get(leafIndex);
    if (known !== undefined) return known;
    const secret = this.#leafSecret(leafIndex);
    const start = (kind: RatchetKind): Ratchet => ({
      secret: expandWithLabel(secret, ratchetLabels[kind], nothing, hashBytes),
      generation: 0,
      skipped: new Map(),
    });
    const ratchets = { handshake: start("handshake"), application: start("application") };
    this.#leaves.set(leafIndex, ratchets);
    this.#derived.set(leafIndex, ratchets);
    return ratchets;
  }

  /** Walks down from the lowest subtree whose secret is held, leaving the secrets of the other children behind. */
  #leafSecret(leafIndex: number): Uint8Array {
    if (leafIndex < 0 || nodeOfLeaf(leafIndex) >= this.#nodeCount) throw new MlsFault("A sender is outside the group");
    const held = [...this.#subtrees].find(([candidate]) => isBelow(leafIndex, candidate));
    if (held === undefined) throw new MlsFault("The secrets of this sender were deleted");
    let [node, secret] = held;
    this.#subtrees.delete(node);
    while (!isLeafNode(node)) {
      const goLeft = isBelow(leafIndex, leftOf(node));
      const [taken, other] = goLeft ? [leftOf(node), rightOf(node)] : [rightOf(node), leftOf(node)];
      this.#subtrees.set(other, expandWithLabel(secret, treeLabel, goLeft ? right : left, hashBytes));
      secret = expandWithLabel(secret, treeLabel, goLeft ? left : right, hashBytes);
      node = taken;
    }
    return secret;
  }
}
