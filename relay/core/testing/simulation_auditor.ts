/**
 * Judges a schedule: sees every entry before the relay does, knows every request and its answer,
 * and compares both. Faults are collected and not thrown, because they are noticed deep inside the
 * relay's own calls.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import {
  type AgentId,
  type CallName,
  type ChannelId,
  equalBytes,
  type ErrorBody,
  type ReplyBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import type { Engine, NewChannel } from "../../engine/engine.ts";
import { keyOf, ModelChannel, type ModelEntry, type Stay } from "./simulation_model.ts";

export type Outcome<Name extends CallName = CallName> =
  | { readonly kind: "reply"; readonly body: ReplyBody<Name> }
  | { readonly kind: "refused"; readonly body: ErrorBody }
  | { readonly kind: "lost" };

/** A message or commit under way, known by its bytes. */
interface Attempt {
  readonly sender: AgentId;
  open: number;
  /** Answered with yes, or not at all. */
  hopeful: boolean;
  sequence?: number;
}

/** How a channel was when a request was made. */
interface Before {
  readonly channel?: ModelChannel;
  readonly epoch: number;
  readonly head: number;
  readonly stay: Stay | undefined;
  readonly active: boolean;
  readonly life: number;
}

export interface AuditorOptions {
  readonly nowMs: () => number;
  /** Idempotency keys are remembered for this long. */
  readonly keysMs: number;
  readonly lapseMs: number;
}

export class Auditor {
  readonly violations: string[] = [];
  readonly channels = new Map<ChannelId, ModelChannel>();
  readonly nowMs: () => number;
  readonly options: AuditorOptions;
  /** Counts the relay's lives. */
  life = 0;
  readonly #attempts = new Map<string, Attempt>();
  readonly #claims = new Map<string, string>();

  constructor(options: AuditorOptions) {
    this.options = options;
    this.nowMs = options.nowMs;
  }

  report(what: string): void {
    this.violations.push(what);
  }

  check(holds: boolean, what: string): void {
    if (!holds) this.report(what);
  }

  channel(channelId: ChannelId): ModelChannel | undefined {
    return this.channels.get(channelId);
  }

  /** Application messages that are in the logs. */
  get messages(): number {
    return [...this.channels.values()].reduce((sum, { messages }) => sum + messages.size, 0);
  }

  follow(created: NewChannel, engine: Engine): void {
    const channel = new ModelChannel(created, (what) => this.report(what));
    this.channels.set(created.channelId, channel);
    engine.watch(created.channelId, (entry) => this.#accepted(channel.apply(entry)));
  }

  /** The relay died, or ended in order: what it only remembered is gone, or was written. */
  restarted(orderly: boolean): void {
    this.life++;
    for (const { acknowledged } of this.#stays()) {
      if (orderly) acknowledged.durable = acknowledged.known;
      else acknowledged.known = acknowledged.durable;
    }
  }

  /** A request is made; the answer goes to what this returns. */
  asked<Name extends CallName>(
    sender: AgentId,
    operation: Name,
    body: RequestBody<Name>,
  ): (outcome: Outcome<Name>) => void {
    const before = this.#before(sender, body);
    const attempt = this.#attempt(sender, operation, body);
    if (attempt !== undefined) attempt.open++;
    const seen = this.#seenBefore(sender, operation, body);
    if (operation === "RequestRejoin") before.channel?.returning.add(sender);
    return (outcome) => {
      if (attempt !== undefined) this.#settle(attempt, outcome);
      if (outcome.kind === "refused") this.#refused(sender, operation, before, seen, outcome.body);
      if (outcome.kind === "reply") this.#answered(sender, operation, body, before, outcome.body);
    };
  }

  /** At the end, when nothing is under way any more. */
  finish(): void {
    for (const { open, hopeful, sequence, sender } of this.#attempts.values()) {
      this.check(open === 0, `a request of ${sender} was never answered`);
      this.check(
        sequence === undefined || hopeful,
        `entry ${sequence} of ${sender} was refused and is in the log`,
      );
    }
  }

  #accepted(entry: ModelEntry): void {
    const bytes = entry.message?.ciphertext ?? entry.commit?.commit;
    if (bytes === undefined) return;
    const attempt = this.#attempts.get(keyOf(bytes));
    if (attempt === undefined) {
      return this.report(`entry ${entry.sequence} holds bytes that nobody sent`);
    }
    this.check(attempt.sender === entry.sender, `entry ${entry.sequence} has another sender`);
    this.check(
      attempt.sequence === undefined,
      `entry ${entry.sequence} repeats entry ${attempt.sequence}`,
    );
    this.check(attempt.open > 0 || attempt.hopeful, `entry ${entry.sequence} was refused before`);
    attempt.sequence = entry.sequence;
  }

