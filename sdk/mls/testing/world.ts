/**
 * A channel in memory for tests: agents with real groups, and a delivery service with one log,
 * compare-and-set on the epoch and a cursor per agent. It does the relay's work without a relay.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import {
  type AgentId,
  agentIdOf,
  binaryIdFromBytes,
  type ChannelId,
  leaveStatement,
  type MemberProof,
  parseChannelName,
  rejoinStatement,
} from "../../../proto/mod.ts";
import type { Random } from "../../../tests/support/mod.ts";
import type { Signatures } from "../crypto/signatures.ts";
import { portableSignatures } from "./portable_signatures.ts";
import { createSealKey, type SealKeyPair } from "../crypto/seal_layer.ts";
import { defaultSuiteId, type SuiteId } from "../crypto/suite.ts";
import { atOnce } from "../../base/interruptible_work.ts";
import { createMemoryDisk, openMemory, RecordStore } from "../../store/mod.ts";
import { createRules } from "../channel_rules.ts";
import { type ConsumptionReceipt, DurableGroup } from "../durable_group.ts";
import { stateOf } from "../epoch.ts";
import {
  type Change,
  type ExpectedGroup,
  Group,
  type MemberDeps,
  type PreparedCommit,
} from "../group.ts";
import { createKeyPackage, type OwnKeyPackage } from "../key_package.ts";
import type { MlsIdentity } from "../identity.ts";
import { leafHashOf } from "../ratchet_tree.ts";
import type { CommitRules, ReceiveOutcome } from "../receive.ts";
import type { Sealing } from "../sealing_rules.ts";
import { kindOf } from "../stored_group.ts";
import { readyToJoin } from "../welcome.ts";

/** For benchmarks and suites of runtimes: what they need beside the world itself. */
export { createSignatures } from "../crypto/signatures.ts";
export { mlKemBytes, type OpeningMlKem } from "../crypto/ml_kem.ts";
export { createWebCryptoMlKem } from "../crypto/web_crypto_ml_kem.ts";
export { createXWing, xWingBytes } from "../crypto/x_wing.ts";
export { createWebCryptoEd25519 } from "../crypto/web_crypto_ed25519.ts";
export { Group, type PreparedCommit } from "../group.ts";
export { createCellPadding } from "../crypto/padding.ts";
export { encodeRatchets } from "../state_codec.ts";

/** The time of every world: it stands still. */
export const worldMs = 1_790_000_000_000;
export const name = parseChannelName("acme/ops/deploy");

/** The rules that hold in every channel, for a commit that was declared so. */
export function rulesFor({ summary, next }: Pick<PreparedCommit, "summary" | "next">): CommitRules {
  return createRules({ ...summary, nextState: stateOf(next) }, portableSignatures);
}

export interface Entry {
  readonly kind: "message" | "commit";
  readonly bytes: Uint8Array;
  readonly epoch: number;
  readonly sender: AgentId;
  /** Its readers: the members of its epoch. */
  readonly members: ReadonlySet<AgentId>;
  /** Of a commit. */
  readonly rules?: CommitRules;
  readonly welcome?: { readonly bytes: Uint8Array; readonly recipients: readonly AgentId[] };
}

export interface WorldOptions {
  readonly signatures?: Signatures;
  readonly suiteId?: SuiteId;
}

export class Agent {
  readonly identity: MlsIdentity;
  readonly id: AgentId;
  readonly world: World;
  own: OwnKeyPackage | undefined;
  /** Its leaves show them; undefined: what they showed before. */
  badges: Uint8Array | undefined;
  durable: DurableGroup | undefined;
  /** A commit of which we do not know whether the delivery service took it. */
  candidate: PreparedCommit | undefined;
  /** Next entry of the log to process. */
  cursor = 0;
  /** Entries before this one will not be delivered again. */
  acknowledged = 0;
  readonly #disk = createMemoryDisk();
  #records: RecordStore | undefined;
  #unconsumed: ConsumptionReceipt[] = [];

  constructor(world: World, label: string) {
    const signingSeed = world.random.bytes(32);
    const signatureKey = ed25519.getPublicKey(signingSeed);
    this.identity = { identity: utf8ToBytes(label), signingSeed, signatureKey };
    this.id = agentIdOf(signatureKey, this.identity.identity);
    this.world = world;
  }

  get deps(): MemberDeps {
    return {
      signatures: this.world.signatures,
      policy: () => undefined,
      randomBytes: (length) => this.world.random.bytes(length),
      findPsk: (id) =>
        id.psktype === "external" ? this.world.psks.get(bytesToHex(id.pskId)) : undefined,
      identity: this.identity,
      badges: () => this.badges,
      clocksMs: () => [worldMs],
      carryOut: atOnce,
      padding: (contentBytes) => -contentBytes & 255,
    };
  }

