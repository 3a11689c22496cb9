/**
 * Epoch and membership of a channel: the fold of its log and nothing else. Two relays that have
 * read the same entries agree on every field here. Positions that move without an entry (cursors)
 * are kept elsewhere.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import {
  type AgentId,
  type CborValue,
  decodeMessageAad,
  generationOf,
  parseAgentId,
  readPrivateMessageHeader,
  type ReplyBody,
} from "../../../proto/mod.ts";
import type { Entry } from "../../engine/engine.ts";
import {
  decodeCommitBody,
  decodeFoundingBody,
  decodeMessageBody,
  decodeWelcomeBody,
} from "./entry_body.ts";
import { decodeList, encodeList, type ListFormat } from "./stored_list.ts";

export interface MemberState {
  /** The commit that added it; 0 for the creator. It reads what follows. */
  readonly joinedSequence: number;
  /**
   * The same of its first joining, if it has only rejoined since: what it promised then, such as
   * invites, still holds.
   */
  readonly sinceSequence: number;
  /**
   * Has left or lapsed: nothing is delivered any more, a commit of another member will remove it.
   */
  readonly leaving?: MemberLeave;
  /**
   * The newest message or commit of its own, trimmed or not: by it an agent notices that its memory
   * is an older one.
   */
  readonly sent?: LastSent;
}

export type LastSent = NonNullable<ReplyBody<"Subscribe">["sent"]>;

export interface MemberLeave {
  readonly reason: "left" | "lapsed";
  readonly sequence: number;
  readonly timeMs: number;
}

/** Somebody that a commit removed, until it was told. */
export interface FormerMember {
  readonly joinedSequence: number;
  /** The removing commit: the last entry that it reads. */
  readonly endSequence: number;
  readonly reason: "removed" | "left" | "lapsed" | "recovered";
  readonly timeMs: number;
}

/** Former members beyond this many are forgotten, the longest gone first. */
const maxFormerMembers = 1_000;
const snapshots: ListFormat = { what: "snapshot of a channel", steps: [] };

export class ChannelState {
  epoch = 0;
  /**
   * The state of this epoch, as signed by the sender of the commit that began it; undefined before
   * the first commit.
   */
  epochState: Uint8Array | undefined;
  /** Members that the present generation's group has no leaf of yet. */
  absent: ReadonlySet<AgentId> = new Set();
  /** The last entry that is part of this. */
  sequence = 0;
  readonly members = new Map<AgentId, MemberState>();
  readonly former = new Map<AgentId, FormerMember>();
  owners: ReadonlySet<AgentId> = new Set();
  /**
   * The entry that carries a member's latest Welcome. Whether it was taken is a matter of its
   * cursor.
   */
  readonly welcomes = new Map<AgentId, number>();
  closed: { readonly sequence: number; readonly timeMs: number } | undefined;

  /** A channel as `CreateChannel` makes it. */
  static create(creator: AgentId): ChannelState {
    const state = new ChannelState();
    state.members.set(creator, { joinedSequence: 0, sinceSequence: 0 });
    state.owners = new Set([creator]);
    return state;
  }

  get generation(): number {
    return generationOf(this.epoch);
  }

  get leaving(): AgentId[] {
    return [...this.members].filter(([, { leaving }]) => leaving !== undefined).map(([agentId]) =>
      agentId
    );
  }

  /** Somebody who may act in the channel now. */
  isActive(agentId: AgentId): boolean {
    const member = this.members.get(agentId);
    return this.closed === undefined && member !== undefined && member.leaving === undefined;
  }

  /**
   * An owner that was absent for too long. It reads what came before that and may begin a new
   * generation: in a channel that is stopped nobody could let it in.
   */
  isLapsedOwner(agentId: AgentId): boolean {
    return this.closed === undefined && this.owners.has(agentId) &&
      this.members.get(agentId)?.leaving?.reason === "lapsed";
  }

