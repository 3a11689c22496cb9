/** The journals that agents write while they live: the auditor's only source. */

/** Times are the machine's clock, in milliseconds. */
export type Event =
  /** `from` is the agent's name; every text is said once in a run. */
  | { readonly event: "sending"; readonly text: string; readonly atMs: number }
  | {
    readonly event: "accepted";
    readonly text: string;
    readonly id: string;
    readonly atMs: number;
  }
  | {
    readonly event: "failed";
    readonly text: string;
    readonly code: string;
    readonly words: string;
  }
  | { readonly event: "heard"; readonly text: string; readonly id: string; readonly from: string }
  /** The state of the group at an epoch, as digits. */
  | { readonly event: "epoch"; readonly epoch: number; readonly fingerprint: string }
  /** Nobody has let the agent in yet. */
  | { readonly event: "joining"; readonly atMs: number }
  | { readonly event: "joined"; readonly atMs: number }
  | { readonly event: "leaving"; readonly atMs: number }
  /** The process ended as it should, with everything it had heard acknowledged. */
  | { readonly event: "closed" };

/** From the start of a process to its end. */
export type Life = readonly Event[];

export interface Journal {
  readonly agent: string;
  readonly lives: readonly Life[];
}
