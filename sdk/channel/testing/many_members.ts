/**
 * The confirmations of many members, with their signatures, before one agent: for a test that
 * counts how many of them are verified, and a benchmark of the cost. The group is a list of keys.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import {
  type AgentId,
  agentIdOf,
  epochStatement,
  type NoticeBody,
  parseChannelId,
} from "../../../proto/mod.ts";
import { portableSignatures } from "../../mls/testing/portable_signatures.ts";
import type { RecordChange } from "../../store/mod.ts";
import type { ChannelDeps } from "../deps.ts";
import { HealthLog } from "../health.ts";
import type { Membership } from "../group/membership.ts";
import { ChannelQueue } from "../runner/channel_queue.ts";
import { ConfirmationRunner } from "../runner/confirmation_runner.ts";
import { stateOf } from "../../mls/epoch.ts";

interface Signer {
  readonly agentId: AgentId;
  readonly seed: Uint8Array;
  readonly publicKey: Uint8Array;
}

type Page = NoticeBody<"DeliverConfirmations">;

const channelId = parseChannelId("A".repeat(22));
const perPage = 10;

export class ManyMembers {
  readonly runner: ConfirmationRunner;
  readonly writes: RecordChange[][] = [];
  readonly health: HealthLog;
  readonly agentIds: readonly AgentId[];
  nowMs = 1_790_000_000_000;
  /** Signatures that were verified, also in vain. */
  verified = 0;
  /** As many are verified at once. */
  largest = 0;
  /** Each time that it is asked, the clock has gone on by a second. */
  isSlow = false;
  readonly #signers: readonly Signer[];
  readonly #queue: ChannelQueue;
  readonly #timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  #epoch = 1;

  /** `count`: beside this agent. */
  constructor(count: number) {
    this.#signers = Array.from({ length: count + 1 }, (_, i) => {
      const seed = new Uint8Array(32);
      new DataView(seed.buffer).setUint32(0, i + 1);
      const publicKey = ed25519.getPublicKey(seed);
      return { agentId: agentIdOf(publicKey, seed), seed, publicKey };
    });
    const [self, ...others] = this.#signers.map(({ agentId }) => agentId);
    this.agentIds = others;
    this.health = new HealthLog(() => this.nowMs);
    const fail = (fault: unknown): void => {
      throw fault;
    };
    this.#queue = new ChannelQueue((ms, run) => {
      const timer = { atMs: this.nowMs + ms, run };
      this.#timers.add(timer);
      return () => void this.#timers.delete(timer);
    }, fail);
    this.runner = new ConfirmationRunner({
      confirmations: {
        own: undefined,
        states: new Map(),
        heard: new Map(),
        liars: new Set(),
        begun: undefined,
      },
      anchor: { formerEpoch: -1 },
      membership: this.#createMembership(),
      health: this.health,
      isCurrent: () => true,
      queue: this.#queue,
      onFault: fail,
      // cast: nothing more is asked of it
    }, { ...this.#createDeps(), agentId: self } as ChannelDeps);
  }

  #createMembership(): Membership {
    const tree = {
      leaves: () =>
        this.#signers.map(({ agentId, publicKey }, i) =>
          [i, { agentId, node: { signaturePublicKey: publicKey } }] as const
        ),
    };
    const current = (): unknown => ({
      tree,
      context: { confirmedTranscriptHash: new Uint8Array(32).fill(this.#epoch) },
      confirmationTag: new Uint8Array(32),
    });
    const epoch = (): number => this.#epoch;
    // cast: nothing more is asked of it
    return {
      channelId,
      get epoch() {
        return epoch();
      },
      group: {
        get current() {
          return current();
        },
      },
      joinedEpoch: () => 0,
      onCommit: () => {},
    } as unknown as Membership;
  }

  #createDeps(): Partial<ChannelDeps> {
    const { verifyHandshake, verifyHandshakes } = portableSignatures;
    const batch = (changes: readonly RecordChange[]): Promise<void> => {
      this.writes.push([...changes]);
      return Promise.resolve();
    };
    return {
      // cast: nothing more is asked of it
      runtime: {
        nowMs: () => this.nowMs += this.isSlow ? 1000 : 0,
        rest: () => Promise.resolve(),
      } as ChannelDeps["runtime"],
      store: { batch } as unknown as ChannelDeps["store"], // cast: likewise
      signatures: {
        ...portableSignatures,
        verifyHandshake: (...of) => {
          this.verified++;
          return verifyHandshake(...of);
        },
        verifyHandshakes: (items) => {
          this.verified += items.length;
          this.largest = Math.max(this.largest, items.length);
          return verifyHandshakes(items);
        },
      },
    };
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** So much time passes. */
  pass(ms: number): void {
    this.nowMs += ms;
    for (const timer of [...this.#timers]) {
      if (timer.atMs <= this.nowMs && this.#timers.delete(timer)) timer.run();
    }
  }

  /** All are heard of now: by messages, for example. */
  hearAll(): void {
    for (const agentId of this.agentIds) this.runner.heard(agentId, this.#epoch, undefined);
  }

  enter(): void {
    this.#epoch++;
    this.runner.moved({ committer: this.agentIds[0] ?? fail(), added: [] });
  }

  /** Pages of the relay about the present epoch. `isForged`: whose signature is made up. */
  pages(isForged: (at: number) => boolean = () => false, state = this.state): readonly Page[] {
    const said = { channelId, epoch: this.#epoch, state };
    const statement = epochStatement(said);
    const confirmations = this.#signers.slice(1).map(({ agentId, seed }, i) => {
      const signature = isForged(i) ? new Uint8Array(64) : ed25519.sign(statement, seed);
      return { agentId, signature };
    });
    return Array.from(
      { length: Math.ceil(confirmations.length / perPage) },
      (_, i) => ({ ...said, confirmations: confirmations.slice(i * perPage, (i + 1) * perPage) }),
    );
  }

  get state(): Uint8Array {
    const confirmedTranscriptHash = new Uint8Array(32).fill(this.#epoch);
    return stateOf(
      // cast: it reads no more
      { context: { confirmedTranscriptHash }, confirmationTag: new Uint8Array(32) } as Parameters<
        typeof stateOf
      >[0],
    );
  }

  /** Another room writes; returns the end of that. */
  holdUp(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#queue.add({
      step: () => ({ effects: [], written: promise }),
      perform: () => {},
    }).push("write");
    return resolve;
  }

  idle(): Promise<void> {
    return this.#queue.idle();
  }
}

function fail(): never {
  throw new Error("There are no other members");
}
