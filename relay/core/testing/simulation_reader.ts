/**
 * Deliveries to one connection of an agent, compared entry by entry with those that its stay in the
 * channel entitles it to.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import {
  type AgentId,
  type ChannelId,
  equalBytes,
  type NoticeBody,
  type NoticeEnvelope,
  type NoticeName,
} from "../../../proto/mod.ts";
import type { Auditor } from "./simulation_auditor.ts";
import type { ModelChannel, ModelEntry, Stay } from "./simulation_model.ts";

/** A subscription as its reader sees it. */
export interface Reading {
  readonly channel: ModelChannel;
  readonly channelId: ChannelId;
  readonly stay: Stay;
  /** Where the reader itself asked to start. */
  readonly from: number;
  position: number;
  ended: boolean;
}

type Place = { readonly channelId: ChannelId; readonly sequence: number };

export class Reader {
  readonly agentId: AgentId;
  readonly readings = new Map<ChannelId, Reading>();
  /** Channels whose Welcome was pushed, with the commit that it belongs to. */
  readonly welcomes = new Map<ChannelId, number>();
  /** Where each Subscribe asked to start. */
  readonly asked = new Map<number, number | undefined>();
  readonly #auditor: Auditor;

  constructor(agentId: AgentId, auditor: Auditor) {
    this.agentId = agentId;
    this.#auditor = auditor;
  }

