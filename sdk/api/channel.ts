/** A channel as its user holds it. Everything behind it is in `channel/` and `content/`. */
import type { ChannelId, ChannelName, ChannelPolicy, ReceiptState } from "../../proto/mod.ts";
import { type Abortable, abortable } from "../base/abortable.ts";
import { createError } from "../base/errors.ts";
import type { AddOptions } from "../channel/commits/adding.ts";
import { memberNamed } from "../channel/group/addressing.ts";
import { type CheckedReader, checkedReader } from "../channel/runner/checked_reader.ts";
import type { ChannelHealth } from "../channel/condition.ts";
import type { ChannelEvent, MissedEvents } from "../channel/events.ts";
import type {
  EnvelopeOptions,
  InboxReader,
  ReceiveOptions,
} from "../channel/runner/inbox_runner.ts";
import type { ChannelMember, Presence } from "../channel/group/member_list.ts";
import type { ReceiptOf, SendOptions, Sent } from "../channel/messages/send_options.ts";
import type { ChannelIssuer, IssuersOptions, Promotion } from "../channel/commits/plan.ts";
import type { ChannelPort } from "../channel/port.ts";
import type { RecoveryChoice, RecoveryPreview } from "../channel/recovery/recovery_preview.ts";
import type { Answers } from "../content/answers.ts";
import type { AskedOf, Envelope } from "../content/envelope.ts";
import type { AskOptions as RequestOptions } from "../content/requester.ts";
import type { RequestHandler, ServeOptions, Serving } from "../content/service.ts";
import type { StandardSchema } from "../content/standard_schema.ts";
import type { Addressee, Sendable } from "../content/values.ts";

/** How a channel is left. */
export interface LeaveOptions extends Abortable {
  /**
   * The agent id of the member that owns the channel afterwards. The last owner may have to say.
   */
  readonly successor?: string | undefined;
}

/** Whom a recovery leaves out. */
export interface RecoverOptions extends Abortable, RecoveryChoice {}

/** The new rank of a member. */
export interface PromoteOptions extends Abortable {
  /** An owner when not given; `member` for a guest that becomes a member like the others. */
  readonly to?: Promotion | undefined;
}

/**
 * An end-to-end encrypted channel. It stays usable for sending while loops read from it, and after
 * they have ended.
 *
 * @example Say something and read what the others say
 * ```ts
 * import { StaticClient } from "static-sdk";
 *
 * async function greet(client: StaticClient): Promise<void> {
 *   const channel = await client.channel("acme/ops/deploy");
 *   await channel.send("hello");
 *   for await (const payload of channel.messages()) {
 *     console.log(new TextDecoder().decode(payload));
 *     break;
 *   }
 * }
 * ```
 */
export class Channel {
  /** @internal For hosts, which carry out operations of programs. */
  readonly port: ChannelPort;

  /** @internal Channels come from `StaticClient` and `ChannelManager`. */
  constructor(port: ChannelPort) {
    this.port = port;
  }

  /** `org/namespace/service`. */
  get name(): ChannelName {
    return this.port.name;
  }

  /** The relay's name for it: the MLS group id. */
  get id(): ChannelId {
    return this.port.id;
  }

  /**
   * Adds an agent by its KeyPackage, or by its id when the relay holds a KeyPackage for it. Returns
   * the Welcome: hand it to the new member, which calls `joinChannel`. The relay delivers it as
   * well. An identity that a member has under another key is refused (`identity_present`). An owner
   * that names that member as `replaces` removes it by this call.
   */
  async addMember(
    keyPackage: Uint8Array | string,
    { signal, ...options }: AddOptions & Abortable = {},
  ): Promise<Uint8Array> {
    const named = typeof keyPackage === "string";
    const [fields, given] = named
      ? [{ agentId: keyPackage, ...options }, {}]
      : [options, { bytes: keyPackage }];
    return await abortable(signal, () => this.port.act("addMember", fields, given));
  }

