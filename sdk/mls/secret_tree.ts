/**
 * The secret tree of RFC 9420 section 9, derived on demand: an epoch costs nothing until somebody
 * speaks, and then one path. A secret is deleted as soon as what follows from it is known, so what
 * is held never opens what was already read.
 */
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { limits } from "../../proto/mod.ts";
import { label, MlsFault } from "./codec.ts";
import { deriveTreeSecret, expandWithLabel } from "./crypto/labelled.ts";
import { type Aead, hashBytes } from "./crypto/suite.ts";
import { isBelow, isLeafNode, leftOf, nodeOfLeaf, rightOf, rootOf } from "./tree_math.ts";

export type RatchetKind = "handshake" | "application";

/**
 * How far a message may be ahead of the last one read, and how many keys of skipped messages are
 * kept, per sender.
 */
export const maxSkippedGenerations = 1000;
/**
 * Each key that is kept costs three derivations and room on disk, so a sender that leaves out
 * generation after generation would keep its receivers busy. Beyond this many in an epoch no keys
 * are kept for it, and it may leave out only as many at once as a few of its restarts do.
 */
export const maxSkippedInEpoch = 8000;
const maxSkippedBeyond = 256;

const treeLabel = label("tree");
const ratchetLabels: Readonly<Record<RatchetKind, Uint8Array>> = {
  handshake: label("handshake"),
  application: label("application"),
};
const keyLabel = label("key");
const nonceLabel = label("nonce");
const secretLabel = label("secret");
const [left, right, nothing] = [utf8ToBytes("left"), utf8ToBytes("right"), new Uint8Array(0)];

/**
 * Every member can write sender data, and it does not show who wrote it. A sender that claims a
 * generation far ahead makes us walk a chain before its message can be refused. So one secret in
 * this many is kept, and the walk is not done twice.
 */
const checkpointEvery = 32;
/** Chains whose walks are remembered; the one that was walked longest ago goes first. */
const maxWalkedChains = 2 * limits.membersPerChannel;

export interface KeyAndNonce {
  readonly key: Uint8Array;
  readonly nonce: Uint8Array;
}

/**
 * One sender's chain: `secret` makes `generation`. Skipped earlier generations keep only their
 * keys: their secrets would open everything after them, also what was read and forgotten.
 */
export interface Ratchet {
  readonly secret: Uint8Array;
  readonly generation: number;
  readonly skipped: ReadonlyMap<number, KeyAndNonce>;
}

export interface LeafRatchets {
  readonly handshake: Ratchet;
  readonly application: Ratchet;
}

export interface MessageKey extends KeyAndNonce {
  readonly generation: number;
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
  /**
   * The secrets further on that were asked for, by chain. Never behind the chain itself, never
   * written.
   */
  readonly #checkpoints = new Map<string, ReadonlyMap<number, Uint8Array>>();
  /** The number of generations that were left out since this was made, by chain. */
  readonly #skipped = new Map<string, number>();

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
    return new SecretTree(
      aead,
      nodeCount,
      new Map([[rootOf(nodeCount), encryptionSecret]]),
      new Map(),
    );
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

