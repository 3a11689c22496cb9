/**
 * The interface behind a channel that a program holds: this process itself (`local_channel.ts`), or
 * a host that holds the agent (`host/remote_channel.ts`). Both behave the same, so a program is the
 * same with and without a host.
 */
import type { channelOperations, Performer } from "../../proto/host/operations.ts";
import type { ChannelId, ChannelName, ChannelPolicy } from "../../proto/mod.ts";
import type { StaticError } from "../base/errors.ts";
import type { Answers } from "../content/answers.ts";
import type { Envelope } from "../content/envelope.ts";
import type { AskOptions } from "../content/requester.ts";
import type { RequestHandler, ServeOptions, Serving } from "../content/service.ts";
import type { Addressee, Sendable } from "../content/values.ts";
import type { ChannelHealth } from "./condition.ts";
import type { ChannelEvent, MissedEvents } from "./events.ts";
import type { EnvelopeOptions, InboxReader, ReceiveOptions } from "./runner/inbox_runner.ts";
import type { ChannelMember } from "./group/member_list.ts";
import type { SendOptions, Sent } from "./messages/send_options.ts";

/** The methods of `Channel`, whose comments tell what they do; those of the table by its names. */
export interface ChannelPort extends Performer<typeof channelOperations> {
  readonly name: ChannelName;
  readonly id: ChannelId;
  /** Why nothing more comes, once that is so. */
  readonly over: StaticError | undefined;
  policy(): ChannelPolicy;
  send(value: Sendable, options: SendOptions): Promise<Sent>;
  request(value: Sendable, options: AskOptions & { readonly to: Addressee }): Promise<Envelope>;
  requestAll(value: Sendable, options: AskOptions & { readonly to: readonly Addressee[] }): Answers;
  serve(handler: RequestHandler, options: ServeOptions): Serving;
  envelopes(options: EnvelopeOptions): InboxReader;
  /** Undefined when none arrives in time, `done` when none ever will. */
  receive(options: ReceiveOptions): Promise<IteratorResult<Envelope, undefined> | undefined>;
  events(
    signal: AbortSignal | undefined,
  ): AsyncIterableIterator<ChannelEvent | MissedEvents, undefined>;
  members(): ChannelMember[];
  /** The same, with what was heard of them up to an hour ago, or at the last question. */
  knownMembers(): ChannelMember[];
  /** So that `members()` takes no pause in a large channel. */
  prepareMembers(): Promise<void>;
  waitForMember(
    wanted: Addressee | undefined,
    options: ReceiveOptions,
  ): Promise<ChannelMember | undefined>;
  /** A message that a loop did not hand out, because its schema does not accept it. */
  skipped(envelope: Envelope, why: string): void;
  numberOf(agentId: string): Promise<string>;
  fingerprint(): string;
  health(): ChannelHealth;
}
