/**
 * Lies of a relay about which the connection goes: one of each kind, in a reply, or among the
 * notices on their way. Lies about entries themselves are for the reader to judge.
 */
import type { Note, Refused, Replies, Reply, Request } from "./relay_of_letters.ts";

interface LieInReply {
  readonly lie: string;
  readonly reply: Reply | Refused;
}

interface LieInNotices {
  readonly lie: string;
  readonly notes: readonly Note[];
  /** Entries are repeated, or have another order. */
  readonly isOrderLost?: boolean;
  readonly isWithheld?: boolean;
}

/** That the relay may tell instead of its reply. */
export function liesAbout(request: Request, reply: Reply | Refused): readonly LieInReply[] {
  const refusals = ["not_found", "cursor_invalid", "membership_lapsed"].map((refused) => ({
    lie: `it refuses with ${refused}`,
    reply: { refused },
  }));
  if (request.op === "Subscribe") {
    // cast: the request was a Subscribe
    return "refused" in reply ? [] : [...aboutPlace(reply as Replies["Subscribe"]), ...refusals];
  }
  if (request.op !== "FindCommit" || "refused" in reply) return [];
  // cast: the request was a FindCommit
  return aboutCommit(reply as Replies["FindCommit"]);
}

function aboutPlace(reply: Replies["Subscribe"]): readonly LieInReply[] {
  const { epoch, head, joinedSequence, acknowledged, after, sent } = reply;
  const { sent: _, ...unsaid } = reply;
  const known = sent ?? { sequence: head, epoch, counter: 0 };
  return [
    { lie: "the log is in a later epoch", reply: { ...reply, epoch: epoch + 1 } },
    { lie: "the log is in an earlier epoch", reply: { ...reply, epoch: Math.max(epoch - 1, 0) } },
    { lie: "the log is longer", reply: { ...reply, head: head + 1 } },
    { lie: "the log is shorter", reply: { ...reply, head: Math.max(head - 1, 0) } },
    { lie: "entries begin later", reply: { ...reply, after: after + 1 } },
    { lie: "more was consumed", reply: { ...reply, consumed: head } },
    { lie: "it is another log", reply: { ...reply, log: "made up" } },
    { lie: "the agent has joined anew", reply: { ...reply, joinedSequence: joinedSequence + 1 } },
    { lie: "the agent has read more", reply: { ...reply, acknowledged: acknowledged + head + 1 } },
    { lie: "the agent has sent nothing", reply: unsaid },
    {
      lie: "the agent has sent more",
      reply: { ...reply, sent: { ...known, counter: known.counter + 1 } },
    },
    {
      lie: "the agent has used more keys",
      reply: { ...reply, sent: { ...known, epoch, keyNumber: 9 } },
    },
    {
      lie: "the agent has sent in a later epoch",
      reply: { ...reply, sent: { ...known, epoch: epoch + 1 } },
    },
    {
      lie: "the agent has made another commit",
      reply: { ...reply, sent: { ...known, epoch, commitHash: "made up" } },
    },
  ];
}

function aboutCommit(reply: Replies["FindCommit"]): readonly LieInReply[] {
  const { epoch, commit } = reply;
  const made = { sequence: commit?.sequence ?? 1, hash: "made up" };
  return [
    { lie: "another commit is there", reply: { epoch, commit: made } },
    { lie: "the log is in a later epoch", reply: { ...reply, epoch: epoch + 1 } },
    ...(commit === undefined ? [] : [
      { lie: "none is there", reply: { epoch } },
      {
        lie: "it stands elsewhere",
        reply: { epoch, commit: { ...commit, sequence: commit.sequence + 1 } },
      },
    ]),
  ];
}

/** That the relay may tell with its next notices. */
export function liesOf(pipe: readonly Note[]): readonly LieInNotices[] {
  const [first, second, ...others] = pipe;
  if (first === undefined) return [];
  const rest = pipe.slice(1);
  const made: readonly LieInNotices[] = [
    { lie: "the agent was removed", notes: [{ type: "end", reason: "removed" }, ...pipe] },
    { lie: "the channel was begun anew", notes: [{ type: "end", reason: "recovered" }, ...pipe] },
    { lie: "the agent has lapsed", notes: [{ type: "end", reason: "lapsed" }, ...pipe] },
    {
      lie: "somebody asks to rejoin",
      notes: [{ type: "rejoin", agent: "nobody", generation: 0 }, ...pipe],
    },
    { lie: "the agent has another leaf", notes: [{ type: "leaf", leaf: "made up" }, ...pipe] },
  ];
  if (first.type === "start") {
    const other = { ...first, tag: first.tag + 2 ** 31 };
    return [
      ...made,
      { lie: "another subscription begins", notes: [other, ...rest] },
      { lie: "another subscription begins too", notes: [first, other, ...rest], isOrderLost: true },
      { lie: "nothing says where entries begin", notes: rest },
    ];
  }
  if (first.type !== "entry") return made;
  return [
    ...made,
    { lie: `entry ${first.entry.sequence} is left out`, notes: rest, isWithheld: true },
    {
      lie: `entry ${first.entry.sequence} comes twice`,
      notes: [first, ...pipe],
      isOrderLost: true,
    },
    ...(second?.type === "entry"
      ? [{ lie: "two entries change places", notes: [second, first, ...others], isOrderLost: true }]
      : []),
  ];
}
