/** Whom `recover()` leaves out: as a program names them, and as it can look before it calls. */
import { type AgentId, limits } from "../../../proto/mod.ts";
import { invalidArgument } from "../../base/errors.ts";
import { identityText } from "../../base/identity_text.ts";
import type { ExclusionList, Lineage } from "../group/lineage.ts";
import type { ExclusionChoice } from "./recovery_state.ts";

/** Whom a recovery leaves out beside the sender of the bad commit. Give one of both, or none. */
export interface RecoveryChoice {
  /**
   * Exactly these members: agent ids, or names that you gave. An empty list leaves out nobody else.
   */
  readonly without?: readonly string[] | undefined;
  /** Leaves out the members that `previewRecovery()` lists, but not these. */
  readonly keep?: readonly string[] | undefined;
}

/** A member that would be out. */
export interface LeftOutMember {
  /** Its agent id. */
  readonly agentId: AgentId;
  /** The name that it chose for itself; empty if this agent has never met it. */
  readonly identity: string;
  /**
   * `blamed`: it sent the commit. `let_in`: it came in through that one within a day, directly or
   * through others. `same_door`: an agent that came by the same door stopped the channel within the
   * day before. `named`: it is out by a list alone.
   */
  readonly because: "blamed" | "let_in" | "same_door" | "named";
  /** The member that let it in, if this agent knows. */
  readonly letInBy?: AgentId;
  /** When this agent learned of it, by its own clock; not given for those that were here before. */
  readonly seenMs?: number;
}

/** The outcome of `recover()`, before it is called. */
export interface RecoveryPreview {
  /** The sender of the commit at which the channel is stopped. */
  readonly blamed: AgentId;
  /** How many members the channel has now. */
  readonly members: number;
  /** The blamed one first, then the newest. */
  readonly leftOut: readonly LeftOutMember[];
  /** `recover()` without lists is refused (`choice_needed`): say who goes. */
  readonly choiceNeeded: boolean;
}

/** All but the founder and the blamed. */
const maxNamed = limits.membersPerChannel - 2;

/** Throws `invalid_request`, naming the agent. */
export function choiceOf(
  { without, keep }: RecoveryChoice,
  find: (named: string) => AgentId,
): ExclusionChoice {
  if (without !== undefined && keep !== undefined) {
    throw invalidArgument("Cannot recover: give `without` or `keep`, not both");
  }
  if (keep !== undefined && keep.length === 0) {
    throw invalidArgument("Cannot recover: `keep` is empty; call recover() without lists");
  }
  if (without !== undefined) return { without: idsOf("without", without, find) };
  return keep === undefined ? {} : { keep: idsOf("keep", keep, find) };
}

function idsOf(
  list: string,
  named: readonly string[],
  find: (named: string) => AgentId,
): AgentId[] {
  if (!Array.isArray(named)) {
    throw invalidArgument(`Cannot recover: \`${list}\` must be a list of agent ids`);
  }
  if (named.length > maxNamed) {
    throw invalidArgument(`Cannot recover: \`${list}\` has more than ${maxNamed} agents`);
  }
  const ids = named.map(find);
  const twice = ids.find((agentId, i) => ids.indexOf(agentId) !== i);
  if (twice !== undefined) {
    throw invalidArgument(`Cannot recover: \`${list}\` names ${twice} twice`);
  }
  return ids;
}

export interface PreviewFacts {
  readonly members: number;
  readonly leftOut: ExclusionList;
  readonly lineage: Lineage;
  readonly choiceNeeded: boolean;
  readonly identities: ReadonlyMap<AgentId, Uint8Array>;
}

export function previewOf(
  blamed: AgentId,
  without: readonly AgentId[],
  { members, leftOut: { list, ofDoor }, lineage: { since }, choiceNeeded, identities }:
    PreviewFacts,
): RecoveryPreview {
  const because = (agentId: AgentId): LeftOutMember["because"] => {
    if (agentId === blamed) return "blamed";
    if (ofDoor.includes(agentId)) return "same_door";
    return list.includes(agentId) ? "let_in" : "named";
  };
  const describe = (agentId: AgentId): LeftOutMember => {
    const { through, atMs = 0 } = since.get(agentId) ?? {};
    return {
      agentId,
      identity: identityText(identities.get(agentId) ?? new Uint8Array(0)),
      because: because(agentId),
      ...(through !== undefined && { letInBy: through }),
      ...(atMs > 0 && { seenMs: atMs }),
    };
  };
  const others = without.map(describe).toSorted((one, other) =>
    (other.seenMs ?? 0) - (one.seenMs ?? 0)
  );
  return { blamed, members, leftOut: [describe(blamed), ...others], choiceNeeded };
}
