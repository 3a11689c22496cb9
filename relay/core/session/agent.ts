/** An agent that is connected, and what its token says of it. */
import type { AccountId, AgentId, TokenGrant } from "../../../proto/mod.ts";
import type { NewEntry } from "../../engine/engine.ts";
import type { Plan } from "../limits/plans.ts";

/** The owner of a session, once it has proved its identity. */
export interface Agent {
  readonly agentId: AgentId;
  readonly publicKey: Uint8Array;
  account: AccountId;
  plan: Plan;
  /** Of its token. */
  issuedAtMs: number;
  expiresAtMs: number;
  /** Its session's number, where several relays share a log. */
  readonly session?: number | undefined;
  /** Rights of its token; undefined for everything. */
  readonly grant?: TokenGrant | undefined;
  /** The network that it comes from, if its token is of a publishable key: many use that. */
  readonly visitor?: string | undefined;
}

/** Fields of an agent's entries, so that those of a session that was replaced at another relay are void. */
export function sentBy({ agentId, session }: Pick<Agent, "agentId" | "session">): Pick<NewEntry, "by"> {
  return session === undefined ? {} : { by: { agentId, session } };
}