  apply(entry: Entry): void {
    this.sequence = entry.sequence;
    switch (entry.kind) {
      case "message":
        return this.#applySent(entry, sentOf(entry));
      case "commit":
        return this.#applyCommit(entry);
      case "founding":
        return this.#applyFounding(entry);
      case "welcome":
        for (const agentId of decodeWelcomeBody(entry).recipients) {
          if (this.members.has(agentId)) this.welcomes.set(agentId, entry.sequence);
        }
        return;
      case "leave":
      case "lapse": {
        const member = this.members.get(entry.sender);
        if (member === undefined) return;
        const { sequence, timeMs } = entry;
        const leaving: MemberLeave = {
          reason: entry.kind === "leave" ? "left" : "lapsed",
          sequence,
          timeMs,
        };
        this.members.set(entry.sender, { ...member, leaving });
        this.welcomes.delete(entry.sender);
        return;
      }
      case "close":
        this.closed = { sequence: entry.sequence, timeMs: entry.timeMs };
    }
  }

  #applyCommit(entry: Entry): void {
    const { sequence, timeMs } = entry;
    const { added, removed, owners, welcomes, commit, nextState } = decodeCommitBody(entry);
    this.#applySent(entry, { commitHash: sha256(commit) });
    this.epoch++;
    this.epochState = nextState;
    const before = new Map<AgentId, MemberState>();
    for (const agentId of added) {
      const member = this.absent.has(agentId) ? this.members.get(agentId) : undefined;
      if (member !== undefined) before.set(agentId, member);
    }
    this.absent = new Set(
      [...this.absent].filter((agentId) => !added.includes(agentId) && !removed.includes(agentId)),
    );
    for (const agentId of removed) {
      const member = this.members.get(agentId);
      if (member === undefined) continue;
      before.set(agentId, member);
      this.members.delete(agentId);
      this.welcomes.delete(agentId);
      const { joinedSequence, leaving } = member;
      this.#remember(agentId, {
        joinedSequence,
        endSequence: sequence,
        reason: leaving?.reason ?? "removed",
        timeMs,
      });
    }
    for (const agentId of added) {
      const rejoined = before.get(agentId);
      const sinceSequence = rejoined === undefined || rejoined.leaving?.reason === "left"
        ? sequence
        : rejoined.sinceSequence;
      this.members.set(agentId, { joinedSequence: sequence, sinceSequence });
      this.former.delete(agentId);
    }
    for (const { recipients } of welcomes) {
      for (const agentId of recipients) this.welcomes.set(agentId, sequence);
    }
    const wanted = owners?.agentIds ?? [...this.owners];
    this.owners = new Set(wanted.filter((agentId) => this.members.has(agentId)));
  }

  /**
   * The highest counter and key, because one that was given back may be used by a later message.
   * Each epoch has its own keys.
   */
  #applySent(
    { sender, sequence, epoch }: Entry,
    { counter = 0, keyNumber = 0, commitHash }: Partial<
      Pick<LastSent, "counter" | "keyNumber" | "commitHash">
    >,
  ): void {
    const member = this.members.get(sender);
    if (member === undefined) return;
    const { sent } = member;
    const before = sent?.epoch === epoch ? sent.keyNumber ?? 0 : 0;
    const highest = {
      counter: Math.max(counter, sent?.counter ?? 0),
      ...keyNumberOf(Math.max(keyNumber, before)),
    };
    this.members.set(sender, {
      ...member,
      sent: { sequence, epoch, ...highest, ...(commitHash && { commitHash }) },
    });
  }

  /**
   * Nobody is added. Those that it does not name are members no more: the blamed, and those that
   * came after its base. A founder that had lapsed is back.
   */
  #applyFounding(entry: Entry): void {
    const { sequence, timeMs, epoch, sender } = entry;
    const { founding, absent } = decodeFoundingBody(entry);
    this.epoch = epoch + 1;
    this.epochState = founding.state;
    this.absent = new Set(absent);
    const staying = new Set(founding.members);
    for (const [agentId, { joinedSequence }] of [...this.members]) {
      if (staying.has(agentId)) continue;
      this.members.delete(agentId);
      this.welcomes.delete(agentId);
      this.#remember(agentId, {
        joinedSequence,
        endSequence: sequence,
        reason: "recovered",
        timeMs,
      });
    }
    this.owners = new Set(founding.owners.filter((agentId) => this.members.has(agentId)));
    const founder = this.members.get(sender);
    if (founder?.leaving === undefined) return;
    const { leaving: _, ...active } = founder;
    this.members.set(sender, active);
  }

  #remember(agentId: AgentId, former: FormerMember): void {
    this.former.set(agentId, former);
    const [oldest] = this.former.keys();
    if (this.former.size > maxFormerMembers && oldest !== undefined) this.former.delete(oldest);
  }

  encode(): Uint8Array {
    const members: CborValue[] = [...this.members].map((
      [agentId, { joinedSequence, sinceSequence, leaving, sent }],
    ) => [
      agentId,
      joinedSequence,
      sinceSequence,
      this.welcomes.get(agentId) ?? 0,
      leaving === undefined ? null : [leaving.reason, leaving.sequence, leaving.timeMs],
      sent === undefined
        ? null
        : [sent.sequence, sent.epoch, sent.counter, sent.commitHash ?? null, sent.keyNumber ?? 0],
    ]);
    const former: CborValue[] = [...this.former].map((
      [agentId, { joinedSequence, endSequence, reason, timeMs }],
    ) => [agentId, joinedSequence, endSequence, reason, timeMs]);
    const closed = this.closed === undefined ? null : [this.closed.sequence, this.closed.timeMs];
    const fields = [
      this.epoch,
      this.sequence,
      members,
      former,
      [...this.owners],
      closed,
      this.epochState ?? null,
      [
        ...this.absent,
      ],
    ];
    return encodeList(snapshots, fields);
  }

  /**
   * Decodes the result of `encode`; throws for anything else, because a relay must not guess who is
   * a member.
   */
  static decode(bytes: Uint8Array): ChannelState {
    const [epoch, sequence, members, former, owners, closed, epochState, absent] = decodeList(
      snapshots,
      bytes,
    );
    const state = new ChannelState();
    state.epoch = int(epoch);
    state.sequence = int(sequence);
    for (const item of list(members)) {
      const [id, joined, since, welcome, leaving, sent] = list(item);
      const agentId = agent(id);
      const member = {
        joinedSequence: int(joined),
        sinceSequence: int(since),
        ...(sent && { sent: decodeSent(sent) }),
      };
      state.members.set(agentId, {
        ...member,
        ...(leaving && { leaving: decodeLeaving(leaving) }),
      });
      if (int(welcome) > 0) state.welcomes.set(agentId, int(welcome));
    }
    for (const item of list(former)) {
      const [id, joined, end, reason, timeMs] = list(item);
      const kind = reason === "left" || reason === "lapsed" || reason === "recovered"
        ? reason
        : "removed";
      const fields = {
        joinedSequence: int(joined),
        endSequence: int(end),
        reason: kind,
        timeMs: int(timeMs),
      } as const;
      state.former.set(agent(id), fields);
    }
    state.owners = new Set(list(owners).map(agent));
    state.absent = new Set(list(absent).map(agent));
    if (epochState instanceof Uint8Array) state.epochState = epochState;
    if (closed) {
      const [at, timeMs] = list(closed);
      state.closed = { sequence: int(at), timeMs: int(timeMs) };
    }
    return state;
  }
}

