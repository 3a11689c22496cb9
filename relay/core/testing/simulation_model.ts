/**
 * The meaning of a channel's log, worked out a second time: from the rules in `docs/protocol.md`
 * and not from the core's code. An entry that breaks one is reported; everything else of the
 * simulation is judged by this model.
 */
import {
  type AgentId,
  binaryIdFromBytes,
  decodeClientEnvelope,
  encodeBase64url,
  type MessageId,
  readPrivateMessageHeader,
  type RequestBody,
} from "../../../proto/mod.ts";
import type { Entry, NewChannel } from "../../engine/engine.ts";

/** One time that an agent was in the channel. */
export interface Stay {
  /** The commit that added it; 0 for the creator. */
  readonly joined: number;
  /** The agent's leave statement, or the entry by which it lapsed. */
  stopped?: { readonly sequence: number; readonly reason: "left" | "lapsed" };
  /** The commit that removed it: the last entry that it reads. */
  end?: number;
  endedAtMs?: number;
  /** The stay that began with the very commit that ended this one. */
  next?: Stay;
  /** The entry with its latest Welcome. */
  welcome?: number;
  /**
   * The agent's acknowledgements: asked for at most, surely in the relay's memory, surely on disk.
   */
  acknowledged: { asked: number; known: number; durable: number };
}

export interface ModelEntry extends Entry {
  readonly message?: { readonly messageId: MessageId; readonly ciphertext: Uint8Array };
  readonly commit?: RequestBody<"SendCommit">;
  readonly welcome?: RequestBody<"SendWelcome">;
}

/** Bytes as a key. */
export const keyOf = (bytes: Uint8Array): string => encodeBase64url(bytes);

export class ModelChannel {
  readonly channel: NewChannel;
  /** `log[n - 1]` has sequence n. */
  readonly log: ModelEntry[] = [];
  readonly members = new Map<AgentId, Stay>();
  /** Every stay of an agent, the latest last. */
  readonly stays = new Map<AgentId, Stay[]>();
  owners: ReadonlySet<AgentId>;
  /** Agents that have asked to rejoin. */
  readonly returning = new Set<AgentId>();
  epoch = 0;
  closed: number | undefined;
  /** The sequence of a message by its sender and id. */
  readonly messages = new Map<string, number>();
  /** The commit that ended an epoch. */
  readonly commits: ModelEntry[] = [];
  readonly #report: (what: string) => void;

  constructor(channel: NewChannel, report: (what: string) => void) {
    this.channel = channel;
    this.owners = new Set([channel.creator]);
    this.#report = (what) => report(`channel ${channel.name}, entry ${this.log.length}: ${what}`);
    this.#join(channel.creator, 0);
  }

  get head(): number {
    return this.log.length;
  }

  /** The agent's stay now, or its last one. */
  lastStay(agentId: AgentId): Stay | undefined {
    return this.stays.get(agentId)?.at(-1);
  }

  isActive(agentId: AgentId): boolean {
    const stay = this.members.get(agentId);
    return this.closed === undefined && stay !== undefined && stay.stopped === undefined;
  }

  get leaving(): AgentId[] {
    return [...this.members].filter(([, { stopped }]) => stopped !== undefined).map(([agentId]) =>
      agentId
    );
  }

  /** The agents that said that they leave. */
  get leavers(): AgentId[] {
    return this.leaving.filter((agentId) => this.members.get(agentId)?.stopped?.reason === "left");
  }

  /** Whether this entry is delivered to an agent that reads at this place: nobody hears itself. */
  isFor({ kind, sender }: ModelEntry, agentId: AgentId): boolean {
    return sender !== agentId && kind !== "welcome" && kind !== "close";
  }

