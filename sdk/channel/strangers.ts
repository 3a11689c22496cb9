/**
 * Members that show a badge of this agent's account, and that the account has given none: the
 * service has lied about the account, or somebody has its key. Only the account's own list tells.
 */
import type { AgentId } from "../../proto/mod.ts";
import { readBadges } from "../mls/badges.ts";
import type { Recogniser, ShownAgent } from "./group/recognition.ts";
import type { HealthLog } from "./health.ts";

/** The members of one channel, and where its troubles go. */
export interface ChannelRoster {
  readonly members: readonly ShownAgent[];
  readonly health: Pick<HealthLog, "report">;
}

export interface StrangersParts {
  readonly recogniser: Pick<Recogniser, "all">;
  readonly nowMs: () => number;
  /** Returns the agents that the account has given no badge. */
  readonly strangersAmong: (agentIds: readonly AgentId[]) => Promise<readonly AgentId[]>;
}

/** A badge that is over soon may have left the list by another clock. */
const marginMs = 24 * 60 * 60 * 1000;

export async function reportStrangers(
  rosters: readonly ChannelRoster[],
  { recogniser, nowMs, strangersAmong }: StrangersParts,
): Promise<void> {
  const shown = rosters.map(({ members }) => {
    const recognised = recogniser.all(members);
    return members.filter((member, i) =>
      recognised[i]?.sameAccount === true && endMs(member) > nowMs() + marginMs
    ).map(({ agentId }) => agentId);
  });
  const strangers = new Set(await strangersAmong([...new Set(shown.flat())]));
  for (const [i, { health }] of rosters.entries()) {
    for (const agentId of shown[i]?.filter((each) => strangers.has(each)) ?? []) {
      const text =
        `${agentId} shows a badge of this agent's account, and the account has given it ` +
        "none. Remove it, and tell the operator of the service: it has lied, or its key was stolen";
      health.report("stranger_with_our_badge", text, { about: agentId });
    }
  }
}

function endMs({ badges }: ShownAgent): number {
  return Math.min(...readBadges(badges).map(({ notAfter }) => notAfter * 1000));
}
