/**
 * A channel in memory for tests: agents with real groups, and a delivery service with one log, compare-and-set on the epoch
 * and a cursor per agent. What the relay does, without relay.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { type AgentId, agentIdOf, binaryIdFromBytes, type ChannelId, parseChannelName } from "../../../proto/mod.ts";
import type { Random } from "../../../tests/support/mod.ts";
import { portableSignatures, type Signatures } from "../crypto/signatures.ts";
import { defaultSuiteId, type SuiteId } from "../crypto/suite.ts";
import { type Change, Group, type MemberDeps, type PreparedCommit } from "../group.ts";
import { createKeyPackage, type MlsIdentity, type OwnKeyPackage } from "../leaf.ts";
import { PastEpochs } from "../receive.ts";
import type { Outcome } from "../receive.ts";
import {
  decodeEpoch,
  decodePastEpoch,
  encodeEpoch,
  encodeFrontier,
  encodePastEpoch,
  encodeRatchets,
  restoreSecretTree,
} from "../state_codec.ts";

const nowMs = 1_790_000_000_000;
export const name = parseChannelName("acme/ops/deploy");

export interface Entry {
  readonly kind: "message" | "commit";
  readonly bytes: Uint8Array;
  readonly epoch: number;
  readonly sender: AgentId;
  /** Who may read it: the members of its epoch. */
  readonly members: ReadonlySet<AgentId>;
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
  group: Group | undefined;
  /** Next entry of the log to process. */
  cursor = 0;

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
      findPsk: () => undefined,
      identity: this.identity,
      nowMs: () => nowMs,
      padding: (contentBytes) => -contentBytes & 255,
    };
  }

  get member(): Group {
    if (this.group === undefined) throw new Error("this agent is not in the group");
    return this.group;
  }

  async createKeyPackage(): Promise<OwnKeyPackage> {
    this.own = await createKeyPackage({
      suiteId: this.world.suiteId,
      identity: this.identity,
      notBeforeMs: nowMs - 3_600_000,
      notAfterMs: nowMs + 3_600_000,
      lastResort: false,
      randomBytes: this.deps.randomBytes,
      signatures: this.world.signatures,
    });
    return this.own;
  }

  /** Processes the log up to its end. Answers what became of each entry. */
  async sync(): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (; this.cursor < this.world.log.length && this.group !== undefined; this.cursor++) {
      const entry = this.world.log[this.cursor];
      if (entry === undefined) break;
      const outcome = await this.member.receive(entry.bytes, () => undefined);
      outcomes.push(outcome);
      if (outcome.kind === "removed") this.group = undefined;
    }
    return outcomes;
  }

  /** Joins by the newest Welcome that was made for it. */
  join(): void {
    const at = this.world.log.findLastIndex(({ welcome }) => welcome?.recipients.includes(this.id) === true);
    const welcome = this.world.log[at]?.welcome;
    if (welcome === undefined || this.own === undefined) throw new Error("nothing to join by");
    this.group = Group.join(welcome.bytes, this.own, this.deps, { name, channelId: this.world.channelId });
    this.cursor = at + 1;
  }

  /** The group as it would be after a crash: only what was written. */
  reload(): void {
    const { current, past } = this.member;
    const epoch = decodeEpoch(encodeEpoch(current));
    const pastEpochs = Array.from(past, (each) => {
      const decoded = decodePastEpoch(encodePastEpoch(each));
      return { ...decoded, secretTree: reloadSecretTree(decoded, each.secretTree) };
    });
    const secretTree = reloadSecretTree(epoch, current.secretTree);
    this.group = Group.restore({ ...epoch, secretTree }, new PastEpochs(pastEpochs), this.deps);
  }
}

function reloadSecretTree(
  epoch: Parameters<typeof restoreSecretTree>[0],
  tree: Group["current"]["secretTree"],
): Group["current"]["secretTree"] {
  const leaves = Array.from(tree.leaves, ([leaf, ratchets]) => [leaf, encodeRatchets(ratchets)] as const);
  return restoreSecretTree(epoch, encodeFrontier(tree), leaves);
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

  async create(): Promise<Agent> {
    const creator = this.newAgent();
    const own = await creator.createKeyPackage();
    creator.group = Group.create(this.channelId, { name, owners: [creator.id] }, own, creator.deps);
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
      ...(welcome === undefined ? {} : { welcome }),
    });
    this.epoch++;
    this.members = new Set([...this.members].filter((id) => !removed.includes(id)).concat(added));
    return true;
  }

  /** Prepare, submit, accept; on a lost race catch up and try again. Answers the number of tries. */
  async commit(agent: Agent, change: () => Promise<Change> | Change): Promise<number> {
    for (let tries = 1;; tries++) {
      const prepared = await agent.member.prepare(await change());
      if (this.submitCommit(agent.id, prepared)) {
        await agent.member.accept(prepared);
        agent.cursor = this.log.length;
        return tries;
      }
      await agent.sync();
    }
  }

  async send(agent: Agent, payload: Uint8Array): Promise<boolean> {
    const { epoch, message } = await agent.member.seal(payload, new Uint8Array(0));
    if (epoch !== this.epoch) return false;
    this.log.push({ kind: "message", bytes: message, epoch, sender: agent.id, members: new Set(this.members) });
    return true;
  }

  async add(by: Agent, ...agents: Agent[]): Promise<void> {
    const packages = await Promise.all(agents.map((agent) => agent.createKeyPackage()));
    await this.commit(by, () => ({ add: packages.map(({ keyPackage }) => keyPackage) }));
    for (const agent of agents) agent.join();
  }

  active(): Agent[] {
    return this.agents.filter(({ group }) => group !== undefined);
  }

  /** Authenticators of all members, each once: one when everybody agrees. */
  authenticators(): string[] {
    return [...new Set(this.active().map(({ member }) => bytesToHex(member.authenticator)))];
  }
}