  /**
   * Removes a member; only owners may. It cannot read messages that are sent from now on. Removing
   * an agent that is no longer a member is not an error.
   */
  async removeMember(agentId: string, { signal }: Abortable = {}): Promise<void> {
    await abortable(signal, () => this.port.act("removeMember", { agentId }));
  }

  /**
   * Begins the channel anew when a member's commit has stopped it: the same channel, with the same
   * members, without that one and those that it let in within a day. For owners, when `health()`
   * says that the channel is `stopped` and offers it. Other members follow automatically, also
   * those that are offline now. Messages sent before the commit stay readable; messages after it
   * are reported as lost. With `without` or `keep` an owner says who goes. It must
   * (`choice_needed`) when these are more than a quarter of the other members, or came by a door
   * through which a second agent stops the channel within a day.
   *
   * @example When a choice is needed, keep those that you know
   * ```ts
   * import { type Channel, StaticError } from "static-sdk";
   *
   * async function mendWith(channel: Channel, known: readonly string[]): Promise<void> {
   *   try {
   *     await channel.recover();
   *   } catch (error) {
   *     if (!(error instanceof StaticError) || error.code !== "choice_needed") throw error;
   *     await channel.recover({ without: (error.members ?? []).filter((agentId) => !known.includes(agentId)) });
   *   }
   * }
   * ```
   */
  async recover({ signal, ...choice }: RecoverOptions = {}): Promise<void> {
    await abortable(signal, () => this.port.act("recover", choice));
  }

  /**
   * Whom `recover()` with the same lists would leave out now, and why. By this agent's own state,
   * without asking anybody: for an owner whose channel is stopped, also before a recovery is
   * offered.
   */
  async previewRecovery(choice: RecoveryChoice = {}): Promise<RecoveryPreview> {
    return await this.port.act("previewRecovery", choice);
  }

  /**
   * Makes a member an owner; only owners may. Owners remove members, make and unmake owners, and
   * set the policy. A channel has up to 64 of them: with two, a lost folder orphans nothing. With
   * `to: "member"` it makes a guest a member like the others, which lets agents in as the policy
   * says.
   */
  async promote(agentId: string, { signal, to = "owner" }: PromoteOptions = {}): Promise<void> {
    await abortable(signal, () => this.port.act("promote", { agentId, to }));
  }

  /**
   * Makes an owner a member like the others; only owners may, also about themselves. The last owner
   * stays one until there is another (`successor_needed`).
   */
  async demote(agentId: string, { signal }: Abortable = {}): Promise<void> {
    await abortable(signal, () => this.port.act("demote", { agentId }));
  }

  /**
   * Sets who may add agents (`admission`) and who may send (`posting`): `members` or `owners`. Only
   * owners may call it; every member enforces it. Fields that are not given stay as they are.
   * Throws `members_must_update`, with their ids in `members`, while a member runs a version
   * without policies.
   */
  async setPolicy(policy: Partial<ChannelPolicy>, { signal }: Abortable = {}): Promise<void> {
    await abortable(signal, () => this.port.act("setPolicy", policy));
  }

  /**
   * Requires a badge of one of these issuers of every member; of an empty list, of nobody. Their
   * keys are pinned, and every member judges by them alone. Only owners may call it; the list takes
   * the place of the one before, and without one the issuers stay as they are. Throws
   * `members_not_attested` while members have no such badge, with their ids in `members`: give them
   * badges, or name them in `remove`. Throws `members_must_update` while a member runs a version
   * without badges.
   */
  async setIssuers(
    issuers: readonly ChannelIssuer[] | undefined,
    { signal, ...options }: IssuersOptions & Abortable = {},
  ): Promise<void> {
    await abortable(signal, () => this.port.act("setIssuers", { issuers, ...options }));
  }

  /** The issuers of which each member has a badge; none, where nobody needs one. */
  issuers(): Promise<readonly ChannelIssuer[]> {
    return this.port.act("issuers", {});
  }

  /** The policy that is in force, as this agent's MLS state has it. */
  policy(): ChannelPolicy {
    return this.port.policy();
  }