  /**
   * The same chains once more: what is read with them is not read here. Nothing of it is ever
   * written.
   */
  fork(): SecretTree {
    return new SecretTree(
      this.#aead,
      this.#nodeCount,
      new Map(this.#subtrees),
      new Map(this.#leaves),
    );
  }

  get subtrees(): ReadonlyMap<number, Uint8Array> {
    return this.#subtrees;
  }

  get leaves(): ReadonlyMap<number, LeafRatchets> {
    return this.#leaves;
  }

  /**
   * Returns the chains, as they began, of leaves that were derived since the last call. Their
   * subtrees' secrets are gone from the frontier, so they must be written together with the
   * frontier.
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
    const moved = {
      secret: this.#following(secret, generation),
      generation: generation + 1,
      skipped,
    };
    this.#leaves.set(leafIndex, { ...ratchets, [kind]: moved });
    return { generation, ...this.#messageKey(secret, generation) };
  }

  /**
   * A leaf that will not be heard in this epoch any more, such as our own once it is over: nothing
   * of it stays.
   */
  forget(leafIndex: number): void {
    this.#ratchetsOf(leafIndex);
    this.#leaves.delete(leafIndex);
    this.#derived.delete(leafIndex);
  }

  /**
   * The key of a received message, or why there is none. Nothing changes before `use` is called: a
   * forged message must not consume a key that the real one needs.
   */
  find(
    leafIndex: number,
    kind: RatchetKind,
    generation: number,
  ): ReceivedKey | "used" | "too_far_ahead" {
    const ratchets = this.#ratchetsOf(leafIndex);
    const ratchet = ratchets[kind];
    const chain = `${kind}/${leafIndex}`;
    const keeps = (this.#skipped.get(chain) ?? 0) < maxSkippedInEpoch;
    const ahead = generation - ratchet.generation;
    if (ahead > (keeps ? maxSkippedGenerations : maxSkippedBeyond)) return "too_far_ahead";
    const advanceTo = (advanced: Ratchet): void =>
      void this.#leaves.set(leafIndex, { ...this.#ratchetsOf(leafIndex), [kind]: advanced });
    if (generation < ratchet.generation) {
      const key = ratchet.skipped.get(generation);
      if (key === undefined) return "used";
      return { generation, ...key, use: () => advanceTo(without(ratchet, generation)) };
    }
    const secret = this.#secretAt(chain, ratchet, generation);
    const use = (): void => {
      const skipped = keeps ? this.#skippedUpTo(ratchet, generation) : ratchet.skipped;
      const advanced = {
        secret: this.#following(secret, generation),
        generation: generation + 1,
        skipped,
      };
      const further = [...this.#checkpoints.get(chain) ?? []].filter(([each]) =>
        each > advanced.generation
      );
      this.#remember(chain, new Map(further));
      this.#skipped.set(chain, (this.#skipped.get(chain) ?? 0) + ahead);
      advanceTo(advanced);
    };
    return { generation, ...this.#messageKey(secret, generation), use };
  }

  /** The secret of a generation to come, from the nearest one that is known. */
  #secretAt(chain: string, ratchet: Ratchet, wanted: number): Uint8Array {
    let { generation, secret } = ratchet;
    const checkpoints = new Map(this.#checkpoints.get(chain));
    for (const [each, known] of checkpoints) {
      if (each > generation && each <= wanted) [generation, secret] = [each, known];
    }
    while (generation < wanted) {
      secret = this.#following(secret, generation++);
      if (generation % checkpointEvery === 0) checkpoints.set(generation, secret);
    }
    this.#remember(chain, checkpoints);
    return secret;
  }

  #remember(chain: string, checkpoints: ReadonlyMap<number, Uint8Array>): void {
    this.#checkpoints.delete(chain);
    if (checkpoints.size > 0) this.#checkpoints.set(chain, checkpoints);
    const oldest = this.#checkpoints.size > maxWalkedChains
      ? this.#checkpoints.keys().next().value
      : undefined;
    if (oldest !== undefined) this.#checkpoints.delete(oldest);
  }

  /** The keys of messages before this generation that are still missing. */
  #skippedUpTo(ratchet: Ratchet, generation: number): ReadonlyMap<number, KeyAndNonce> {
    if (generation === ratchet.generation) return ratchet.skipped;
    const skipped = new Map(ratchet.skipped);
    let { secret } = ratchet;
    for (let each = ratchet.generation; each < generation; each++) {
      skipped.set(each, this.#messageKey(secret, each));
      secret = this.#following(secret, each);
    }
    for (const oldest of skipped.keys()) {
      if (skipped.size <= maxSkippedGenerations) break;
      skipped.delete(oldest);
    }
    return skipped;
  }

  #messageKey(secret: Uint8Array, generation: number): KeyAndNonce {
    return {
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

  /**
   * Walks down from the lowest subtree whose secret is held, leaving the secrets of the other
   * children behind.
   */
  #leafSecret(leafIndex: number): Uint8Array {
    if (leafIndex < 0 || nodeOfLeaf(leafIndex) >= this.#nodeCount) {
      throw new MlsFault("A sender is outside the group");
    }
    const held = [...this.#subtrees].find(([candidate]) => isBelow(leafIndex, candidate));
    if (held === undefined) throw new MlsFault("The secrets of this sender were deleted");
    let [node, secret] = held;
    this.#subtrees.delete(node);
    while (!isLeafNode(node)) {
      const goLeft = isBelow(leafIndex, leftOf(node));
      const [taken, other] = goLeft ? [leftOf(node), rightOf(node)] : [rightOf(node), leftOf(node)];
      this.#subtrees.set(
        other,
        expandWithLabel(secret, treeLabel, goLeft ? right : left, hashBytes),
      );
      secret = expandWithLabel(secret, treeLabel, goLeft ? left : right, hashBytes);
      node = taken;
    }
    return secret;
  }
}

function without(ratchet: Ratchet, generation: number): Ratchet {
  const skipped = new Map(ratchet.skipped);
  skipped.delete(generation);
  return { ...ratchet, skipped };
}
