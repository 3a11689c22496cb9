/**
 * The SDK: end-to-end encrypted channels for software agents. `StaticClient` and `Channel` are the
 * channel itself, `ChannelManager` adds invites; everything that fails does so with one of the
 * error classes below.
 */
export {
  type AgentStoreOptions,
  changeAgentPassphrase,
  repairAgentStore,
  type StoreReport,
  verifyAgentStore,
} from "./api/agent_store.ts";
export type { Abortable } from "./base/abortable.ts";
export {
  Channel,
  type LeaveOptions,
  type PromoteOptions,
  type RecoverOptions,
} from "./api/channel.ts";
export type { ChannelOptions, CreateOptions } from "./channel/agent.ts";
export type { SealingChoice } from "./mls/sealing_rules.ts";
export type { AddOptions } from "./channel/commits/adding.ts";
export type { CheckedEnvelope, CheckedReader } from "./channel/runner/checked_reader.ts";
export type { ChannelHealth } from "./channel/condition.ts";
export type { KeyAge } from "./channel/upkeep/key_age_state.ts";
export type { ChannelMember, Presence } from "./channel/group/member_list.ts";
export type { PostQuantum } from "./channel/group/post_quantum.ts";
export type {
  LeftOutMember,
  RecoveryChoice,
  RecoveryPreview,
} from "./channel/recovery/recovery_preview.ts";
export type { ChannelIssuer, IssuersOptions, Promotion } from "./channel/commits/plan.ts";
export type { HealthIssue, IssueKind } from "./channel/health.ts";
export type {
  ChannelEvent,
  ChannelEventBody,
  ClientEvent,
  ConnectionEvent,
  EventAgent,
  Fork,
  MissedEvents,
  QuotaEvent,
  WelcomeEvent,
} from "./channel/events.ts";
export type { Silent } from "./channel/upkeep/fork_watch.ts";
export type {
  EnvelopeOptions,
  InboxReader as EnvelopeReader,
  ReceiveOptions,
} from "./channel/runner/inbox_runner.ts";
export { type AskedOf, Envelope, type EnvelopeKind, type Sender } from "./content/envelope.ts";
export { IncomingRequest } from "./content/incoming_request.ts";
export type { Answer, Answers } from "./content/answers.ts";
export type { AskOptions as RequestOptions } from "./content/requester.ts";
export type { RequestHandler, ServeOptions, Serving } from "./content/service.ts";
export type { SchemaIssue, SchemaResult, StandardSchema } from "./content/standard_schema.ts";
export type { Addressee, ContentOptions, MessageOptions, Sendable } from "./content/values.ts";
export type { ReceiptOf, SendOptions, Sent } from "./channel/messages/send_options.ts";
export { type ConnectOptions, StaticClient } from "./api/client.ts";
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
export {
  agentInWords,
  type Attestation,
  type Attested,
  isClean,
  quoted,
  type Recognition,
  type SeenAgent,
  shown,
  shownLines,
  type ShownOptions,
} from "../proto/mod.ts";
export type { JoinOptions } from "./api/client_port.ts";
export type { InviteOptions, InviteState } from "./invites/invite_state.ts";
export type { GuestOptions, LinkOptions } from "./invites/links.ts";
export { ChannelManager } from "./api/manager.ts";
export { mlKemInUse } from "./api/ml_kem.ts";
export type { CoverOptions, CoverProfile, CoverStop } from "./session/cover.ts";
export type { RelayOptions } from "./session/open_session.ts";
export type { TokenOptions } from "./session/tokens.ts";
export type { TlsOptions } from "./session/tls_options.ts";
export type { TransportChoice } from "./transport/endpoint.ts";
export type { TransportName } from "./transport/transport.ts";
export type { CellTap } from "./transport/transport.ts";
export type {
  AgentId,
  Branded,
  BudgetPeriod,
  ChannelId,
  ChannelName,
  ChannelPolicy,
  CoverBudgetOptions,
  CoverMode,
  ErrorCode,
  IssuerKey,
  MessageId,
  PolicyScope,
  ReceiptState,
  ReceiptWanted,
  Trust,
  TrustedIssuer,
  TrustedKey,
} from "../proto/mod.ts";