  hear(notice: NoticeEnvelope): void {
    const is = <Name extends NoticeName>(name: Name): NoticeBody<Name> | undefined =>
      notice.operation === name ? notice.body as NoticeBody<Name> : undefined;
    const start = is("DeliverStart");
    if (start !== undefined) return this.#start(start);
    const gap = is("DeliverGap");
    if (gap !== undefined) return this.#gap(gap);
    const end = is("DeliverChannelEnd");
    if (end !== undefined) return this.#end(end);
    const welcome = is("DeliverWelcome");
    if (welcome !== undefined) return this.#welcome(welcome);
    const message = is("DeliverMessage");
    if (message !== undefined) return this.#entry(message, (entry) => isMessage(entry, message));
    const commit = is("DeliverCommit");
    if (commit !== undefined) return this.#entry(commit, (entry) => isCommit(entry, commit));
    const leave = is("DeliverLeave");
    if (leave !== undefined) {
      return this.#entry(
        leave,
        (entry) => equalBytes(entry.body, concatBytes(leave.leafHash, leave.signature)),
      );
    }
    const lapse = is("DeliverLapse");
    if (lapse !== undefined) return this.#entry(lapse, (entry) => entry.sender === lapse.agentId);
  }

  /**
   * The first entry after its position, up to another, that this reader had to be given and was
   * not.
   */
  missing(reading: Reading, through: number): number | undefined {
    const { channel } = reading;
    for (
      let sequence = reading.position + 1;
      sequence <= Math.min(through, channel.head);
      sequence++
    ) {
      const stay = stayAt(reading, sequence);
      const entry = channel.log[sequence - 1];
      if (stay === undefined || entry === undefined) return undefined;
      // A member that comes back with a fresh KeyPackage reads on after it; earlier entries are
      // useless to it.
      const excused = stay.next !== undefined || sequence <= stay.acknowledged.asked ||
        sequence <= reading.from;
      if (!excused && channel.isFor(entry, this.agentId)) return sequence;
    }
    return undefined;
  }

  #start({ channelId, tag, after }: NoticeBody<"DeliverStart">): void {
    const channel = this.#auditor.channel(channelId);
    const stay = channel?.lastStay(this.agentId);
    if (channel === undefined || stay === undefined) {
      return this.#report(channelId, "a stranger may subscribe");
    }
    const from = this.asked.get(tag) ?? 0;
    const reading: Reading = {
      channel,
      channelId,
      stay,
      from,
      position: stay.joined,
      ended: false,
    };
    this.readings.set(channelId, reading);
    // A member that has left is told so, from any position.
    if (stay.stopped !== undefined) return;
    const { known } = stay.acknowledged;
    this.#check(
      reading,
      after >= known,
      `starts after ${after}, although ${known} was acknowledged`,
    );
    this.#check(
      reading,
      after >= stay.joined,
      `starts after ${after}, before it joined with ${stay.joined}`,
    );
    this.#check(reading, after <= channel.head, `starts after ${after}, beyond the log`);
    const lost = this.missing(reading, after);
    this.#check(
      reading,
      lost === undefined,
      `starts after ${after}, although entry ${lost} was not acknowledged`,
    );
    reading.position = after;
  }

  #entry(place: Place, isSame: (entry: ModelEntry) => boolean): void {
    const reading = this.#readingOf(place.channelId, place.sequence);
    if (reading === undefined) return;
    const { channel } = reading;
    const { sequence } = place;
    const entry = channel.log[sequence - 1];
    if (entry === undefined) {
      return this.#report(place.channelId, `entry ${sequence} does not exist`);
    }
    const { epoch, timeMs } = entry;
    const matches = "epoch" in place && place.epoch === epoch && "timeMs" in place &&
      place.timeMs === timeMs;
    this.#check(reading, matches && isSame(entry), `entry ${sequence} is not what is in the log`);
    this.#check(reading, channel.isFor(entry, this.agentId), `entry ${sequence} is not for it`);
    this.#advance(reading, sequence, sequence);
  }

  #gap(
    { channelId, firstSequence, lastSequence, messages, reason }: NoticeBody<"DeliverGap">,
  ): void {
    const reading = this.#readingOf(channelId, lastSequence);
    if (reading === undefined) return;
    this.#check(
      reading,
      messages === lastSequence - firstSequence + 1,
      "a gap miscounts its messages",
    );
    for (const entry of reading.channel.log.slice(firstSequence - 1, lastSequence)) {
      this.#check(
        reading,
        entry.kind === "message",
        `the ${entry.kind} of entry ${entry.sequence} gave way to a gap`,
      );
      const aged = entry.timeMs < this.#auditor.nowMs() - this.#auditor.options.keysMs;
      this.#check(reading, reason !== "age" || aged, `entry ${entry.sequence} is not too old`);
    }
    this.#advance(reading, firstSequence, lastSequence);
  }

  /** Moves on over everything that is not for this reader, and nothing else. */
  #advance(reading: Reading, first: number, last: number): void {
    this.#check(
      reading,
      first > reading.position,
      `entry ${first} after entry ${reading.position}`,
    );
    const lost = this.missing(reading, first - 1);
    this.#check(
      reading,
      lost === undefined,
      `entry ${lost} was passed over, ${first} follows ${reading.position}`,
    );
    this.#check(reading, stayAt(reading, last) !== undefined, `entry ${last} is after its removal`);
    reading.position = Math.max(reading.position, last);
  }

  #end({ channelId, reason }: NoticeBody<"DeliverChannelEnd">): void {
    const reading = this.readings.get(channelId);
    if (reading === undefined || reading.ended) {
      return this.#report(channelId, "an end without a beginning");
    }
    reading.ended = true;
    const { channel } = reading;
    const stay = lastStay(reading);
    if (reason === "left" || reason === "lapsed") {
      return this.#check(reading, stay.stopped?.reason === reason, `is told that it has ${reason}`);
    }
    const last = reason === "closed" ? channel.closed : stay.end;
    if (last === undefined) return this.#check(reading, false, `is told that it is ${reason}`);
    // A channel's entries are purged when it has been closed for as long as a member may be absent.
    const closedAtMs = channel.closed === undefined
      ? undefined
      : channel.log[channel.closed - 1]?.timeMs;
    const overAtMs = stay.endedAtMs ?? closedAtMs ?? Infinity;
    const gone = overAtMs < this.#auditor.nowMs() - this.#auditor.options.lapseMs;
    const lost = gone ? undefined : this.missing(reading, last);
    this.#check(
      reading,
      lost === undefined,
      `is told that it is ${reason} and was never given entry ${lost}`,
    );
  }

  #welcome(body: NoticeBody<"DeliverWelcome">): void {
    const { channelId, sequence, joinedSequence, welcome, name } = body;
    const channel = this.#auditor.channel(channelId);
    const stay = channel?.members.get(this.agentId);
    if (channel === undefined || stay === undefined) {
      return this.#report(channelId, "a Welcome for a stranger");
    }
    const entry = channel.log[sequence - 1];
    const sent = entry?.welcome === undefined ? entry?.commit?.welcomes : [entry.welcome];
    const found = sent?.some((one) =>
      one.recipients.includes(this.agentId) && equalBytes(one.welcome, welcome)
    );
    const right = found && joinedSequence === stay.joined && name === channel.channel.name &&
      sequence >= stay.joined;
    if (!right) {
      this.#report(channelId, `the Welcome of entry ${sequence} is not what was sent to it`);
    }
    if (stay.acknowledged.durable >= stay.joined) {
      this.#report(channelId, "a Welcome that was taken comes again");
    }
    if (stay.stopped !== undefined) {
      this.#report(channelId, `a Welcome after it has ${stay.stopped.reason}`);
    }
    this.welcomes.set(channelId, joinedSequence);
  }

  #readingOf(channelId: ChannelId, sequence: number): Reading | undefined {
    const reading = this.readings.get(channelId);
    if (reading === undefined || reading.ended) {
      this.#report(channelId, `entry ${sequence} without a subscription`);
      return undefined;
    }
    const { stopped } = lastStay(reading);
    // An owner that lapsed is served up to its lapse, so that it can begin its channel anew.
    const isOwner = stopped?.reason === "lapsed" && sequence <= stopped.sequence &&
      reading.channel.owners.has(this.agentId);
    this.#check(
      reading,
      stopped === undefined || isOwner,
      `entry ${sequence} although it has ${stopped?.reason}`,
    );
    this.#check(reading, sequence > reading.stay.joined, `entry ${sequence} from before it joined`);
    return reading;
  }

  #check({ channelId }: Reading, holds: boolean, what: string): void {
    if (!holds) this.#report(channelId, what);
  }

  #report(channelId: ChannelId, what: string): void {
    const name = this.#auditor.channel(channelId)?.channel.name ?? channelId;
    this.#auditor.report(`delivery to ${this.agentId} in ${name}: ${what}`);
  }
}

/** A reader that was removed and added by one commit reads on. */
export function lastStay({ stay: first }: Reading): Stay {
  let stay = first;
  while (stay.next !== undefined) stay = stay.next;
  return stay;
}

/** The stay in which a reader may read an entry; undefined after its removal. */
function stayAt({ stay: first }: Reading, sequence: number): Stay | undefined {
  let stay: Stay | undefined = first;
  while (stay?.end !== undefined && sequence > stay.end) stay = stay.next;
  return stay;
}

function isMessage({ sender, message }: ModelEntry, body: NoticeBody<"DeliverMessage">): boolean {
  return sender === body.sender && message !== undefined && message.messageId === body.messageId &&
    equalBytes(message.ciphertext, body.ciphertext);
}

function isCommit({ sender, commit }: ModelEntry, body: NoticeBody<"DeliverCommit">): boolean {
  return sender === body.sender && commit !== undefined && equalBytes(commit.commit, body.commit) &&
    commit.added.join() === body.added.join() && commit.removed.join() === body.removed.join() &&
    commit.owners?.agentIds.join() === body.owners?.agentIds.join();
}
