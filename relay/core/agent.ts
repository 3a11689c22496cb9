/** An agent that is connected, and what its token says of it. */
import type { AccountId, AgentId, TokenGrant } from "../../proto/mod.ts";
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
  /** What its token may do; undefined for everything. */
  readonly grant?: TokenGrant | undefined;
}
