/**
 * Actors around the real relay core on simulated time: nothing happens unless a schedule moves, and
 * the same seed does the same.
 */
import type { ChannelId } from "../../../proto/mod.ts";
import { createNodeEd25519 } from "../../../sdk/platform/node_ed25519.ts";
import { nodeSha256 } from "../../../sdk/platform/node_sha256.ts";
import { createNodeX25519 } from "../../../sdk/platform/node_key_agreement.ts";
import {
  createWorld,
  defaultCoreConfig,
  type World,
  type WorldOptions,
} from "../../../relay/core/testing/world.ts";
import { copyKey, type Engine, type Entry, openSqliteEngine } from "../../../relay/engine/mod.ts";
import type { ChannelManager } from "../../../sdk/mod.ts";
import { createSignatures, type Runtime, type Signatures } from "../../../sdk/testing/agents.ts";
import type { Random } from "../../support/mod.ts";
import type { ActorHost } from "../../support/scenario/stage.ts";
import { Journal } from "./journal.ts";

const stepMs = 20;
/** An honest agent's waits end before this. */
const maxMs = 180_000;

/** Members that have not read for so long lapse; in earnest it is a month. */
export const lapseMs = 10 * 60_000;

/** Hears what the log of a channel holds. */
export interface LogFollower {
  appended(entry: Entry): void;
  /** The log begins anew. */
  restart(): void;
}

export class SimulatedStage implements ActorHost {
  world: World;
  readonly runtime: Runtime;
  readonly #signatures: Signatures;
  readonly #ending: Promise<void>[] = [];
  readonly #options: WorldOptions;
  readonly #journal: Journal;
  #follow: (engine: Engine) => void = () => {};

  private constructor(
    world: World,
    options: WorldOptions,
    journal: Journal,
    random: Random,
    signatures: Signatures,
  ) {
    this.world = world;
    this.#options = options;
    this.#journal = journal;
    this.#signatures = signatures;
    this.runtime = {
      nowMs: world.time.nowMs,
      after: world.time.after,
      randomBytes: (length) => random.bytes(length),
    };
  }

  static async open(random: Random, signatures: Signatures): Promise<SimulatedStage> {
    const limits = { ...defaultCoreConfig.limits, keyPackagesPerAgent: 0, lapseAgeMs: lapseMs };
    const journal = new Journal();
    const options = { config: { limits }, random: (length: number) => random.bytes(length) };
    const world = await createWorld({ ...options, engine: journal.of(await openEmpty()) });
    return new SimulatedStage(world, options, journal, random, signatures);
  }

  signatures(): Promise<Signatures> {
    return Promise.resolve(this.#signatures);
  }

  /** A dead process ends at once: what it writes is on a disk that nobody sees. */
  abandon(manager: ChannelManager): void {
    this.#ending.push(manager.close().catch(() => {}));
  }

  /** Time passes until the promise is settled. */
  async finish<T>(what: string, promise: Promise<T>): Promise<T> {
    const { time } = this.world;
    let settled = false;
    const watched = promise.finally(() => settled = true);
    watched.catch(() => {}); // it is awaited below
    await time.settle();
    for (const endMs = time.nowMs() + maxMs; !settled;) {
      if (time.nowMs() > endMs) {
        throw new Error(`Waited ${maxMs} simulated ms in vain until ${what}`);
      }
      await time.advance(stepMs);
    }
    return await watched;
  }

  /**
   * The relay's process dies and another one takes over its disk: requests and sessions are gone.
   */
  async restartRelay(): Promise<void> {
    const { core, time, engine } = this.world;
    await this.finish("the relay has ended", core.close());
    this.world = await createWorld({ ...this.#options, time, engine });
  }

  /**
   * The follower hears of every entry that the relay takes from now on. When the relay is set back,
   * of all that are left.
   */
  followLog(channelId: ChannelId, follower: LogFollower): void {
    this.#follow = (engine) => {
      follower.restart();
      engine.watch(channelId, (entry) => follower.appended(entry));
    };
    this.#follow(this.world.engine);
  }

  /** A moment that the relay's disk can be set back to. */
  get moment(): number {
    return this.#journal.now;
  }

  /**
   * The relay's process dies, and another one begins with a copy of the disk from that moment. Of a
   * copy that it has made itself it knows that it is one, and says so to its readers.
   */
  async setRelayBack(moment: number, { isBackup = false } = {}): Promise<void> {
    const { core, time, engine: present } = this.world;
    await this.finish("the relay has ended", core.close());
    await present.close();
    const empty = await openEmpty();
    this.#follow(empty);
    const engine = await this.finish("the disk is put back", this.#journal.setBack(moment, empty));
    if (isBackup) {
      await engine.records.put(copyKey, {
        value: new Uint8Array(1),
        expiresAtMs: time.nowMs() + 1_000_000_000,
      }, 0);
    }
    this.world = await createWorld({ ...this.#options, time, engine });
  }

  async close(): Promise<void> {
    await this.finish("dead processes have ended", Promise.all(this.#ending));
    await this.finish("the relay is closed", this.world.close());
    await this.world.engine.close();
  }
}

function openEmpty(): Promise<Engine> {
  return openSqliteEngine({ path: ":memory:" });
}

/** The same verdict for the same bytes is found once: all members verify the same handshakes. */
export async function createRememberedSignatures(): Promise<Signatures> {
  const native = createNodeEd25519();
  const signatures = await createSignatures({
    ed25519: native,
    x25519: createNodeX25519(),
    sha256: nodeSha256,
  });
  const known = new Map<string, boolean>();
  const verify = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean => {
    if (publicKey.length !== 32 || signature.length !== 64) return false;
    const key = `${publicKey}|${signature}|${message}`;
    const verdict = known.get(key) ?? native.verify(publicKey, message, signature);
    if (known.size > 2_000) known.clear();
    known.set(key, verdict);
    return verdict;
  };
  return {
    ...signatures,
    verifyHandshake: verify,
    verifyHandshakes: (items) =>
      items.every((item) => verify(item.publicKey, item.message, item.signature)),
    verifyApplication: verify,
  };
}