  #before(agentId: AgentId, body: object): Before {
    const channelId = "channelId" in body ? body.channelId as ChannelId : undefined;
    const channel = channelId && this.channels.get(channelId);
    return {
      ...(channel && { channel }),
      epoch: channel?.epoch ?? 0,
      head: channel?.head ?? 0,
      stay: channel?.lastStay(agentId),
      active: channel?.isActive(agentId) ?? false,
      life: this.life,
    };
  }

  #attempt(sender: AgentId, operation: CallName, body: object): Attempt | undefined {
    const bytes = operation === "SendMessage"
      ? (body as RequestBody<"SendMessage">).ciphertext
      : operation === "SendCommit"
      ? (body as RequestBody<"SendCommit">).commit
      : undefined;
    if (bytes === undefined) return undefined;
    const key = keyOf(bytes);
    const attempt = this.#attempts.get(key) ?? { sender, open: 0, hopeful: false };
    this.#attempts.set(key, attempt);
    return attempt;
  }

  #settle(attempt: Attempt, { kind }: Outcome): void {
    attempt.open--;
    if (kind !== "refused") attempt.hopeful = true;
  }

  /** The entry that this request brought about before, if it did and the relay has to know. */
  #seenBefore(sender: AgentId, operation: CallName, body: object): ModelEntry | undefined {
    if (operation !== "SendMessage" && operation !== "SendCommit") return undefined;
    const request = body as RequestBody<"SendMessage" | "SendCommit">;
    const channel = this.channels.get(request.channelId);
    const sequence = "messageId" in request
      ? channel?.messages.get(`${sender} ${request.messageId}`)
      : this.#attempts.get(keyOf(request.commit))?.sequence;
    return sequence === undefined ? undefined : channel?.log[sequence - 1];
  }

  #refused(
    agentId: AgentId,
    operation: CallName,
    before: Before,
    seen: ModelEntry | undefined,
    error: ErrorBody,
  ): void {
    const { channel, stay } = before;
    const what = `${operation} of ${agentId} was refused: ${error.code}: ${error.message}`;
    this.check(error.code !== "internal", what);
    if (channel === undefined) return;
    const active = before.active && channel.isActive(agentId) && channel.lastStay(agentId) === stay;
    this.check(
      !active || error.code !== "not_found" || operation === "RequestJoin",
      `${what}, but it is a member`,
    );
    const fresh = seen !== undefined && this.nowMs() - seen.timeMs < this.options.keysMs;
    this.check(!active || !fresh, `${what}, but it was accepted before as entry ${seen?.sequence}`);
    if (error.epoch === undefined) return;
    this.check(
      error.epoch >= before.epoch && error.epoch <= channel.epoch,
      `${what}: it never was at ${error.epoch}`,
    );
  }

  #answered(
    agentId: AgentId,
    operation: CallName,
    body: object,
    before: Before,
    reply: object,
  ): void {
    switch (operation) {
      case "SendMessage":
        return this.#checkMessage(
          agentId,
          body as RequestBody<"SendMessage">,
          reply as ReplyBody<"SendMessage">,
        );
      case "SendCommit":
        return this.#checkCommit(
          agentId,
          body as RequestBody<"SendCommit">,
          reply as ReplyBody<"SendCommit">,
        );
      case "FindCommit":
        return this.#checkFound(
          body as RequestBody<"FindCommit">,
          reply as ReplyBody<"FindCommit">,
          before,
        );
      case "Acknowledge":
        return this.#checkCursor(
          agentId,
          body as RequestBody<"Acknowledge">,
          reply as ReplyBody<"Acknowledge">,
          before,
        );
      case "AddMember":
        return this.#checkClaim(
          agentId,
          body as RequestBody<"AddMember">,
          reply as ReplyBody<"AddMember">,
        );
      case "CreateChannel":
        return this.#checkCreated(
          agentId,
          body as RequestBody<"CreateChannel">,
          reply as ReplyBody<"CreateChannel">,
        );
      case "ListMembers":
        return this.check(
          before.stay !== undefined,
          `${agentId} was told the members of a channel of others`,
        );
      default:
    }
  }

  #checkCreated(
    creator: AgentId,
    body: RequestBody<"CreateChannel">,
    reply: ReplyBody<"CreateChannel">,
  ): void {
    const created = this.channels.get(reply.channelId)?.channel;
    const own = created?.creator === creator && created.name === body.name &&
      equalBytes(created.nonce, body.nonce);
    this.check(own, `${creator} was answered with a channel that it did not create`);
  }

  #checkMessage(
    sender: AgentId,
    body: RequestBody<"SendMessage">,
    reply: ReplyBody<"SendMessage">,
  ): void {
    const entry = this.channels.get(body.channelId)?.log[reply.sequence - 1];
    const same = entry?.sender === sender && entry.message?.messageId === body.messageId;
    this.check(
      same,
      `a message of ${sender} was answered with entry ${reply.sequence}, which is another`,
    );
    this.check(
      entry?.timeMs === reply.timeMs,
      `entry ${reply.sequence} was answered with another time`,
    );
  }

  #checkCommit(
    sender: AgentId,
    body: RequestBody<"SendCommit">,
    reply: ReplyBody<"SendCommit">,
  ): void {
    const entry = this.channels.get(body.channelId)?.log[reply.sequence - 1];
    const same = entry?.commit !== undefined && equalBytes(entry.commit.commit, body.commit);
    this.check(
      same,
      `a commit of ${sender} was answered with entry ${reply.sequence}, which is another`,
    );
    this.check(
      equalBytes(reply.commitHash, sha256(body.commit)),
      `entry ${reply.sequence} has another hash`,
    );
    const right = entry?.timeMs === reply.timeMs && reply.epoch === (entry?.epoch ?? 0) + 1;
    this.check(right, `entry ${reply.sequence} was answered with another time or epoch`);
  }

  #checkFound(
    body: RequestBody<"FindCommit">,
    reply: ReplyBody<"FindCommit">,
    before: Before,
  ): void {
    const { channel } = before;
    if (channel === undefined) return;
    const entry = channel.commits[body.epoch];
    const what = `FindCommit of epoch ${body.epoch}`;
    if (reply.commit !== undefined) {
      const same = entry?.commit !== undefined &&
        equalBytes(sha256(entry.commit.commit), reply.commit.commitHash) &&
        entry.sequence === reply.commit.sequence && entry.sender === reply.commit.sender;
      this.check(same, `${what} found another commit than entry ${entry?.sequence}`);
    } else if (before.active && entry !== undefined && entry.sequence <= before.head) {
      const forgotten = entry.timeMs < this.nowMs() - this.options.lapseMs;
      this.check(forgotten, `${what} did not find entry ${entry.sequence}`);
    }
    this.check(
      reply.epoch >= before.epoch && reply.epoch <= channel.epoch,
      `${what}: it never was at ${reply.epoch}`,
    );
  }

  #checkCursor(
    agentId: AgentId,
    body: RequestBody<"Acknowledge">,
    reply: ReplyBody<"Acknowledge">,
    { channel, stay, life }: Before,
  ): void {
    this.check(
      reply.consumed >= body.consumed,
      `${agentId} acknowledged ${body.consumed}, stored was ${reply.consumed}`,
    );
    if (stay === undefined || channel?.lastStay(agentId) !== stay || stay.stopped !== undefined) {
      return;
    }
    const { acknowledged } = stay;
    if (life === this.life) acknowledged.known = Math.max(acknowledged.known, body.consumed);
    acknowledged.durable = Math.max(acknowledged.durable, body.consumed);
  }

  #checkClaim(
    agentId: AgentId,
    body: RequestBody<"AddMember">,
    { keyPackage }: ReplyBody<"AddMember">,
  ): void {
    const claim = `${agentId} ${body.channelId} ${keyOf(body.nonce)}`;
    const key = keyOf(keyPackage);
    const earlier = this.#claims.get(key) ?? claim;
    this.check(earlier === claim, `a KeyPackage of ${body.agentId} was given away twice`);
    this.#claims.set(key, claim);
  }

  *#stays(): Iterable<Stay> {
    for (const { stays } of this.channels.values()) for (const of of stays.values()) yield* of;
  }
}