function sentOf(entry: Entry): Pick<LastSent, "counter" | "keyNumber"> {
  const { authenticatedData } = readPrivateMessageHeader(decodeMessageBody(entry).ciphertext);
  const { counter, count, keyNumber } = decodeMessageAad(authenticatedData);
  return { counter: counter + count - 1, keyNumber };
}

/** Nothing of a member that has sent no message in the newest entry's epoch. */
function keyNumberOf(keyNumber: number): Pick<LastSent, "keyNumber"> {
  return keyNumber === 0 ? {} : { keyNumber };
}

function decodeSent(value: CborValue): LastSent {
  const [sequence, epoch, counter, hash, keyNumber] = list(value);
  return {
    sequence: int(sequence),
    epoch: int(epoch),
    counter: int(counter),
    ...(hash instanceof Uint8Array && { commitHash: hash }),
    ...keyNumberOf(int(keyNumber)),
  };
}

function decodeLeaving(value: CborValue): MemberLeave {
  const [reason, sequence, timeMs] = list(value);
  return {
    reason: reason === "left" ? "left" : "lapsed",
    sequence: int(sequence),
    timeMs: int(timeMs),
  };
}

function list(value: CborValue | undefined): CborValue[] {
  if (!Array.isArray(value)) throw new TypeError("A snapshot is damaged: expected a list");
  return value;
}

function int(value: CborValue | undefined): number {
  if (typeof value !== "number") throw new TypeError("A snapshot is damaged: expected a number");
  return value;
}

function agent(value: CborValue | undefined): AgentId {
  if (typeof value !== "string") throw new TypeError("A snapshot is damaged: expected an agent id");
  return parseAgentId(value);
}
