/**
 * A member in one channel, as plain data: the real machine of its own commits, and around it
 * letters for its connection, its reader and its group. `Member` carries out what the machine says,
 * and checks each promise where it could be broken.
 */
import {
  type ChangeRefusal,
  type CommitCandidate,
  type CommitEvent,
  type CommitFacts,
  type CommitFinding,
  type CommitsState,
  type CommitWrite,
  forgetCommits,
  restoreCommits,
  stepCommits,
} from "../../sdk/channel/testing/commits.ts";
import { afterCommit, bytesOf, type Group, seal, type Sealed } from "./group_of_letters.ts";
import { isSame } from "./plain_state.ts";
import type { Entry, Relay, Replies, Request } from "./relay_of_letters.ts";

export type Plan = "rotate" | "add";
export type Step = typeof stepCommits<Plan>;

/** Everything that a process finds when it starts. */
export interface MemberDisk {
  readonly group: Group;
  /** Keys for commits that are used in this epoch. */
  readonly used: number;
  readonly candidate: CommitCandidate | undefined;
  readonly given: readonly CommitCandidate[];
}

/** Until the connection is judged: `fate` and `ended` are its questions about our commits. */
export type Link = "offline" | "fate" | "subscribe" | "ended" | "pausing" | "reading";

export interface Member {
  readonly name: string;
  disk: MemberDisk;
  group: Group;
  used: number;
  isOutside: boolean;
  link: Link;
  commits: CommitsState<Plan>;
  /** Entries of the log that were read. */
  read: number;
  /** Statements of newcomers that leave, that were read. */
  heard: number;
  /**
   * An entry that waits for a commit of ours: its number, 0 for a message of a later epoch; or a
   * statement.
   */
  pending: { readonly reading: number; readonly entry: number | "statement" } | undefined;
  /** Of processes: a commit of another one is another commit. */
  life: number;
  /** A write that is not made yet, where a control has it behind the call. */
  unwritten: boolean;
}

export interface Call {
  readonly by: string;
  readonly of: "commits" | "link";
  readonly call: number;
  readonly request: Extract<Request, { op: "SendCommit" | "FindCommit" }> | {
    readonly op: "Subscribe";
  };
  reply?: Reply;
}

export type Reply =
  | { readonly head: number }
  | Replies["FindCommit"]
  | Replies["SendCommit"]
  | { readonly refused: string; readonly epoch?: number };

/** A newcomer says that it leaves. */
export interface Statement {
  /** Behind so many entries of the log. */
  readonly behind: number;
  /** The commit that added it. */
  readonly addedBy: string;
}

export interface MembersState {
  readonly relay: Relay;
  /** In the order of the log. */
  readonly statements: readonly Statement[];
  readonly members: readonly Member[];
  calls: Call[];
  sealed: Sealed;
  fault: string | undefined;
  operations: number;
}

export interface Rules {
  readonly step: Step;
  /** An entry waits for a commit of ours that may explain it. */
  readonly entryWaits: boolean;
  /** So does a statement about somebody without a leaf. */
  readonly statementWaits: boolean;
  /** A commit is on disk before it is sent. */
  readonly diskBeforeDeed: boolean;
}

export const allRules: Rules = {
  step: stepCommits,
  entryWaits: true,
  statementWaits: true,
  diskBeforeDeed: true,
};

const permit: NonNullable<CommitFacts<Plan>["work"]> = Object.freeze(JSON.parse('{"number":0}'));
/** A circle that takes no time at all. */
const maxSteps = 50;

export function newMember(name: string, group: Group): Member {
  return restart(name, { group, used: 0, candidate: undefined, given: none }, 0);
}

const none: readonly CommitCandidate[] = Object.freeze([]);

/** As a process that starts. */
export function restart(name: string, disk: MemberDisk, life: number): Member {
  const { group, used } = disk;
  const commits = restoreCommits<Plan>(disk);
  const memory = {
    isOutside: false,
    link: "offline",
    read: 0,
    heard: 0,
    pending: undefined,
    unwritten: false,
  } as const;
  return { name, disk, group, used, commits, life, ...memory };
}

