/** Troubles of a channel, as `health()` lists them and `events()` reports them. */

/** A trouble of a channel that does not end it. */
export type IssueKind =
  /**
   * A commit that its sender signed cannot be followed: it does not open, or breaks the rules. The
   * channel is stopped at it.
   */
  | "refused_commit"
  /**
   * A message that no key of ours opens: its sender sealed something else, or it was changed on its
   * way.
   */
  | "undecryptable"
  /** Senders counted more messages than arrived. */
  | "missing_messages"
  /**
   * Messages arrived in another order than they were sent, or than another member has seen: then
   * the relay or that member lies.
   */
  | "reordered"
  /**
   * Another member has seen more or fewer messages of an epoch than this agent: the relay keeps
   * some back, or that member lies.
   */
  | "missing_tail"
  /** The relay gave up messages that were too old or too many. */
  | "dropped_by_relay"
  /** The relay delivers messages of an epoch whose commit it does not deliver. */
  | "withheld_commit"
  /** The relay's statement about an entry differs from what its sender authenticated. */
  | "relay_lied"
  /**
   * Two members signed different states of one epoch: the relay has divided the channel, or one of
   * them is to blame.
   */
  | "forked"
  /** A member signed two different states of one epoch. */
  | "member_lied"
  /** The relay's log had lost commits, as after a restored backup, and this agent put them back. */
  | "log_set_back"
  /**
   * A message of a member that was removed, inserted where it was still one: its sender or the
   * relay is to blame.
   */
  | "spoke_after_removal"
  /** A message of a member that may only listen: its sender is to blame. */
  | "posted_against_policy"
  /**
   * A sender used a counter for two messages: its data directory was restored from a backup, or it
   * is misused.
   */
  | "repeated_counter"
  /**
   * This agent's data directory is older than what it sent, which its own signature in the log
   * proves; it joins anew.
   */
  | "store_rolled_back"
  /**
   * The relay says that this agent's data directory is too old, and the log holds no proof; it
   * joins anew.
   */
  | "store_unproven"
  /**
   * An identity came back with another key. Unless an owner brought it in, its messages are not
   * shown.
   */
  | "key_changed"
  /** The name of a member looks like another member's; see `resembles` in `members()`. */
  | "look_alike"
  /**
   * A member shows a badge of this agent's account that the account has not given: the service has
   * lied, or its key was stolen.
   */
  | "stranger_with_our_badge"
  /**
   * The channel requires badges, and those of members are over. They stay members until an owner
   * removes them.
   */
  | "badge_expired"
  /** The channel lets agents in by keys of a domain that the user's trust list does not have. */
  | "issuer_differs"
  /**
   * An agent without post-quantum keys came in: a later quantum computer may open what is said from
   * then on.
   */
  | "post_quantum_lost"
  /** A member that was known before this agent came back is none any more. */
  | "members_changed"
  /**
   * The relay says that members were absent for too long. They stay members; an owner may remove
   * them.
   */
  | "member_lapsed"
  /** Somebody was refused to join. */
  | "refused_join"
  /** An answer to our request to come back cannot be used; another member is asked. */
  | "refused_welcome"
  /**
   * A member signed that it leaves, but not about its present leaf: it has left, or the relay
   * repeats an old statement.
   */
  | "void_leave"
  /** An owner began a new generation of the channel, and this agent has followed. */
  | "recovered"
  /**
   * An owner began a new generation against a commit that this agent has followed: its founder or
   * the sender of that commit is to blame.
   */
  | "unjust_recovery"
  /**
   * Somebody began a new generation, and this agent does not follow: it cannot tell that it was an
   * owner, or why.
   */
  | "refused_recovery"
  /** This agent was out of step and joined anew; messages in between are lost to it. */
  | "rejoined"
  /** A message that was queued while offline could not be sent in the end. */
  | "undelivered"
  /** A message whose content breaks the format: its sender is to blame. */
  | "bad_content"
  /** A message that only a later version of the SDK understands. */
  | "later_content"
  /**
   * So many messages wait that no loop has asked for that later ones stay at the relay. Requests
   * and replies go on.
   */
  | "unread_messages"
  /** A handler of requests threw something else than a `RemoteError`; `events()` has the error. */
  | "handler_failed"
  /**
   * A duty of this member (removing a leaver, answering a request) failed and will be tried again.
   */
  | "duty_failed";

/**
 * One trouble, and how often it was seen. Troubles of one kind that concern several agents are
 * several; the latest 16 are kept.
 */
export interface HealthIssue {
  /** The kind of trouble. */
  readonly kind: IssueKind;
  /** The latest words about it. */
  readonly text: string;
  /** How often since the channel was opened. */
  readonly count: number;
  /** When it was first seen, by the local clock. */
  readonly firstAtMs: number;
  /** When it was last seen. */
  readonly lastAtMs: number;
}