  /**
   * Changes this agent's keys now: a copy of the keys from before cannot read what comes. By itself
   * it happens once a day, in a channel of more than 142 members less often. The agent's signing
   * key stays, which is its id: a stolen one is healed by an owner that removes this agent, and by
   * a new agent.
   */
  async rotate({ signal }: Abortable = {}): Promise<void> {
    await abortable(signal, () => this.port.act("rotate", {}));
  }

  /**
   * Leaves the channel and deletes its keys here. Loops end. The only member closes the channel by
   * leaving. The last owner makes `successor` an owner first. When it names none, and all may do
   * the same in this channel, the first member becomes it that this agent has heard of within 7
   * days. Calls at once are one; one that names another successor than the first is refused.
   */
  async leave({ signal, ...options }: LeaveOptions = {}): Promise<void> {
    await abortable(signal, () => this.port.act("leave", options));
  }

  /**
   * Sends a message: bytes, text, or a value as JSON; to all members, or addressed to some.
   * Resolves when the relay has accepted it: then it is delivered, also to members that are offline
   * now. Several sends at once are fine; their order is kept.
   */
  async send(value: Sendable, options: SendOptions = {}): Promise<Sent> {
    return await this.port.send(value, options);
  }

  /**
   * Tells what has become of a message that was sent with `receipt`, at each of those that it was
   * for. Empty for another message, and two weeks after it was sent. A receipt that comes is an
   * event `receipt`, too.
   *
   * @example
   * ```ts
   * import type { Channel } from "static-sdk";
   *
   * async function tellAndSee(channel: Channel, to: string): Promise<void> {
   *   const { id, receipts } = await channel.send("The build is red.", { to, receipt: "delivered" });
   *   if (receipts === "unsupported") return;
   *   for await (const event of channel.events()) {
   *     if (event.type === "receipt" && event.id === id) break;
   *   }
   *   for (const { agentId, state } of await channel.receiptsOf(id)) console.log(agentId, state);
   * }
   * ```
   */
  async receiptsOf(id: string): Promise<readonly ReceiptOf[]> {
    return await this.port.act("receiptsOf", { message: id });
  }

  /**
   * Tells the sender of a message what became of it, if it asked: `held` by a rule for a person,
   * `refused` by either, or `done`. Before the message is acknowledged, which says `delivered` of
   * one of which nothing else was said; of one that was `held`, also later. Resolves when it cannot
   * be forgotten.
   */
  async giveReceipt(
    { id, sender: { agentId }, receipt }: AskedOf,
    state: ReceiptState,
  ): Promise<void> {
    if (receipt === undefined) return;
    await this.port.act("giveReceipt", { message: id, sender: agentId, receipt, state });
  }

  /**
   * Asks a member and resolves with its reply. Durable: a member that is offline gets the request
   * when it is back, until the time is over. Rejects with a `RemoteError` when its handler failed,
   * and with `request_timeout`.
   */
  async request(
    value: Sendable,
    options: RequestOptions & { readonly to: Addressee },
  ): Promise<Envelope> {
    return await this.port.request(value, options);
  }

  /**
   * Asks several members. Returns one answer for each of them, as they come: a reply, or the error
   * that `request` would reject with. Throws before anything is sent when an argument is wrong.
   *
   * @example
   * ```ts
   * import type { Channel } from "static-sdk";
   *
   * async function vote(channel: Channel): Promise<number> {
   *   let votes = 0;
   *   const others = channel.members().filter(({ self }) => !self);
   *   for await (const answer of channel.requestAll("may I?", { to: others, timeoutMs: 10_000 })) {
   *     if (answer.ok && answer.reply.text() === "yes") votes++;
   *   }
   *   return votes;
   * }
   * ```
   */
  requestAll(
    value: Sendable,
    options: RequestOptions & { readonly to: readonly Addressee[] },
  ): Answers {
    return this.port.requestAll(value, options);
  }