/** A process that starts knows as much as one that forgets what is in memory alone. */
export function isAsOnDisk({ disk, group, used, commits }: Member): boolean {
  return group === disk.group && used === disk.used &&
    isSame(forgetCommits(commits), restoreCommits(disk));
}

/** One event of the world under way: what it causes happens before the next one. */
export class Acting {
  readonly #world: MembersState;
  readonly #member: Member;
  readonly #rules: Rules;
  readonly #queue: CommitEvent<Plan>[] = [];
  #isStepping = false;
  #steps = 0;

  constructor(world: MembersState, member: Member, rules: Rules) {
    this.#world = world;
    this.#member = member;
    this.#rules = rules;
  }

  #broken(why: string): void {
    this.#world.fault ??= why;
  }

  #facts(): CommitFacts<Plan> {
    const { isOutside, link, group: { epoch }, used } = this.#member;
    return {
      work: link === "reading" && !isOutside ? permit : undefined,
      isStopped: false,
      isOnline: link !== "offline",
      departure: "staying",
      epoch,
      made: used,
      isAlone: false,
      isOwner: true,
      planOf: () => "change",
      jitter: (ms) => ms,
    };
  }

  push(event: CommitEvent<Plan>): void {
    this.#queue.push(event);
    if (this.#isStepping) return;
    this.#isStepping = true;
    const { commits } = this.#member;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      if (++this.#steps > maxSteps) {
        return this.#broken("L3: a circle of steps without time, an answer or a notice");
      }
      const { write, effects } = this.#rules.step(commits, next, this.#facts());
      if (write !== undefined) this.#write(write);
      for (const effect of effects) this.#perform(effect);
    }
    this.#isStepping = false;
  }

  #perform(effect: ReturnType<Step>["effects"][number]): void {
    const { name, group } = this.#member;
    switch (effect.type) {
      case "send": {
        const { call, candidate: { hash, epoch } } = effect;
        if (this.#facts().work === undefined) this.#broken("S2: a commit is sent without a permit");
        this.#call("commits", call, { op: "SendCommit", epoch, hash: letterOf(hash) });
        return;
      }
      case "find":
        if (effect.epoch > group.epoch) {
          this.#broken("the log is asked about an epoch that has not begun");
        }
        return this.#call("commits", effect.call, { op: "FindCommit", epoch: effect.epoch });
      case "explained":
        return this.#explained(effect.reading, effect.as);
      case "fate_told":
        // Another connection asks since.
        if (this.#member.link !== "fate" || this.#member.commits.fate !== undefined) return;
        if (effect.why !== undefined) return void (this.#member.link = "pausing");
        return this.#subscribe();
      case "finding":
        return this.#finding(effect.finding);
      case "report":
        return this.#broken(`an honest relay is reported by ${name}: ${effect.what}`);
      case "prepare":
      case "settle":
      case "wake":
        return;
    }
  }

  #call(of: Call["of"], call: number, request: Call["request"]): void {
    this.#world.calls.push({ by: this.#member.name, of, call, request });
  }

  #write(write: CommitWrite): void {
    const member = this.#member;
    const { disk } = member;
    switch (write.type) {
      case "prepared":
        if (!this.#rules.diskBeforeDeed) return void (member.unwritten = true);
        return void (member.disk = Object.freeze({
          ...disk,
          candidate: write.candidate,
          used: member.used,
        }));
      case "entered":
        return this.#move(afterCommit(member.group, letterOf(write.candidate.hash)));
      case "lost":
        return void (member.disk = Object.freeze({ ...disk, candidate: undefined, given: none }));
      case "refused":
        if (this.#isTaken(write.candidate)) {
          this.#broken("L1: a commit is given up that the log holds");
        }
        return void (member.disk = Object.freeze({ ...disk, candidate: undefined }));
      case "given": {
        const given = Object.freeze([
          ...disk.given.filter((each) => each !== write.dropped),
          write.candidate,
        ]);
        return void (member.disk = Object.freeze({ ...disk, candidate: undefined, given }));
      }
    }
  }

  #isTaken({ hash }: CommitCandidate): boolean {
    const letter = letterOf(hash);
    return this.#world.relay.entries.some((entry) => entry.hash === letter);
  }

  /** The group and everything about it, in one write. */
  #move(group: Group): void {
    const member = this.#member;
    member.group = group;
    member.used = 0;
    member.unwritten = false;
    member.disk = Object.freeze({ group, used: 0, candidate: undefined, given: none });
    if (!isOfLog(this.#world.relay, group)) {
      this.#broken("S5: a member is in an epoch that the log does not have");
    }
  }

  #finding(finding: CommitFinding): void {
    if (finding.is === "entered") this.push({ type: "moved", by: "own" });
    else this.#broken(`with an honest relay: ${finding.is}`);
  }

  // Keys

  prepared(): void {
    const member = this.#member;
    const { commit, plans: [plan] } = member.commits;
    if (commit.at !== "preparing" || plan === undefined) return;
    const { name, group, life } = member;
    const letter = `${name}${group.epoch}${plan.plan === "add" ? "+" : "."}${++member.used}${
      "'".repeat(life)
    }`;
    const made = candidateOf(group.epoch, letter, plan.plan === "add");
    this.#sealed(letter);
    this.push({ type: "prepared", job: commit.job, made });
  }

  #sealed(letter: string): void {
    const { group, used } = this.#member;
    const why = seal(this.#world.sealed, group, used, letter);
    if (why !== undefined) this.#broken(why);
  }

  // The connection

  connect(): void {
    const member = this.#member;
    const { commit, given } = member.commits;
    if (member.isOutside) return void (member.link = "pausing");
    if (!("candidate" in commit) && given.length === 0) return this.#subscribe();
    member.link = "fate";
    this.push({ type: "fate", call: ++member.commits.numbers });
  }

  #subscribe(): void {
    this.#member.link = "subscribe";
    this.#call("link", 0, { op: "Subscribe" });
  }

  /** The connection breaks: what was under way is lost. */
  broken(calls: readonly Call[]): void {
    const member = this.#member;
    member.link = "offline";
    member.pending = undefined;
    this.push({ type: "look" });
    for (const { of, call } of calls) {
      if (of === "commits") this.push({ type: "refused", call, why: lost });
    }
  }

  answer({ of, call, request }: Call, reply: Reply): void {
    if (of === "link") return this.#answerLink(reply);
    if ("refused" in reply) {
      const { refused: code, epoch } = reply;
      const why = { code, isBusy: code === "overloaded", ...(epoch !== undefined && { epoch }) };
      return this.push({ type: "refused", call, why });
    }
    if (request.op === "SendCommit" && "sequence" in reply) {
      return this.push({ type: "taken", call, sequence: reply.sequence });
    }
    // cast: of this operation
    this.push({ type: "found", call, found: foundOf(reply as Replies["FindCommit"]) });
  }

  #answerLink(reply: Reply): void {
    const member = this.#member;
    const { name, group, commits } = member;
    if ("refused" in reply) return void (member.link = "pausing");
    if ("head" in reply) {
      // The log in front of our epoch was read before.
      member.read = group.epoch;
      member.heard = this.#world.statements.filter(({ behind }) => behind < member.read).length;
      const unread = this.#world.relay.entries.slice(member.read, reply.head);
      if (unread.length === 0 || unread.some(({ sender }) => sender !== name)) {
        return this.#judged();
      }
      member.link = "ended";
      return this.#call("link", 0, { op: "FindCommit", epoch: group.epoch });
    }
    const { commit } = reply as Replies["FindCommit"]; // cast: of this operation
    const ours = "candidate" in commits.commit
      ? [commits.commit.candidate, ...commits.given]
      : commits.given;
    if (ours.some(({ hash }) => letterOf(hash) === commit?.hash)) {
      return void (member.link = "pausing");
    }
    if (commit === undefined || group.epoch !== this.#askedEpoch(commit.hash)) {
      return void (member.link = "pausing");
    }
    this.#outside();
  }

  #askedEpoch(hash: string): number | undefined {
    return this.#world.relay.entries.find((entry) => entry.hash === hash)?.epoch;
  }

  #judged(): void {
    this.#member.link = "reading";
    this.push({ type: "look" });
  }

  // The reader

  readEntry(number: number, { epoch, hash }: Entry): void {
    const member = this.#member;
    member.read = number;
    if (epoch < member.group.epoch) return;
    if (epoch === member.group.epoch) {
      this.#move(afterCommit(member.group, hash));
      return this.push({ type: "moved", by: "commit" });
    }
    this.#cannotRead(number);
  }

  /** An entry of a later epoch. */
  #cannotRead(entry: number): void {
    const member = this.#member;
    if (!this.#rules.entryWaits) return this.#outside();
    const reading = ++member.commits.numbers;
    member.pending = { reading, entry };
    this.push({ type: "entry", reading });
  }

  readLaterMessage(): void {
    this.#cannotRead(0);
  }

  /** It is noted of a member; of a stranger it says nothing. */
  readStatement({ addedBy }: Statement): void {
    const member = this.#member;
    member.heard++;
    const { epoch = 0 } = this.#world.relay.entries.find(({ hash }) => hash === addedBy) ?? {};
    if (member.group.epoch > epoch) return;
    if (!this.#rules.statementWaits) return this.#passesOver();
    const reading = ++member.commits.numbers;
    member.pending = { reading, entry: "statement" };
    this.push({ type: "entry", reading });
  }

  #passesOver(): void {
    this.#broken(
      "S3: a statement of a member was taken for a stranger's, and it is kept in the group for ever",
    );
  }

  #explained(reading: number, as: "settled" | "not_ours" | "unknown"): void {
    const member = this.#member;
    const { pending } = member;
    if (pending === undefined || pending.reading !== reading) return;
    member.pending = undefined;
    const { entry } = pending;
    if (as === "not_ours") return entry === "statement" ? this.#passesOver() : this.#outside();
    // It is looked at again, or fetched.
    if (entry === "statement") member.heard--;
    else if (entry > 0) member.read = entry - 1;
  }

  #outside(): void {
    const member = this.#member;
    const { commit, given } = member.commits;
    const hands = "candidate" in commit ? [commit.candidate, ...given] : given;
    if (hands.some((each) => this.#isTaken(each))) {
      this.#broken("L1: outside, though the log holds the commit that this agent has in its hands");
    }
    member.isOutside = true;
    member.pending = undefined;
    this.push({ type: "look" });
  }

  /** It has made a commit that lets another one in. */
  letsIn(hash: string): void {
    this.#move(afterCommit(this.#member.group, hash));
    this.push({ type: "moved", by: "commit" });
  }

  /** Another member has let it in. */
  letIn(group: Group): void {
    const member = this.#member;
    member.isOutside = false;
    member.read = group.epoch;
    this.#move(group);
    this.#world.calls = this.#world.calls.filter(({ by, of }) =>
      by !== member.name || of !== "link"
    );
    this.#subscribe();
    this.push({ type: "moved", by: "membership" });
  }
}

