/** The machine of a channel's connection, for tests that try every order of its events. */
export { type Anchor, newAnchor, withDiscarded } from "../connection/anchor.ts";
export { type ConnectionVerdict, judgeConnection } from "../connection/judge_connection.ts";
export { newLink, stepLink } from "../connection/link.ts";
export { isAsking, permitOf } from "../connection/link_run.ts";
export { timersOf } from "../connection/link_state.ts";
export type {
  ConnectionAnswer,
  ConnectionAnswers,
  ConnectionQuestion,
  FindCommitReply,
  LinkEffect,
  LinkEvent,
  LinkFacts,
  LinkPlace,
  LinkStage,
  LinkState,
  ReadingStart,
  RestoredCommits,
  SubscriptionReply,
} from "../connection/link_state.ts";
export type { Doubt, Permit } from "../connection/permit.ts";
export type { OwnCommit } from "../reading/log_place.ts";