  apply(given: Entry): ModelEntry {
    const entry = readEntry(given);
    this.log.push(entry);
    this.#check(
      entry.sequence === this.log.length,
      `has sequence ${entry.sequence}: the order has a hole`,
    );
    this.#check(this.closed === undefined, "follows the end of the channel");
    this.#check(
      entry.epoch === this.epoch,
      `is of epoch ${entry.epoch}, the channel is at ${this.epoch}`,
    );
    const made = entry.commit?.commit ?? entry.message?.ciphertext;
    const madeIn = made === undefined ? entry.epoch : readPrivateMessageHeader(made).epoch;
    this.#check(madeIn === entry.epoch, `is a ${entry.kind} that was made in epoch ${madeIn}`);
    if (entry.kind !== "close") {
      this.#check(this.members.has(entry.sender), `a ${entry.kind} of a stranger`);
    }
    switch (entry.kind) {
      case "message":
        this.#applyMessage(entry);
        break;
      case "commit":
        this.#applyCommit(entry);
        break;
      case "welcome":
        for (const agentId of entry.welcome?.recipients ?? []) {
          const stay = this.members.get(agentId);
          if (stay !== undefined && stay.stopped === undefined) stay.welcome = entry.sequence;
        }
        break;
      case "leave":
      case "lapse": {
        const stay = this.members.get(entry.sender);
        this.#check(
          entry.kind === "leave" || stay?.stopped === undefined,
          `${entry.sender} lapses though it is gone`,
        );
        if (stay !== undefined) {
          stay.stopped = {
            sequence: entry.sequence,
            reason: entry.kind === "leave" ? "left" : "lapsed",
          };
        }
        break;
      }
      case "close":
        this.closed = entry.sequence;
    }
    return entry;
  }

  #applyMessage({ sender, sequence, message }: ModelEntry): void {
    const key = `${sender} ${message?.messageId}`;
    this.#check(!this.messages.has(key), `repeats the message of entry ${this.messages.get(key)}`);
    this.messages.set(key, sequence);
  }

  #applyCommit(entry: ModelEntry): void {
    const { sender, sequence, commit } = entry;
    if (commit === undefined) return;
    this.#check(
      this.commits[this.epoch] === undefined,
      `is a second commit in epoch ${this.epoch}`,
    );
    this.#checkCommit(sender, commit);
    this.commits[this.epoch] = entry;
    this.epoch++;
    for (const agentId of commit.removed) {
      const stay = this.members.get(agentId);
      this.members.delete(agentId);
      if (stay !== undefined) Object.assign(stay, { end: sequence, endedAtMs: entry.timeMs });
    }
    for (const agentId of commit.added) {
      const before = this.lastStay(agentId);
      const stay = this.#join(agentId, sequence);
      if (before?.end === sequence) before.next = stay;
    }
    for (const agentId of commit.welcomes.flatMap(({ recipients }) => recipients)) {
      const stay = this.members.get(agentId);
      if (stay !== undefined) stay.welcome = sequence;
    }
    const owners = commit.owners?.agentIds ?? [...this.owners];
    this.owners = new Set(owners.filter((agentId) => this.members.has(agentId)));
  }

  #checkCommit(
    sender: AgentId,
    { added, removed, owners, answers }: RequestBody<"SendCommit">,
  ): void {
    const gone = new Set(removed);
    for (const agentId of removed) {
      this.#check(this.members.has(agentId), `removes ${agentId}, who is not there`);
    }
    for (const agentId of added) {
      this.#check(
        !this.members.has(agentId) || gone.has(agentId),
        `adds ${agentId}, who is there already`,
      );
    }
    this.#check(!gone.has(sender), "removes its sender");
    if (this.owners.has(sender)) return;
    for (const agentId of removed) {
      const back = answers.length > 0 && this.returning.has(agentId) && added.includes(agentId);
      const asked = back || this.leavers.includes(agentId);
      this.#check(
        asked,
        `removes ${agentId}, who did not ask for it, by an agent that owns nothing`,
      );
    }
    if (owners === undefined) return;
    const remaining = [...this.owners].filter((agentId) =>
      !gone.has(agentId) || (added.includes(agentId) && !this.leavers.includes(agentId))
    );
    const same = remaining.length === owners.agentIds.length &&
      remaining.every((id) => owners.agentIds.includes(id));
    this.#check(same, "changes the owners, by an agent that owns nothing");
  }

  #join(agentId: AgentId, sequence: number): Stay {
    const stay: Stay = { joined: sequence, acknowledged: { asked: 0, known: 0, durable: 0 } };
    this.members.set(agentId, stay);
    const stays = this.stays.get(agentId) ?? [];
    this.stays.set(agentId, [...stays, stay]);
    return stay;
  }

  #check(holds: boolean, what: string): void {
    if (!holds) this.#report(what);
  }
}

function readEntry(entry: Entry): ModelEntry {
  switch (entry.kind) {
    case "message": {
      const messageId = binaryIdFromBytes<MessageId>(entry.body.subarray(0, 16));
      return { ...entry, message: { messageId, ciphertext: entry.body.subarray(16) } };
    }
    case "commit":
      return { ...entry, commit: requestIn(entry, "SendCommit") };
    case "welcome":
      return { ...entry, welcome: requestIn(entry, "SendWelcome") };
    default:
      return entry;
  }
}

function requestIn<Name extends "SendCommit" | "SendWelcome">(
  { body }: Entry,
  operation: Name,
): RequestBody<Name> {
  const envelope = decodeClientEnvelope(body);
  if (envelope.operation !== operation) throw new TypeError(`An entry holds ${envelope.operation}`);
  return envelope.body as RequestBody<Name>;
}
