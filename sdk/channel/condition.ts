/** The result of `health()` for a channel: one object, with the most serious trouble in words. */
import type { AgentId } from "../../proto/mod.ts";
import type { SessionState } from "../session/relay_session.ts";
import type { Fork } from "./events.ts";
import type { HealthIssue, HealthState } from "./health.ts";
import { type PostQuantum, postQuantumOf } from "./group/post_quantum.ts";
import type { ChannelRunner } from "./runner/channel_runner.ts";
import type { Silent } from "./upkeep/fork_watch.ts";
import type { KeyAge } from "./upkeep/key_age_state.ts";

/** The state of a channel: its troubles, and what is being done about them. */
export interface ChannelHealth {
  /** `ok`, or the most serious thing that is the matter. */
  readonly state: "ok" | "offline" | "catching_up" | "rejoining" | "stopped" | "ended";
  /** In words; absent while all is well. */
  readonly problem?: string;
  /** The remedy that is under way, or what to do. */
  readonly action?: string;
  /** The channel is stopped, and `recover()` can be called now. */
  readonly recoverable?: boolean;
  /** How many times the channel's members have changed, as far as this agent knows. */
  readonly epoch: number;
  /**
   * Messages that have arrived and would come again after a crash: no loop has read beyond them, or
   * their positions are still being written.
   */
  readonly unread: number;
  /** Messages that the relay has not accepted yet. */
  readonly unsent: number;
  /** Messages that their senders have counted and that never arrived. */
  readonly missing: readonly { readonly sender: AgentId; readonly messages: number }[];
  /**
   * Messages that could not be read since the channel was opened, by the sender that the relay
   * names. The sender or the relay is to blame. Of the latest 256 senders.
   */
  readonly unreadable: readonly { readonly sender: AgentId; readonly messages: number }[];
  /**
   * Members, or a member and this agent, that signed different states of one epoch: the relay has
   * divided the channel, one of them was let in with other keys, or one of them lies. Compare
   * fingerprints with them outside of Static. Nothing is stopped.
   */
  readonly forked: readonly Fork[];
  /**
   * Members that are connected, by the relay's word, and have confirmed nothing for 10 minutes: an
   * older version, or a relay that keeps their words back.
   */
  readonly silent: readonly Silent[];
  /** Whether recordings stay closed to outsiders, also for a later quantum computer. */
  readonly postQuantum: PostQuantum;
  /**
   * Since when each member has its keys. A thief of older keys can read along until the member
   * changes them, which happens automatically.
   */
  readonly keys: readonly KeyAge[];
  /**
   * Messages, requests and replies that came after their time was over, and were not shown, since
   * the channel was opened.
   */
  readonly expired: number;
  /** Everything that went wrong since the channel was opened, the latest first. */
  readonly issues: readonly HealthIssue[];
}

export function describeHealth(live: ChannelRunner, session: SessionState): ChannelHealth {
  const { state, rooms: { membership, outbox, senders, confirmations, ages, health } } = live;
  const { waiting, underWay } = outbox.size;
  return {
    ...conditionOf(live, session),
    epoch: membership.epoch,
    unread: state.unacknowledged,
    unsent: waiting + underWay,
    missing: [...senders.missing()],
    unreadable: health.unreadable,
    forked: confirmations.forks,
    silent: confirmations.silent,
    postQuantum: postQuantumOf(membership.group.binding.sealing, membership.loss),
    keys: ages.all,
    expired: health.expired,
    issues: health.issues,
  };
}

type Condition = Pick<ChannelHealth, "state" | "problem" | "action" | "recoverable">;

function conditionOf(
  { state, rooms: { membership } }: ChannelRunner,
  session: SessionState,
): Condition {
  const { ended, stopped, rejoining, caughtUp, relayEpoch } = state;
  if (ended !== undefined) {
    const problem = ended.error?.message ?? "The channel was left, or the client was closed";
    return { state: "ended", problem, action: "Open, create or join it again" };
  }
  if (stopped !== undefined) return { state: "stopped", ...stopped };
  if (rejoining !== undefined) {
    const action = rejoiningAction(state);
    return { state: "rejoining", problem: `This agent is out of step: ${rejoining}`, action };
  }
  if (session.kind !== "online") {
    const problem = "error" in session ? session.error?.message : undefined;
    const action = session.kind === "ended"
      ? "Connect again"
      : "The agent keeps trying to connect; there is nothing to do";
    return { state: "offline", problem: problem ?? "There is no connection to the relay", action };
  }
  if (caughtUp) return { state: "ok" };
  const behind = relayEpoch - membership.epoch;
  const problem = behind > 0
    ? `This agent is ${behind} changes of the channel's members behind`
    : "This agent does not know yet what happened in the channel while it was away";
  return { state: "catching_up", problem, action: "Reading what was missed" };
}

function rejoiningAction({ pausesUntilMs, unwelcome }: HealthState): string {
  if (pausesUntilMs !== undefined) {
    return `This agent came back too often, and asks again at ${
      new Date(pausesUntilMs).toISOString()
    }. To come back ` +
      "sooner, call leave(), and join with a new invite token";
  }
  const asking = "Asking the members to let this agent in again; one of them must be online";
  return unwelcome
    ? `${asking}. If this stays so, join as this agent with a new invite token of an owner`
    : asking;
}
