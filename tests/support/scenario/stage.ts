/**
 * Agents on memory disks around one real relay core in memory: restarts, crashes and lost
 * connections at will.
 */
import { type AgentId, agentIdOf, type Trust } from "../../../proto/mod.ts";
import { createSigner } from "../../../relay/core/testing/client.ts";
import {
  createWorld,
  defaultCoreConfig,
  type World,
  type WorldOptions,
} from "../../../relay/core/testing/world.ts";
import {
  type Channel,
  ChannelManager,
  type Envelope,
  type IssueKind,
  StaticClient,
} from "../../../sdk/mod.ts";
import {
  Agent,
  createMemoryDisk,
  createSignatures,
  Inside,
  type MemoryDisk,
  openIdentity,
  openMemory,
  OwnBadges,
  RecordStore,
  type Runtime,
  type Signatures,
  type StoreParts,
} from "../../../sdk/testing/agents.ts";
import { createNodeEd25519 } from "../../../sdk/platform/node_ed25519.ts";
import { nodeSha256 } from "../../../sdk/platform/node_sha256.ts";
import { createNodeX25519 } from "../../../sdk/platform/node_key_agreement.ts";
import { MemorySession, type SessionKey, type Tampering } from "./memory_session.ts";

export const name = "acme/ops/deploy";

/** A relay with room for as many KeyPackages as in earnest. */
export const roomy: WorldOptions = { config: { limits: defaultCoreConfig.limits } };

/** Of an agent whose relay's clock does not matter. */
export const runtime: Runtime = {
  nowMs: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  show: (text) => console.error(text),
};

/**
 * Of all actors: to compare the runtime's signatures with noble's takes long, and has the same
 * result for each of them.
 */
let signaturesOfAll: Promise<Signatures> | undefined;

/** The surroundings of an actor: a relay, a time, and signatures. */
export interface ActorHost {
  readonly world: World;
  /** Its clock is not asked: actors go by the relay's time and their own offset. */
  readonly runtime: Runtime;
  signatures(): Promise<Signatures>;
  /** Of a process that died; its timers must still end with the test. */
  abandon(manager: ChannelManager): void;
}

/** One agent with its disk, which outlives its processes. */
export class Actor {
  label: string;
  /** Of its account, from the next start on. */
  key: SessionKey;
  readonly #host: ActorHost;
  #disk: MemoryDisk;
  session!: MemorySession;
  client!: StaticClient;
  manager!: ChannelManager;
  /** With the agent's own key, whatever it is. */
  sign!: (message: Uint8Array) => Uint8Array;
  /** How far this agent's clock is from the relay's. */
  clockOffsetMs = 0;
  /** Waits of more than 30 s take a hundredth of their time, from the next start on. */
  hurried = false;
  /** Texts of the badges that it has now, as its issuers give them. */
  badges: ((agentId: AgentId) => readonly string[]) | undefined;
  /** So often it looks for others, from the next start on. */
  badgesEveryMs = 100;
  /** A modified program judges signatures so, from the next start on. */
  judging: (signatures: Signatures) => Signatures = (signatures) => signatures;
  /** The list of its user, from the next start on. */
  trust: Trust | undefined;
  /** A write to this agent's disk takes so long. */
  writeMs = 0;
  /** To its disk, so far. */
  writes = 0;
  /** This agent's timers, for a test that lets hours pass. */
  after: Runtime["after"];
  agent!: Agent;
  #seed: Uint8Array = new Uint8Array(32);
  #dying: { writes: number; readonly dead: () => void } | undefined;

  /** `disk`: a copy of another actor's. */
  constructor(
    host: ActorHost,
    label: string,
    account: number,
    disk: MemoryDisk = createMemoryDisk(),
  ) {
    this.#host = host;
    this.#disk = disk;
    this.after = (ms, run) => host.runtime.after(ms, run);
    this.label = label;
    this.key = { account };
  }

  /**
   * The process dies when it has written this often from now on: what it writes then does not reach
   * the disk.
   */
  diesAfter(writes: number): Promise<void> {
    const dying = Promise.withResolvers<void>();
    this.#dying = { writes, dead: dying.resolve };
    return dying.promise;
  }

  /** Its disk, from which a dead process gets nothing any more. */
  #openDisk(random: Runtime["randomBytes"]): StoreParts {
    const parts = openMemory(this.#disk, random);
    this.#dying = undefined;
    const write: typeof parts.blobs.write = async (changes) => {
      // wait: a slow disk
      if (this.writeMs > 0) await new Promise((resolve) => setTimeout(resolve, this.writeMs));
      this.writes++;
      const dying = this.#dying;
      if (dying === undefined || dying.writes-- > 0) return await parts.blobs.write(changes);
      dying.dead();
      throw new Error("The process is dead");
    };
    return { ...parts, blobs: { ...parts.blobs, write } };
  }

