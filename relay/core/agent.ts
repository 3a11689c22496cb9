/** An agent that is connected, and what its token says of it. */
import type { AccountId, AgentId, TokenGrant } from "../../proto/mod.ts";
import type { NewEntry } from "../engine/engine.ts";
import type { Plan } from "./plans.ts";

/** Who a session belongs to, once it has proved it. */
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
  /** What its token may do; undefined for everything. */
  readonly grant?: TokenGrant | undefined;
}

/** What the entries of an agent carry, so that those of a session that was replaced at another relay are void. */
export function sentBy({ agentId, session }: Pick<Agent, "agentId" | "session">): Pick<NewEntry, "by"> {
  return session === undefined ? {} : { by: { agentId, session } };
}