  /**
   * Handles the requests of others from now on. The handler's return value is the reply; an
   * exception becomes a `RemoteError` on the other side. A request is handled at least once before
   * its reply is accepted, never after that, and never after its deadline. After a crash
   * `request.attempt` tells that it was begun before.
   *
   * @example
   * ```ts
   * import { type Channel, RemoteError, type Serving } from "static-sdk";
   *
   * function serveWeather(channel: Channel, cities: ReadonlyMap<string, number>): Serving {
   *   return channel.serve((request) => {
   *     const degrees = cities.get(request.text());
   *     if (degrees === undefined) throw new RemoteError("I do not know this city", { remoteCode: "no_such_city" });
   *     return { json: { degrees } };
   *   }, { concurrency: 4 });
   * }
   * ```
   */
  serve(handler: RequestHandler, options: ServeOptions = {}): Serving {
    return this.port.serve(handler, options);
  }

  /**
   * The messages of the others, decrypted, in order: those for all and those for this agent. A
   * message is acknowledged when the loop asks for the next one; until then it comes again after a
   * crash, or to the next loop. Every loop sees everything from the oldest unacknowledged message
   * on; the slowest of several loops acknowledges. The signal ends the loop quietly; an error ends
   * it when nothing more can be done.
   */
  async *messages(
    options: { readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const { bytes } of this.envelopes(options)) yield bytes;
  }

  /**
   * Like `messages`, with who sent each message, when the relay accepted it, its id, and what it
   * says about itself. With `{ ack: "manual" }` each is acknowledged by its own `ack()`, so that
   * several can be worked on at once; with `{ all: true }` what is addressed to others is shown
   * too. With a `schema`, of any library that follows the Standard Schema, only messages whose JSON
   * it accepts are returned, each with its `value`. The others are passed over, with an event
   * `skipped`.
   *
   * @example
   * ```ts
   * import type { Channel, StandardSchema } from "static-sdk";
   *
   * async function warm(channel: Channel, schema: StandardSchema<{ degrees: number }>): Promise<void> {
   *   for await (const { sender, value } of channel.envelopes({ schema })) {
   *     if (value.degrees > 30) await channel.send("Drink water.", { to: sender });
   *   }
   * }
   * ```
   */
  envelopes<Value>(
    options: EnvelopeOptions & { readonly schema: StandardSchema<Value> },
  ): CheckedReader<Value>;
  /** All messages for this agent. */
  envelopes(options?: EnvelopeOptions): InboxReader;
  envelopes<Value>(
    { schema, ...options }: EnvelopeOptions & { readonly schema?: StandardSchema<Value> } = {},
  ): InboxReader | CheckedReader<Value> {
    const reader = this.port.envelopes(options);
    if (schema === undefined) return reader;
    const onSkipped = (envelope: Envelope, why: string): void => this.port.skipped(envelope, why);
    return checkedReader(reader, { schema, isManual: options.ack === "manual", onSkipped });
  }

  /**
   * The next message, or undefined when none arrives in time; without a time it waits for ever. It
   * is acknowledged when the next one is asked for, or when the client is closed. Throws when the
   * channel has ended.
   */
  receive(options?: Abortable): Promise<Uint8Array>;
  /** The next message, or undefined when none arrives in time. */
  receive(options: ReceiveOptions): Promise<Uint8Array | undefined>;
  async receive(options: ReceiveOptions = {}): Promise<Uint8Array | undefined> {
    return (await this.receiveEnvelope(options))?.bytes;
  }

  /** Like `receive`, with who sent the message and what it says about itself. */
  receiveEnvelope(options?: Abortable): Promise<Envelope>;
  /** The next message, or undefined when none arrives in time. */
  receiveEnvelope(options: ReceiveOptions): Promise<Envelope | undefined>;
  async receiveEnvelope(options: ReceiveOptions = {}): Promise<Envelope | undefined> {
    const next = await this.port.receive(options);
    if (next === undefined || next.done !== true) return next?.value;
    throw this.port.over ?? createError("transport_error", "The channel has ended; open it again");
  }

