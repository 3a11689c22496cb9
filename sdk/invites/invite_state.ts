/** Invites, as programs ask for them and see them. */

/** How long, and how often, an invite is good, and whom it replaces. */
export interface InviteOptions {
  /** How long the token is good; one day when not given. */
  readonly expiresInMs?: number | undefined;
  /** How many agents may join with it; one when not given. */
  readonly uses?: number | undefined;
  /**
   * The agent id of a member that is removed when an agent joins with it, whatever that agent calls
   * itself: for a member whose keys are lost. For owners, and for one agent.
   */
  readonly replaces?: string | undefined;
}

/** An invite that this agent has given out, without its secret. */
export interface InviteState {
  /** By which it can be revoked; no secret. */
  readonly id: string;
  /** The channel that it is for. */
  readonly channel: string;
  /** When it ends, by the relay's clock. */
  readonly expiresAtMs: number;
  /** How many agents may join with it. */
  readonly uses: number;
  /** How many have. */
  readonly used: number;
  /** The member that is removed when an agent joins with it, by its agent id. */
  readonly replaces?: string;
}