const lost: ChangeRefusal = Object.freeze({ code: "transport_error" });

function foundOf(
  { epoch, commit }: Replies["FindCommit"],
): Extract<CommitEvent<Plan>, { type: "found" }>["found"] {
  if (commit === undefined) return { epoch };
  const { sequence, hash } = commit;
  // cast: nobody looks at them
  return { epoch, commit: { sequence, commitHash: bytesOf(hash), sender: "" as never, timeMs: 0 } };
}

const candidates = new Map<string, CommitCandidate>();

function candidateOf(epoch: number, letter: string, adds: boolean): CommitCandidate {
  const known = candidates.get(letter);
  if (known !== undefined) return known;
  const made = Object.freeze({
    epoch,
    hash: bytesOf(letter),
    adds,
    isLast: false,
    removesLeavers: false,
  });
  candidates.set(letter, made);
  return made;
}

const decoder = new TextDecoder();
const letters = new WeakMap<Uint8Array, string>();

function letterOf(hash: Uint8Array): string {
  const letter = letters.get(hash) ?? decoder.decode(hash);
  letters.set(hash, letter);
  return letter;
}

/** Whether the log leads to this epoch. */
export function isOfLog({ entries }: Relay, { epoch, led }: Group): boolean {
  return entries[epoch - 1]?.hash === led;
}
