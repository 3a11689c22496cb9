/** The consequence of an entry of the log for the channel. */

import type { NoticeBody } from "../../proto/mod.ts";

export type Verdict =
  | { readonly kind: "ok" }
  /** Ask for the log again from where it was last in order, not before this time has passed. */
  | { readonly kind: "fetch_again"; readonly afterMs: number }
  /** Our group cannot follow the log: join anew. `named` as in `Doubt`. */
  | { readonly kind: "out_of_step"; readonly reason: string; readonly named?: boolean }
  /** The log went somewhere where this agent cannot follow: a member's fault, provably. */
  | { readonly kind: "stopped"; readonly commit: NoticeBody<"DeliverCommit">; readonly reason: string }
  /** `again`: the commit that removes us also adds us, so we come back. */
  | { readonly kind: "removed"; readonly again: boolean };

export const ok: Verdict = { kind: "ok" };

export function fetchAgain(afterMs = 0): Verdict {
  return { kind: "fetch_again", afterMs };
}
