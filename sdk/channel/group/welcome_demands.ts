/** Demands of a joiner on a Welcome: its word alone decides whether it enters, not the channel's. */
import { type AgentId, isDomain, quoted } from "../../../proto/mod.ts";
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

/** Throws `invalid_request` before anybody is asked. */
export function checkDemands({ from }: WelcomeDemands): void {
  if (from !== undefined && !isDomain(from)) {
    throw invalidArgument(`from: ${quoted(from, { max: 253 })} is not a domain, such as acme.com`);
  }
}

/** Throws `not_attested`. Nothing of the new membership is written then, and nothing was sent. */
export function checkWelcomed(
  group: Pick<Group, "members" | "binding">,
  inviter: AgentId | undefined,
  { from, requireIssuers = false }: WelcomeDemands,
  recogniser: Pick<Recogniser, "of">,
): void {
  const maker = group.members().find(({ agentId }) => agentId === inviter);
  const word = maker && recogniser.of(maker).attested;
  if (from !== undefined && (word?.how !== "domain" || word.domain !== from)) {
    throw createError(
      "not_attested",
      `Not entered: agent ${
        maker?.agentId ?? ""
      } let this one in, and is not attested by ${from} ` +
        "for this user. Nothing was sent in the channel",
    );
  }
  if (requireIssuers && group.binding.issuers?.required !== true) {
    throw createError(
      "not_attested",
      "Not entered: the channel does not require badges of its members. Nothing was sent in it",
    );
  }
}