  /** A new process on the same disk, with what its relay does to it from the beginning. */
  async start(tampering: Tampering = {}): Promise<this> {
    const nowMs = (): number => this.#host.world.time.nowMs() + this.clockOffsetMs;
    const runtime = { ...this.#host.runtime, nowMs };
    const store = await RecordStore.open(this.#openDisk((length) => runtime.randomBytes(length)));
    const identity = await openIdentity(store, new TextEncoder().encode(this.label), runtime).catch(
      async (error) => {
        await store.close();
        throw error;
      },
    );
    const { signingSeed, signatureKey } = identity;
    this.#seed = signingSeed;
    this.sign = createSigner({ secretKey: signingSeed, publicKey: signatureKey });
    const session = new MemorySession(
      {
        agentId: agentIdOf(signatureKey, identity.identity),
        secretKey: signingSeed,
        publicKey: signatureKey,
        identity: identity.identity,
        sign: this.sign,
      },
      this.key,
      () => this.#host.world,
      runtime,
    );
    session.tampering = tampering;
    this.session = session;
    const signatures = this.judging(await this.#host.signatures());
    const after: Runtime["after"] = (ms, run) =>
      this.after(this.hurried && ms > 30_000 ? ms / 100 : ms, run);
    this.agent = await Agent.open({
      store,
      session,
      runtime: { ...runtime, after },
      signatures,
      identity,
      ...(this.trust !== undefined && { trust: this.trust }),
      ...(await this.#badges(agentIdOf(signatureKey, identity.identity))),
    });
    await session.connect();
    this.client = StaticClient.over(this.agent);
    this.manager = await ChannelManager.over(this.agent);
    return this;
  }

  async #badges(agentId: AgentId): Promise<{ readonly ownBadges?: OwnBadges }> {
    if (this.badges === undefined) return {};
    const read = (): Promise<readonly string[]> => Promise.resolve(this.badges?.(agentId) ?? []);
    const ownBadges = new OwnBadges(
      { read, everyMs: this.badgesEveryMs },
      agentId,
      this.#host.runtime,
    );
    await ownBadges.first;
    return { ownBadges };
  }

  async stop(): Promise<void> {
    await this.manager.close();
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Something else works on the agent's disk between two processes of it. */
  async change(act: (store: RecordStore) => Promise<void>): Promise<void> {
    await this.stop();
    const { runtime } = this.#host;
    const store = await RecordStore.open(
      openMemory(this.#disk, (length) => runtime.randomBytes(length)),
    );
    await act(store);
    await store.close();
    await this.start();
  }

  /** The process dies: what was not on disk is gone, nobody says goodbye. */
  async crash(tampering: Tampering = {}): Promise<void> {
    const abandoned = { manager: this.manager, session: this.session };
    // Writes of the dead process go to a disk that nobody sees.
    this.#disk = copyOf(this.#disk);
    await abandoned.session.close();
    this.#host.abandon(abandoned.manager);
    await this.start(tampering);
  }

  /** Connects anew, with another key from now on. */
  async useKey(key: SessionKey): Promise<void> {
    this.key = this.session.key = key;
    this.session.disconnect();
    await this.session.connect();
  }

  channel(): Promise<Channel> {
    return this.client.channel(name);
  }

  /** The channel from inside: for members whose client was modified. */
  inside(): Promise<Inside> {
    return Inside.of(this.agent, name);
  }

  /** The agent's signing key, for what a modified client would sign. */
  get secretKey(): Uint8Array {
    return this.#seed;
  }

  /** A copy of the disk as it is now, whatever the process is doing. */
  copyDisk(): MemoryDisk {
    return copyOf(this.#disk);
  }

  /** A copy of the disk as it is when the process has stopped. */
  async backup(tampering: Tampering = {}): Promise<MemoryDisk> {
    await this.stop();
    const copy = copyOf(this.#disk);
    await this.start(tampering);
    return copy;
  }

  /** The disk is replaced by a copy that was made earlier. */
  async restore(backup: MemoryDisk, tampering: Tampering = {}): Promise<void> {
    await this.stop();
    this.#disk = copyOf(backup);
    await this.start(tampering);
  }
}

function copyOf(disk: MemoryDisk): MemoryDisk {
  return { ...disk, blobs: new Map(disk.blobs), locked: false };
}

export class Stage implements ActorHost {
  world: World;
  /** Of its channel: `prefer` for members without a key for the layer of Welcomes. */
  postQuantum: "require" | "prefer" = "require";
  readonly runtime = runtime;
  readonly #actors: Actor[] = [];
  readonly #abandoned: ChannelManager[] = [];

  /** The relay's time moves with ours, a little behind. */
  #ticking: Promise<void>;
  #closed = false;

  readonly #options: WorldOptions;

  private constructor(world: World, options: WorldOptions) {
    this.world = world;
    this.#options = options;
    this.#ticking = this.#tick();
  }

  /**
   * The relay has room for few KeyPackages: making and checking them is what an agent's first
   * connection costs.
   */
  static async open({ config, ...options }: WorldOptions = {}): Promise<Stage> {
    const limits = { ...defaultCoreConfig.limits, keyPackagesPerAgent: 1 };
    const given = { ...options, config: { limits, ...config } };
    return new Stage(await createWorld(given), given);
  }

  async actor(label: string, account = 1, badges: Actor["badges"] = undefined): Promise<Actor> {
    const actor = new Actor(this, label, account);
    actor.badges = badges;
    this.#actors.push(actor);
    return await actor.start();
  }

  /** An owner with a channel, and guests that have joined it with one invite. */
  async channelOf(guests: number): Promise<Actor[]> {
    const owner = await this.actor("alice");
    await owner.manager.create(name, { postQuantum: this.postQuantum });
    const actors = [owner];
    for (const label of ["bob", "carol", "dave", "erin"].slice(0, guests)) {
      const guest = await this.actor(label);
      await guest.manager.joinWithToken(name, await owner.manager.invite(name));
      actors.push(guest);
    }
    await allAgree(...actors);
    return actors;
  }

  async pair(): Promise<{ alice: Actor; bob: Actor }> {
    const [alice, bob] = await this.channelOf(1);
    if (alice === undefined || bob === undefined) throw new Error("two actors were asked for");
    return { alice, bob };
  }

  async trio(): Promise<{ alice: Actor; bob: Actor; carol: Actor }> {
    const [alice, bob, carol] = await this.channelOf(2);
    if (alice === undefined || bob === undefined || carol === undefined) {
      throw new Error("three actors were asked for");
    }
    return { alice, bob, carol };
  }

  /**
   * The relay's process dies and another one takes over its disk, or another disk. Join requests
   * and KeyPackages are gone.
   */
  async restartRelay(engine = this.world.engine): Promise<void> {
    for (const { session } of this.#actors) session.disconnect();
    await this.world.core.close();
    // Its clock goes on.
    const { time } = this.world;
    this.world = await createWorld({ ...this.#options, time, engine });
    for (const { session } of this.#actors) await session.connect();
  }

  signatures(): Promise<Signatures> {
    return signaturesOfAll ??= createSignatures({
      ed25519: createNodeEd25519(),
      x25519: createNodeX25519(),
      sha256: nodeSha256,
    });
  }

  abandon(manager: ChannelManager): void {
    this.#abandoned.push(manager);
  }

  async close(): Promise<void> {
    for (const actor of this.#actors) await actor.stop();
    // Those that died may have no disk any more.
    for (const manager of this.#abandoned) await manager.close().catch(() => {});
    this.#closed = true;
    await this.#ticking;
    await this.world.close();
  }

  async #tick(): Promise<void> {
    for (let before = Date.now(); !this.#closed;) {
      // wait: the relay's clock is driven by ours
      await new Promise((resolve) => setTimeout(resolve, 2));
      const now = Date.now();
      await this.world.time.advance(now - before);
      before = now;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

export async function allAgree(...actors: readonly Actor[]): Promise<void> {
  await until("all members agree", async () => {
    const prints = await Promise.all(
      actors.map(async (actor) => (await actor.channel()).fingerprint()),
    );
    return new Set(prints).size === 1;
  });
}

/** How often a channel has met a kind of trouble. */
export function issueCount(channel: Channel, wanted: IssueKind): number {
  const { issues } = channel.health();
  return issues.reduce((sum, { kind, count }) => kind === wanted ? sum + count : sum, 0);
}

/** Polls a condition; a test that waits in vain fails with its name. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!await condition()) {
    if (Date.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain until ${what}`);
    // wait: polls a condition with a deadline
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The next messages of a channel as text, acknowledged. */
export async function read(channel: Channel, count: number, timeoutMs = 60_000): Promise<string[]> {
  return (await readEnvelopes(channel, count, timeoutMs)).map(({ payload }) =>
    new TextDecoder().decode(payload)
  );
}

export async function readEnvelopes(
  channel: Channel,
  count: number,
  timeoutMs = 60_000,
): Promise<Envelope[]> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), timeoutMs);
  const envelopes: Envelope[] = [];
  const reader = channel.envelopes({ signal: stop.signal });
  while (envelopes.length < count) {
    const { done, value } = await reader.next();
    if (done === true) {
      throw new Error(`Only ${envelopes.length} of ${count} messages arrived in ${timeoutMs} ms`);
    }
    envelopes.push(value);
  }
  clearTimeout(timer);
  // Asking for one more acknowledges the last; nobody waits for it.
  const more = reader.next();
  stop.abort();
  await more;
  return envelopes;
}
