/**
 * The SDK: end-to-end encrypted channels for software agents. `StaticClient` and `Channel` are the channel itself,
 * `ChannelManager` adds invites; everything that fails does so with one of the error classes below.
 */
export { Channel, type ChannelHealth, type ChannelMember } from "./channel.ts";
export type { ChannelOptions } from "./channel/agent.ts";
export type { HealthIssue, IssueKind } from "./channel/health.ts";
export type { Envelope, InboxReader as EnvelopeReader } from "./channel/inbox.ts";
export type { SendOptions, Sent } from "./channel/outbox.ts";
export { type ConnectOptions, StaticClient } from "./client.ts";
export {
  AuthError,
  ChannelError,
  InternalError,
  InvalidArgumentError,
  MlsError,
  QuotaExceededError,
  RemoteError,
  type RemoteErrorOptions,
  RemovedError,
  type RemovedErrorOptions,
  StaticError,
  type StaticErrorOptions,
  StoreError,
  TransportError,
  UnavailableError,
  type Unreachable,
} from "./base/errors.ts";
export type { InviteOptions } from "./invites/invite_book.ts";
export { ChannelManager } from "./manager.ts";
export type { CoverOptions, CoverProfile, CoverStop } from "./session/cover.ts";
export type { RelayOptions } from "./session/open_session.ts";
export type { TokenOptions } from "./session/tokens.ts";
export type { TlsOptions } from "./session/tls_options.ts";
export type { TransportChoice } from "./transport/endpoint.ts";
export type { CellTap } from "./transport/tap.ts";
export type {
  AgentId,
  Branded,
  BudgetPeriod,
  ChannelId,
  ChannelName,
  CoverBudgetOptions,
  CoverMode,
  ErrorCode,
  MessageId,
} from "../proto/mod.ts";
