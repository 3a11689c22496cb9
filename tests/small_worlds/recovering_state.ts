/**
 * The state of a world of members that stop, begin generations and come back, and how often each
 * thing may still happen in it.
 */
import type { HostWorld } from "./recovering_host.ts";
import type { LetterCall, RecoveringMember } from "./recovering_member.ts";

export interface RecoveryBudgets {
  recover: number;
  broken: number;
  kill: number;
  /** The relay takes a founding after its connection has ended. */
  late: number;
  busy: number;
  /** Of no use, from a member that lies: Welcomes, leaves that are told. */
  welcome: number;
  leaf: number;
  /** Somebody else begins the channel anew. */
  begin: number;
  /** The log is set back. */
  setBack: number;
  /** Of members that are in step. */
  commit: number;
}

export interface RecoveringState extends HostWorld {
  readonly members: RecoveringMember[];
  readonly left: RecoveryBudgets;
  /** Foundings that are on their way although nobody waits for an answer. */
  late: { readonly name: string; readonly request: LetterCall["request"] }[];
  connections: number;
}
