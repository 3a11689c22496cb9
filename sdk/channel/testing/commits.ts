/** The machine of a channel's own commits, for tests that try every order of its events. */
export { stepCommits } from "../commits/own_commit.ts";
export {
  candidateOf,
  type ChangeOutcome,
  type ChangeRefusal,
  type CommitCandidate,
  type CommitEffect,
  type CommitEvent,
  type CommitFacts,
  type CommitFinding,
  type CommitsState,
  type CommitStep,
  type CommitWrite,
  forgetCommits,
  restoreCommits,
  timersOf,
} from "../commits/own_commit_state.ts";
