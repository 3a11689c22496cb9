/** Demands of a joiner on a Welcome: its word alone decides whether it enters, not the channel's. */
import { type AgentId, isDomain, quoted, type Trust } from "../../../proto/mod.ts";
import { createError, invalidArgument } from "../../base/errors.ts";
import type { Group } from "../../mls/group.ts";
import type { Recogniser } from "./recognition.ts";

export interface WelcomeDemands {
  /**
   * The domain that must attest the agent that let this one in, for this reader
   * (`static trust add`).
   */
  readonly from?: string | undefined;
  /** The channel must require badges of its members. */
  readonly requireIssuers?: boolean | undefined;
}

/** Throws `invalid_request` before anybody is asked, also for what this reader could never see. */
export function checkDemands({ from }: WelcomeDemands, trust: Pick<Trust, "domains">): void {
  if (from === undefined) return;
  const domain = quoted(from, { max: 253 });
  if (!isDomain(from)) {
    throw invalidArgument(`from: ${domain} is not a domain, such as acme.com`);
  }
  if (!trust.domains.has(from)) {
    throw invalidArgument(`from: ${domain} is not on this user's trust list (static trust add)`);
  }
}

/** Throws `not_attested`. Nothing of the new membership is written then, and nothing was sent. */
export function checkWelcomed(
  group: Pick<Group, "members" | "binding">,
  inviter: AgentId | undefined,
  demands: WelcomeDemands,
  recogniser: Pick<Recogniser, "of">,
): void {
  const why = unmet(group, inviter, demands, recogniser);
  if (why === undefined) return;
  throw createError("not_attested", `Not entered: ${why}. Nothing was sent in the channel`);
}

/**
 * The same of a channel that this agent is in already: it may have come without demands. Throws
 * `not_attested`, also when the agent that invites is a member no more.
 */
export function checkOpened(
  group: Pick<Group, "members" | "binding">,
  inviter: AgentId | undefined,
  demands: WelcomeDemands,
  recogniser: Pick<Recogniser, "of">,
): void {
  const why = unmet(group, inviter, demands, recogniser);
  if (why === undefined) return;
  const text = `This agent is in the channel already, and ${why}. To open it all the same, ` +
    "open the channel by its name";
  throw createError("not_attested", text);
}

function unmet(
  group: Pick<Group, "members" | "binding">,
  inviter: AgentId | undefined,
  { from, requireIssuers = false }: WelcomeDemands,
  recogniser: Pick<Recogniser, "of">,
): string | undefined {
  const maker = group.members().find(({ agentId }) => agentId === inviter);
  const word = maker && recogniser.of(maker).attested;
  if (from !== undefined && (word?.how !== "domain" || word.domain !== from)) {
    return `agent ${inviter ?? ""}, which invited it, is not attested by ${from} for this user`;
  }
  return requireIssuers && group.binding.issuers?.required !== true
    ? "the channel does not require badges of its members"
    : undefined;
}