  /**
   * Iterates over the events of the channel and its connection from now on: members, keys, owners,
   * trouble, the end. The loop ends with the channel, or by the signal.
   */
  events(
    { signal }: { readonly signal?: AbortSignal } = {},
  ): AsyncIterableIterator<ChannelEvent | MissedEvents, undefined> {
    return this.port.events(signal);
  }

  /**
   * Returns the members of the channel according to this agent's MLS state: the relay cannot add
   * anybody to this list.
   */
  members(): ChannelMember[] {
    return this.port.members();
  }

  /**
   * Tells of each member whether it is there. `online` is the relay's word of now; `lastHeardMs` is
   * what this agent has verified itself. Takes a round trip to the relay; without a connection, or
   * an answer within five seconds, `online` is left out.
   *
   * @example
   * ```ts
   * import type { Channel } from "static-sdk";
   *
   * async function areThere(channel: Channel, agentIds: readonly string[]): Promise<boolean> {
   *   const there = await channel.presence();
   *   return agentIds.every((id) => there.some(({ agentId, online }) => agentId === id && online));
   * }
   * ```
   */
  async presence(): Promise<readonly Presence[]> {
    return await this.port.act("presence", {});
  }

  /**
   * Returns the member of an agent id, or of a name that the user gave one. Throws
   * `invalid_request` for a name that agents chose for themselves, with the ids of the members that
   * carry it, and `not_found` for others.
   *
   * @example
   * ```ts
   * import type { Channel } from "static-sdk";
   *
   * async function askAlice(channel: Channel, text: string): Promise<string> {
   *   return (await channel.request(text, { to: channel.member("Alice's laptop") })).text();
   * }
   * ```
   */
  member(named: string): ChannelMember {
    return memberNamed(named, this.members());
  }

  /**
   * Waits for a member that can be asked, and returns it. With an agent id, or a name that the user
   * gave an agent: at once if it is there. Without an argument: the next newcomer. Members that
   * were there when this program opened the channel are none; each newcomer is returned once.
   * Undefined when nobody comes in time; without a time it waits for ever. Throws when the channel
   * has ended, and `invalid_request` for a name that a member only gave itself.
   *
   * @example Invite somebody, and ask it
   * ```ts
   * import type { ChannelManager } from "static-sdk";
   *
   * async function firstAnswer(manager: ChannelManager): Promise<string> {
   *   const channel = await manager.channel("acme/ops/deploy");
   *   console.log(await manager.invite("acme/ops/deploy"));
   *   const guest = await channel.waitForMember();
   *   return (await channel.request("Are you ready?", { to: guest })).text();
   * }
   * ```
   */
  waitForMember(wanted?: Addressee, options?: Abortable): Promise<ChannelMember>;
  /** The member, or undefined when nobody comes in time. */
  waitForMember(
    wanted: Addressee | undefined,
    options: ReceiveOptions,
  ): Promise<ChannelMember | undefined>;
  async waitForMember(
    wanted?: Addressee,
    options: ReceiveOptions = {},
  ): Promise<ChannelMember | undefined> {
    return await this.port.waitForMember(wanted, options);
  }

  /**
   * 40 digits of a member, the same in all its channels: of its key and identity. Its owner reads
   * them with `client.number()`, or `static agents number`. Compare them outside of Static before
   * you give the agent a name: if they are equal, it is that agent.
   *
   * @example
   * ```ts
   * import type { Channel } from "static-sdk";
   *
   * async function isBob(channel: Channel, agentId: string, digitsToldByVoice: string): Promise<boolean> {
   *   return await channel.numberOf(agentId) === digitsToldByVoice;
   * }
   * ```
   */
  async numberOf(agentId: string, { signal }: Abortable = {}): Promise<string> {
    return await abortable(signal, () => this.port.numberOf(agentId));
  }

  /**
   * 40 digits that are the same for all members at the same epoch, and for nobody else. Compare
   * them outside of Static, for example by telephone: if they are equal, no one is between you.
   */
  fingerprint(): string {
    return this.port.fingerprint();
  }

  /** One object that explains what is wrong and what is being done. */
  health(): ChannelHealth {
    return this.port.health();
  }
}
