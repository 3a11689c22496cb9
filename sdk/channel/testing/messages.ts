/** The machine of a channel's messages, for tests that try every order of its events. */
export { stepOutbox } from "../messages/outbox.ts";
export { needsReservation, reserveFor } from "../messages/next_bundle.ts";
export {
  allMessages,
  forgetOutbox,
  type OutboxEffect,
  type OutboxEvent,
  type OutboxFacts,
  type OutboxState,
  type OutboxStep,
  type Rejection,
  restoreOutbox,
  timersOf as outboxTimersOf,
} from "../messages/outbox_state.ts";
export type { Bundle, OutgoingMessage, SealedBundle, SendGroup } from "../messages/bundles.ts";
export type { CounterRecord } from "../records.ts";
export { Senders } from "../reading/senders.ts";
export { stepPosition } from "../messages/position.ts";
export {
  forgetPosition,
  type PositionEffect,
  type PositionEvent,
  type PositionFacts,
  type PositionState,
  restorePosition,
  timersOf as positionTimersOf,
} from "../messages/position_state.ts";
export { hasInboxRoom, isFullInbox, stepInbox } from "../messages/inbox.ts";
export {
  type InboxEffect,
  type InboxEvent,
  type InboxFacts,
  type InboxState,
  newInbox,
} from "../messages/inbox_state.ts";
export { stepOwed } from "../messages/owed_receipts.ts";
export {
  keyOf,
  type OwedEffect,
  type OwedEvent,
  type OwedFacts,
  type OwedState,
  type ReceiptDebt,
  restoreOwed,
  timersOf as owedTimersOf,
} from "../messages/owed_receipts_state.ts";
export { ask, hear, type ReceiptRequest, restoreAsked } from "../messages/asked_receipts.ts";