  get group(): Group | undefined {
    return this.durable?.group;
  }

  get member(): Group {
    return this.joined.group;
  }

  get joined(): DurableGroup {
    if (this.durable === undefined) throw new Error("this agent is not in the group");
    return this.durable;
  }

  async #open(): Promise<RecordStore> {
    this.#records ??= await RecordStore.open(
      openMemory(this.#disk, (length) => this.world.random.bytes(length)),
    );
    return this.#records;
  }

  async enter(group: Group, cursor: number): Promise<void> {
    this.durable = await DurableGroup.save(group, await this.#open());
    this.cursor = this.acknowledged = cursor;
  }

  /** The hash of our present leaf, as everybody's tree has it. */
  get leafHash(): Uint8Array {
    const { tree, ownLeaf } = this.member.current;
    const leaf = tree.leaf(ownLeaf);
    if (leaf === undefined) throw new Error("this agent is not in the group");
    return leafHashOf(leaf);
  }

  leave(leafHash = this.leafHash): MemberProof {
    const statement = leaveStatement({
      channelId: this.world.channelId,
      agentId: this.id,
      leafHash,
    });
    return { agentId: this.id, signature: ed25519.sign(statement, this.identity.signingSeed) };
  }

  rejoin({ message }: OwnKeyPackage, leafHash = this.leafHash): MemberProof {
    const { channelId } = this.world;
    const keyPackageHash = sha256(message);
    const statement = rejoinStatement({ channelId, agentId: this.id, leafHash, keyPackageHash });
    return { agentId: this.id, signature: ed25519.sign(statement, this.identity.signingSeed) };
  }

  /** Without `sealKey` as a program makes it that knows no layer. */
  createKeyPackage(
    notAfterMs = worldMs + 3_600_000,
    sealKey: SealKeyPair | undefined = undefined,
  ): OwnKeyPackage {
    this.own = createKeyPackage({
      ...(sealKey !== undefined && { sealKey }),
      suiteId: this.world.suiteId,
      identity: this.identity,
      notBeforeMs: worldMs - 3_600_000,
      notAfterMs,
      lastResort: false,
      badges: this.badges,
      randomBytes: this.deps.randomBytes,
      signatures: this.world.signatures,
    });
    return this.own;
  }

  async createSealedKeyPackage(notAfterMs?: number): Promise<OwnKeyPackage> {
    const { randomBytes, signatures: { xWing } } = this.deps;
    return this.createKeyPackage(notAfterMs, await createSealKey(randomBytes, xWing));
  }

  /** Processes the log up to its end. Returns the outcome of each entry. */
  async sync(): Promise<ReceiveOutcome[]> {
    const outcomes: ReceiveOutcome[] = [];
    for (; this.cursor < this.world.log.length && this.durable !== undefined; this.cursor++) {
      const entry = this.world.log[this.cursor];
      if (entry === undefined) break;
      outcomes.push(await this.receive(entry));
    }
    return outcomes;
  }

  async receive(entry: Entry): Promise<ReceiveOutcome> {
    const { outcome, receipt } = await this.joined.receive(
      entry.bytes,
      entry.rules ?? (() => undefined),
    );
    if (receipt !== undefined) this.#unconsumed.push(receipt);
    if (outcome.kind === "removed") {
      await this.joined.close();
      this.durable = undefined;
    }
    return outcome;
  }

  /** The application is done with everything that it was given. */
  async acknowledge(): Promise<void> {
    const changes = this.#unconsumed.splice(0).flatMap((receipt) => this.joined.consume(receipt));
    // A batch holds one version of a record: the newest of each sender.
    const newest = new Map(changes.map((change) => [change.id, change]));
    if (newest.size > 0) await (await this.#open()).batch([...newest.values()]);
    this.acknowledged = this.cursor;
  }

  /** Joins by the newest Welcome that was made for it; `known` by an agent that comes back. */
  async join(known?: ExpectedGroup["known"]): Promise<void> {
    const at = this.world.log.findLastIndex(({ welcome }) =>
      welcome?.recipients.includes(this.id) === true
    );
    const welcome = this.world.log[at]?.welcome;
    if (welcome === undefined || this.own === undefined) throw new Error("nothing to join by");
    const expected = {
      name,
      channelId: this.world.channelId,
      ...(known !== undefined && { known }),
    };
    const own = await readyToJoin(welcome.bytes, this.own, this.deps.signatures);
    await this.enter(Group.join(welcome.bytes, own, this.deps, expected), at + 1);
  }

  /** The state of a thief that copied the disk. */
  async stolen(): Promise<DurableGroup> {
    const copy = { ...structuredClone(this.#disk), locked: false };
    const records = await RecordStore.open(
      openMemory(copy, (length) => this.world.random.bytes(length)),
    );
    const loaded = await DurableGroup.load(this.world.channelId, records, this.deps);
    if (loaded === undefined) throw new Error("nothing was stolen");
    return loaded.durable;
  }

  /** A record is lost. */
  async forget(id: string): Promise<void> {
    await (await this.#open()).batch([{ type: "delete", kind: kindOf(this.world.channelId), id }]);
  }

  /**
   * A crash: memory is gone, the disk has what was acknowledged, and the log is delivered again
   * from there.
   */
  async crash(): Promise<void> {
    this.#unconsumed = [];
    this.#records = undefined;
    this.#disk.locked = false;
    const loaded = await DurableGroup.load(this.world.channelId, await this.#open(), this.deps);
    this.durable = loaded?.durable;
    this.candidate = loaded?.candidate;
    this.cursor = this.acknowledged;
  }
}

export class World {
  readonly random: Random;
  readonly signatures: Signatures;
  readonly suiteId: SuiteId;
  readonly channelId: ChannelId;
  readonly log: Entry[] = [];
  readonly agents: Agent[] = [];
  /** The delivery service's fold of the log. */
  epoch = 0;
  members = new Set<AgentId>();
  /** Pre-shared keys that every agent has, by their ids in hexadecimal. */
  readonly psks = new Map<string, Uint8Array>();

  constructor(random: Random, options: WorldOptions = {}) {
    this.random = random;
    this.signatures = options.signatures ?? portableSignatures;
    this.suiteId = options.suiteId ?? defaultSuiteId;
    this.channelId = binaryIdFromBytes<ChannelId>(random.bytes(16));
  }

  newAgent(): Agent {
    const agent = new Agent(this, `agent ${this.agents.length}`);
    this.agents.push(agent);
    return agent;
  }

  async create(sealing?: Sealing): Promise<Agent> {
    const creator = this.newAgent();
    const own = creator.createKeyPackage();
    const start = { channelId: this.channelId, name, sealing };
    await creator.enter(Group.create(start, own, creator.deps), 0);
    this.members = new Set([creator.id]);
    return creator;
  }

  /** The delivery service takes a commit of the current epoch, or refuses it. */
  submitCommit(sender: AgentId, prepared: PreparedCommit): boolean {
    if (prepared.epoch !== this.epoch) return false;
    const { added, removed } = prepared.summary;
    const welcome = prepared.welcome && { bytes: prepared.welcome, recipients: added };
    this.log.push({
      kind: "commit",
      bytes: prepared.message,
      epoch: this.epoch,
      sender,
      members: new Set(this.members),
      rules: rulesFor(prepared),
      ...(welcome === undefined ? {} : { welcome }),
    });
    this.epoch++;
    this.members = new Set([...this.members].filter((id) => !removed.includes(id)).concat(added));
    return true;
  }

  /**
   * Prepare, submit, accept; on a lost race catch up and try again. Returns the number of tries.
   */
  async commit(agent: Agent, change: () => Promise<Change> | Change): Promise<number> {
    for (let tries = 1;; tries++) {
      const prepared = await agent.joined.prepare(await change());
      if (this.submitCommit(agent.id, prepared)) {
        await agent.joined.accept(prepared);
        agent.cursor = this.log.length;
        return tries;
      }
      await agent.joined.discard();
      await agent.sync();
    }
  }

  async send(agent: Agent, payload: Uint8Array): Promise<boolean> {
    const { epoch, message } = await agent.joined.seal(payload, new Uint8Array(0));
    if (epoch !== this.epoch) return false;
    this.log.push({
      kind: "message",
      bytes: message,
      epoch,
      sender: agent.id,
      members: new Set(this.members),
    });
    return true;
  }

  async add(by: Agent, ...agents: Agent[]): Promise<void> {
    const packages: OwnKeyPackage[] = [];
    for (const agent of agents) packages.push(await agent.createSealedKeyPackage());
    await this.commit(by, () => ({ add: packages.map(({ keyPackage }) => keyPackage) }));
    for (const agent of agents) await agent.join();
  }

  active(): Agent[] {
    return this.agents.filter(({ group }) => group !== undefined);
  }

  /** Authenticators of all members, each once: one when everybody agrees. */
  authenticators(): string[] {
    return [...new Set(this.active().map(({ member }) => bytesToHex(member.authenticator)))];
  }
}
