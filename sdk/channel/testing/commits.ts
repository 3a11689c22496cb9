/** The machine of a channel's own commits, for tests that try every order of its events. */
export { stepCommits } from "../commits/own_commit.ts";
export {
  type Candidate,
  candidateOf,
  type CommitEffect,
  type CommitEvent,
  type CommitFacts,
  type CommitsState,
  type CommitStep,
  type CommitWrite,
  type Finding,
  forgetCommits,
  type Refused,
  restoreCommits,
  type Settled,
  timersOf,
} from "../commits/own_commit_state.ts";
