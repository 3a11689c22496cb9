/**
 * Carries out what the real `stepLink` says, as `LinkRunner` and `ChannelRunner` do, with letters:
 * the queue of entries, the calls to the relay and what follows on their answers. The parts around
 * it (stop, founding, rejoin, commits, outbox) keep the rules of their classes. Each promise is
 * checked where it could be broken.
 */
import { generationOf } from "../../proto/mod.ts";
import {
  type ConnectionAnswer,
  type Doubt,
  type FindCommitReply,
  type LinkEffect,
  type LinkEvent,
  newAnchor,
  type Permit,
  type ReadingStart,
  type RestoredCommits,
  stepLink,
  type SubscriptionReply,
  withDiscarded,
} from "../../sdk/channel/testing/connection.ts";
import {
  type Agent,
  type Asker,
  type Call,
  factsOf,
  isAllHere,
  isPlaceNew,
  type KeptCommit,
  memberOf,
  nextFounding,
  type Operation,
  permit,
  placeOf,
  reachedBy,
  type Task,
} from "./agent_of_letters.ts";
import { afterCommit, afterFounding, bytesOf, groupOf, type Sealed } from "./group_of_letters.ts";
import {
  callRelay,
  type Entry,
  foundersLeaf,
  type Note,
  type Refused,
  type Relay,
  type Replies,
  type Reply,
  type Request,
  welcomedLeaf,
} from "./relay_of_letters.ts";

/** Guards that a control switches off. */
export interface Guards {
  /** Nothing else is read, entered or founded from a `Subscribe` to its judgement. */
  readonly turn: boolean;
  /** A generation of our own is entered with a permit alone. */
  readonly permitToEnter: boolean;
  /** Work goes on in a new generation when its log was compared. */
  readonly comparedFirst: boolean;
  /** Work rests when the permit is gone. */
  readonly rest: boolean;
  /** A commit that a busy relay did not put back may be put back later. */
  readonly busyPutBack: boolean;
  /** In a log that was set back, our commits have no place that we know. */
  readonly placesLost: boolean;
}

export const allGuards: Guards = {
  turn: true,
  permitToEnter: true,
  comparedFirst: true,
  rest: true,
  busyPutBack: true,
  placesLost: true,
};

export interface HostState {
  readonly relay: Relay;
  agent: Agent;
  sealed: Sealed;
  /** The promise that is broken. */
  fault: string | undefined;
  /** The connection and the membership that were compared last. */
  compared: { readonly connection: number; readonly member: string } | undefined;
  /** The last entry that was read, and the subscription that it was of. */
  lastRead: { readonly tag: number; readonly sequence: number } | undefined;
  /** The relay has told no lie, and its log is the one that it had: it must not be blamed. */
  isHonest: boolean;
  /** The relay has repeated entries, or changed their order. */
  isOrderLost: boolean;
  /** Of operations of the program. */
  operations: number;
  /** That were made, over all copies of the store. */
  messages: number;
}

type Event = LinkEvent<Note>;
type Effect = LinkEffect<Note>;
export type Step = typeof stepLink<Note>;

interface HostOptions {
  readonly step: Step | undefined;
  /** The place is written as soon as it is reached. */
  readonly isDiskFast: boolean;
}

/** Signed, and of no group. */
export const badCommit = "commit bad";

/** A circle that takes no time at all. */
const maxSteps = 200;
const maxArrivals = 5;

/** One event of the world under way: what it causes happens before the next one. */
export class Host {
  readonly #world: HostState;
  readonly #guards: Guards;
  readonly #step: Step;
  readonly #isDiskFast: boolean;
  readonly #queue: Event[] = [];
  #isStepping = false;
  #steps = 0;

  constructor(world: HostState, guards: Guards, { step = stepLink, isDiskFast }: HostOptions) {
    this.#world = world;
    this.#guards = guards;
    this.#step = step;
    this.#isDiskFast = isDiskFast;
  }

  get #agent(): Agent {
    return this.#world.agent;
  }

  #broken(why: string): void {
    this.#world.fault ??= why;
  }

  // The link

  push(event: Event): void {
    if (this.#agent.ended !== undefined) return;
    this.#queue.push(event);
    if (this.#isStepping) return;
    this.#isStepping = true;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      if (++this.#steps > maxSteps) {
        return this.#broken("L3: a circle of steps without time, an answer or a notice");
      }
      const { write, effects } = this.#step(this.#agent.link, next, factsOf(this.#agent));
      if (write !== undefined) this.#agent.disk.anchor = write;
      for (const effect of effects) this.#perform(effect);
    }
    for (const waiter of this.#agent.link.arrival.waiting) waiter.waits = 1;
    this.#isStepping = false;
  }

  #perform(effect: Effect): void {
    const agent = this.#agent;
    switch (effect.type) {
      case "ask":
        return this.#ask(effect);
      case "read":
        this.#checkRead(effect);
        return void agent.tasks.push({
          kind: "read",
          reading: effect.reading,
          note: effect.notice.content,
          permit: effect.permit,
          at: "new",
          isWaiting: false,
        });
      case "cleared":
        return this.#cleared(effect.permit, effect.begins);
      case "resumed":
        this.#world.compared = { connection: agent.connection, member: memberOf(agent) };
        return placeOf(agent).at === "in_step" ? this.#goOn(effect.permit) : undefined;
      case "lose_log":
        agent.received = undefined;
        agent.disk.position = 0;
        // Our commits have no place in it.
        if (agent.disk.own !== undefined && this.#guards.placesLost) {
          agent.disk.own = Object.freeze({ ...agent.disk.own, sequence: 0 });
        }
        return void (agent.isVoid = true);
      case "rest":
        if (this.#guards.rest) agent.isSending = false;
        return;
      case "come_back":
        return this.#comeBackBy(effect.doubt);
      case "unknown":
        return this.#end("unknown");
      case "acknowledge":
        return this.#acknowledge(effect.consumed);
      case "settle":
        return this.#waited(effect.operation);
      case "wake":
        return;
      case "report":
        if (effect.kind !== "log_set_back" && this.#world.isHonest) {
          this.#broken(`an honest relay is blamed: ${effect.kind}`);
        }
        return;
    }
  }

  /**
   * Entries are read in the order of the log, each once of a subscription, and none of a connection
   * that is over.
   */
  #checkRead({ notice: { content } }: Extract<Effect, { type: "read" }>): void {
    if (content.type !== "entry") return;
    const { lastRead } = this.#world;
    const { entry: { sequence }, tag } = content;
    const { link } = this.#agent.link;
    if (content.connection !== this.#agent.connection) {
      this.#broken("an entry of a connection that is over is read");
    }
    if (!("stream" in link) || link.stream?.tag !== tag) {
      this.#broken("an entry of an earlier subscription is read");
    }
    if (!this.#world.isOrderLost && lastRead?.tag === tag && lastRead.sequence >= sequence) {
      this.#broken("an entry is read twice, or before another");
    }
    this.#world.lastRead = { tag, sequence };
  }

  #ask({ question, call, about }: Extract<Effect, { type: "ask" }>): void {
    const { tasks, disk, isUnderWay } = this.#agent;
    switch (question) {
      case "stop":
        return void tasks.push({ kind: "stop", call, isWaiting: false });
      case "subscribe":
        return void tasks.push({ kind: "turn", call, tag: about.tag ?? 0, isWaiting: false });
      case "put_back":
        return this.#putBack(call, about.epoch ?? 0, { commits: 0, own: 0, sequence: 0 });
      case "open_commit":
        // One that is under way settles itself.
        if (disk.candidate === undefined || isUnderWay) {
          return this.push({ type: "answered", call, answer: { question } });
        }
        return this.#call({ by: "question", call, question }, {
          op: "FindCommit",
          epoch: disk.candidate.epoch,
        });
      default:
        return this.#call({ by: "question", call, question }, {
          op: "FindCommit",
          epoch: about.epoch ?? 0,
        });
    }
  }

  /** One commit after the other that the log has lost. */
  #putBack(call: number, epoch: number, so: RestoredCommits): void {
    const { group, kept } = this.#agent.disk;
    const { author, hash, added, removed } = kept?.[epoch] ?? {};
    if (epoch >= group.epoch || author === undefined || hash === undefined) {
      return this.push({ type: "answered", call, answer: { question: "put_back", reply: so } });
    }
    const changes = { added: added ?? [], removed: removed ?? [] };
    this.#call({ by: "put_back", call, epoch, so }, {
      op: "SendCommit",
      epoch,
      hash,
      author,
      ...changes,
    });
  }

  #answerPutBack(
    { call, epoch, so }: Extract<Asker, { by: "put_back" }>,
    request: Request,
    reply: Reply | Refused,
  ): void {
    if ("refused" in reply) {
      if (reply.refused === "epoch_conflict") {
        return this.#call({ by: "put_back", call, epoch, so }, { op: "FindCommit", epoch });
      }
      const isOpen = reply.refused === "transport_error" ||
        (reply.refused === "overloaded" && this.#guards.busyPutBack);
      return this.push(
        isOpen
          ? { type: "refused", call, code: reply.refused, text: reply.refused }
          : { type: "answered", call, answer: { question: "put_back", reply: so } },
      );
    }
    const { commits, own } = so;
    if (request.op === "SendCommit") {
      // cast: the request was a SendCommit
      const { sequence, duplicate } = reply as Replies["SendCommit"];
      return this.#putBack(call, epoch + 1, {
        commits: commits + 1,
        own: own + (duplicate ? 0 : 1),
        sequence,
      });
    }
    // cast: the request was a FindCommit
    const { commit } = reply as Replies["FindCommit"];
    if (commit !== undefined && commit.hash === this.#agent.disk.kept?.[epoch]?.hash) {
      return this.#putBack(call, epoch + 1, {
        commits: commits + 1,
        own,
        sequence: commit.sequence,
      });
    }
    this.push({ type: "answered", call, answer: { question: "put_back", reply: so } });
  }

  #keep(epoch: number, commit: KeptCommit): void {
    const { disk } = this.#agent;
    if (disk.kept !== undefined) {
      disk.kept = Object.freeze({ ...disk.kept, [epoch]: Object.freeze(commit) });
    }
  }

  /** The relay is told what the program is done with, on a connection that was compared only. */
  #acknowledge(consumed: number): void {
    const { relay } = this.#world;
    const { name, connection } = this.#agent;
    if (connection === 0) return;
    if (consumed > (relay.cursors[name]?.consumed ?? 0)) {
      this.#checkCompared("acknowledged as consumed", false);
    }
    const { stop } = this.#agent.disk;
    if (
      stop !== undefined && consumed >= stop.sequence &&
      consumed > (relay.cursors[name]?.consumed ?? 0)
    ) {
      this.#broken("S2: something behind the stop is acknowledged as consumed");
    }
    callRelay(relay, name, { op: "Acknowledge", consumed });
  }

  #checkCompared(what: string, isByMember = true): void {
    const { compared } = this.#world;
    const agent = this.#agent;
    const isOfMember = !isByMember || compared?.member === memberOf(agent);
    if (compared?.connection === agent.connection && permit(agent) !== undefined && isOfMember) {
      return;
    }
    this.#broken(`S2: something is ${what} on a connection that was not compared`);
  }

  connection(connection: number): void {
    const agent = this.#agent;
    agent.connection = connection;
    agent.isSending = false;
    this.push({ type: connection > 0 ? "connected" : "disconnected" });
    if (connection > 0 && agent.disk.stop === undefined) this.#hurry();
    this.run();
  }

  /** Another membership is in place, or a question is to be asked anew. */
  #connectAgain(): void {
    const agent = this.#agent;
    agent.isSending = false;
    this.push({ type: agent.connection > 0 ? "connected" : "disconnected" });
    if (agent.connection > 0 && agent.disk.stop === undefined) this.#hurry();
  }

  #cleared(given: Permit, { after, isLost, log }: ReadingStart): void {
    const agent = this.#agent;
    const { disk } = agent;
    this.#world.compared = { connection: agent.connection, member: memberOf(agent) };
    if (agent.isByWord) {
      agent.isByWord = false;
      this.#stopRejoin();
    }
    if (isLost) disk.position = Math.min(disk.position, after - 1);
    agent.received ??= after;
    agent.notedLog = log === undefined ? undefined : new TextDecoder().decode(log);
    if (disk.stop === undefined) this.#goOn(given);
    else if (agent.received >= disk.stop.sequence - 1) {
      agent.tasks.push({ kind: "settle", permit: given, isWaiting: false });
    }
  }

  #goOn(given: Permit): void {
    const agent = this.#agent;
    if (permit(agent)?.number !== given.number) return;
    agent.isSending = true;
    this.#sendCommitAgain();
  }

  /** The part of the queue that can run now. */
  run(): void {
    for (let steps = 0; steps < maxSteps; steps++) {
      this.#endTurn();
      this.#endFollowing();
      const [task] = this.#agent.tasks;
      if (this.#agent.ended !== undefined) return;
      if (this.#isDiskFast && isPlaceNew(this.#agent)) this.writePlace();
      if (task === undefined || task.isWaiting) return;
      task.isWaiting = true;
      this.#runTask(task);
    }
    this.#broken("L3: a circle of steps without time, an answer or a notice");
  }

  #finish(): void {
    this.#agent.tasks.shift();
  }

  #runTask(task: Task): void {
    const agent = this.#agent;
    switch (task.kind) {
      case "stop":
        if (this.#isHeld(task.call) && agent.disk.stop !== undefined) {
          return this.#call({ by: "task" }, { op: "FindCommit", epoch: agent.disk.stop.epoch });
        }
        this.#finish();
        return this.push({ type: "answered", call: task.call, answer: { question: "stop" } });
      case "turn":
        if (!this.#isHeld(task.call)) return this.#finish();
        this.#subscribe(task.call, task.tag);
        return this.#guards.turn ? undefined : this.#finish();
      case "read":
        return this.#read(task);
      case "settle":
        return this.#settle();
      case "found":
        return this.#found(task);
      case "rejoined":
        this.#finish();
        return this.#rejoined(task.welcome);
    }
  }

  #isHeld(call: number): boolean {
    const { link } = this.#agent.link;
    return "call" in link && link.call === call;
  }

  #endTurn(): void {
    const [task] = this.#agent.tasks;
    const { link } = this.#agent.link;
    if (task?.kind !== "turn" || !task.isWaiting) return;
    const isOpen = (link.at === "settling" || link.at === "fetching") &&
      link.stream?.tag === task.tag;
    if (!isOpen) this.#finish();
  }

  #subscribe(call: number, tag: number): void {
    const { received: after, link: { log } } = this.#agent;
    const known = after !== undefined && log !== undefined &&
      { log: new TextDecoder().decode(log) };
    this.#call({ by: "subscribe", call, tag }, {
      op: "Subscribe",
      tag,
      ...(after !== undefined && { after }),
      ...known,
    });
  }

  #call(asker: Asker, request: Request): void {
    this.#agent.calls.push({ asker, request });
  }

  // The relay's answers

  /** The relay has answered, or has not: `transport_error` when the connection is lost. */
  answer({ asker, request }: Call, reply: Reply | Refused): void {
    const refusal = "refused" in reply ? reply : undefined;
    switch (asker.by) {
      case "task":
        this.#answerTask(request, reply);
        break;
      case "subscribe":
        this.#answerSubscribe(asker.call, reply);
        break;
      case "question":
        this.#answerQuestion(asker, reply);
        break;
      case "put_back":
        this.#answerPutBack(asker, request, reply);
        break;
      case "commit":
        this.#answerCommit(asker.isFate, reply);
        break;
      case "proof":
        this.#answerProof(reply);
        break;
      case "rejoin":
        this.#answerRejoin(reply);
        break;
      case "recover":
        this.#answerRecover(asker.operation, refusal);
        break;
      case "message":
        break;
    }
    this.run();
  }

  #answerSubscribe(call: number, reply: Reply | Refused): void {
    if ("refused" in reply) {
      return this.push({ type: "refused", call, code: reply.refused, text: reply.refused });
    }
    if (!this.#isHeld(call)) return;
    // cast: the request was a Subscribe
    const given = reply as Replies["Subscribe"];
    this.push({
      type: "answered",
      call,
      answer: { question: "subscribe", reply: subscribedOf(given) },
    });
  }

  #answerQuestion(
    { call, question }: Extract<Asker, { by: "question" }>,
    reply: Reply | Refused,
  ): void {
    if ("refused" in reply) {
      return this.push({ type: "refused", call, code: reply.refused, text: reply.refused });
    }
    // cast: the request was a FindCommit
    const found = reply as Replies["FindCommit"];
    if (question === "open_commit") {
      this.#settleCommit(found);
      return this.push({ type: "answered", call, answer: { question } });
    }
    // cast: the questions that FindCommit answers
    const answer = { question, reply: foundOf(found) } as ConnectionAnswer;
    this.push({ type: "answered", call, answer });
  }

  #answerTask(request: Request, reply: Reply | Refused): void {
    const agent = this.#agent;
    const [task] = agent.tasks;
    if (task === undefined) return;
    switch (task.kind) {
      case "stop":
        this.#finish();
        if ("refused" in reply) {
          return this.push({
            type: "refused",
            call: task.call,
            code: reply.refused,
            text: reply.refused,
          });
        }
        // cast: the request was a FindCommit
        this.#judgeStop(reply as Replies["FindCommit"]);
        return this.push({ type: "answered", call: task.call, answer: { question: "stop" } });
      case "settle":
        this.#finish();
        if ("refused" in reply) this.push({ type: "retry" });
        else this.#settled(reply, task.permit);
        return this.#hurry();
      case "read":
        if (task.at === "own_founding") {
          this.#finishRead(task);
          return "refused" in reply || task.permit === undefined
            ? undefined
            : this.#settled(reply, task.permit);
        }
        // cast: the request was a FindCommit
        if (!("refused" in reply)) this.#settleCommit(reply as Replies["FindCommit"]);
        return this.#readCommitted(task);
      case "found":
        return this.#answerFound(task, request, reply);
    }
  }

  // The stop, and a founding of our own

  /** Whether the log still holds the commit at which we are stopped. */
  #judgeStop({ epoch, commit }: Replies["FindCommit"]): void {
    const { disk } = this.#agent;
    const { stop } = disk;
    if (stop === undefined) return;
    const isSameGeneration = generationOf(epoch) === generationOf(stop.epoch);
    if (commit?.hash === stop.hash) disk.stop = { ...stop, sequence: commit.sequence };
    else if (isSameGeneration && (commit !== undefined || epoch <= stop.epoch)) {
      disk.stop = undefined;
      this.push({ type: "all_arrived" });
      this.#stopRejoin();
    }
  }

  #settle(): void {
    this.push({ type: "all_arrived" });
    if (this.#agent.disk.founding !== undefined) return this.#findOwn();
    this.#finish();
    this.#askWhenRead();
  }

  #findOwn(): void {
    this.#call({ by: "task" }, { op: "FindCommit", epoch: nextFounding(this.#agent) });
  }

  #settled(reply: Reply, given: Permit): void {
    // cast: the request was a FindCommit
    const { commit } = reply as Replies["FindCommit"];
    if (commit !== undefined && commit.hash === this.#agent.disk.founding) {
      this.#enter(commit.sequence, given);
    } else this.#askWhenRead();
  }

  /** Our group is in the new generation. */
  #enter(sequence: number, given: Permit | undefined): void {
    const agent = this.#agent;
    const { disk } = agent;
    const { founding } = disk;
    if (founding === undefined) return;
    if (given === undefined) {
      this.#broken("S2: a generation is entered on a connection that was not compared");
    }
    const epoch = nextFounding(agent);
    disk.group = afterFounding(generationOf(epoch), founding, foundersLeaf(agent.name, founding));
    disk.own = Object.freeze({ sequence, epoch, hash: bytesOf(founding) });
    disk.anchor = { ...disk.anchor, joinedSequence: undefined };
    disk.stop = disk.founding = disk.candidate = undefined;
    disk.usedKeys = 0;
    agent.unread = [];
    agent.received = Math.max(agent.received ?? 0, sequence);
    this.push({ type: "all_arrived" });
    this.#stopRejoin();
    this.writePlace();
    this.push({ type: "fetch", afterMs: 0 });
    if (!this.#guards.comparedFirst && given !== undefined) this.#goOn(given);
  }

  /** The position is on disk. */
  writePlace(): void {
    const agent = this.#agent;
    agent.disk.position = reachedBy(agent);
    if (agent.disk.position > 0) agent.isVoid = false;
    if (agent.notedLog !== undefined) agent.disk.log = agent.notedLog;
    agent.notedLog = undefined;
    this.push({ type: "durable" });
  }

  /** The program has read a message. */
  programReads(): void {
    this.#agent.unread.shift();
    this.#askWhenRead();
    this.run();
  }

  #askWhenRead(): void {
    const { disk: { stop }, unread } = this.#agent;
    if (stop !== undefined && isAllHere(this.#agent) && unread.length === 0) {
      this.#startRejoin("stopped", undefined);
    }
  }

  // Entries

  #read(task: Extract<Task, { kind: "read" }>): void {
    const { note } = task;
    if (note.type === "entry") return this.#readEntry(task, note.entry);
    this.#finishRead(task);
    if (note.type === "rejoin") {
      if (this.#agent.disk.stop === undefined && this.#agent.isByWord) {
        this.push({ type: "asked_back" });
      }
    } else if (note.type === "leaf") this.#toldLeaf(note.leaf);
    else if (note.type === "end") this.#endedBy(note.reason);
  }

  #finishRead({ reading, note }: Extract<Task, { kind: "read" }>): void {
    this.#finish();
    const took = note.type === "entry" && note.entry.kind !== "founding"
      ? { took: { sequence: note.entry.sequence, bytes: 1 } }
      : {};
    this.push({ type: "read", reading, ...took });
  }

  #readEntry(task: Extract<Task, { kind: "read" }>, entry: Entry): void {
    const agent = this.#agent;
    const { stop, founding } = agent.disk;
    if (stop !== undefined && entry.sequence >= stop.sequence) {
      this.push({ type: "all_arrived" });
      this.#askWhenRead();
      const mayEnter = task.permit !== undefined || !this.#guards.permitToEnter;
      if (entry.sequence === stop.sequence && mayEnter && founding !== undefined) {
        task.at = "own_founding";
        return this.#findOwn();
      }
      return this.#finishRead(task);
    }
    if (entry.sequence <= (agent.received ?? -1)) {
      this.#finishRead(task);
      return this.push({ type: "fetch", afterMs: 0 });
    }
    if (entry.kind === "founding") return this.#finishRead(task);
    if (
      entry.epoch > agent.disk.group.epoch &&
      (agent.disk.candidate !== undefined || agent.isUnderWay)
    ) {
      return this.#awaitOwnCommit(task);
    }
    this.#readCommitted(task);
  }

  /** A commit of ours may have been taken though nobody has told us yet. */
  #awaitOwnCommit(task: Extract<Task, { kind: "read" }>): void {
    const { candidate } = this.#agent.disk;
    if (this.#agent.isUnderWay || candidate === undefined) {
      return void (task.at = "waits_for_commit");
    }
    task.at = "own_commit";
    this.#call({ by: "task" }, { op: "FindCommit", epoch: candidate.epoch });
  }

  /** Nothing of our own is left that could explain it. */
  #readCommitted(task: Extract<Task, { kind: "read" }>): void {
    const agent = this.#agent;
    const { note } = task;
    if (note.type !== "entry") return;
    const { entry } = note;
    if (entry.epoch > agent.disk.group.epoch) {
      this.#finishRead(task);
      if (agent.fetchedFor >= entry.sequence) return this.#comeBack("a commit is missing", false);
      agent.fetchedFor = entry.sequence;
      return this.push({ type: "fetch", afterMs: 0 });
    }
    agent.received = entry.sequence;
    if (entry.kind === "message") agent.unread.push(entry.sequence);
    else if (entry.epoch === agent.disk.group.epoch) this.#follow(entry);
    this.#finishRead(task);
  }

  #follow(entry: Entry): void {
    const { disk, name } = this.#agent;
    if (entry.removed.includes(name)) {
      if (this.#agent.reason !== undefined) return;
      return entry.added.includes(name)
        ? this.#comeBack("it was removed and added again", false)
        : this.#end("removed");
    }
    // Nobody can follow it.
    if (entry.hash === badCommit) return this.#stopAt(entry);
    const { sender: author, hash, added, removed } = entry;
    this.#keep(entry.epoch, { author, hash, added, removed });
    disk.group = afterCommit(disk.group, hash);
    disk.usedKeys = 0;
  }

  #stopAt({ sequence, epoch, hash, sender }: Entry): void {
    const agent = this.#agent;
    this.push({ type: "all_arrived" });
    agent.disk.stop = Object.freeze({ sequence, epoch, hash, sender });
    agent.isSending = false;
    this.#askWhenRead();
  }

  #endedBy(reason: string): void {
    if (reason === "lapsed") return this.#wayBack("it was absent for too long", true);
    if (this.#agent.reason !== undefined && reason !== "recovered") return;
    this.#end(reason);
  }

  #end(why: string): void {
    const agent = this.#agent;
    agent.ended ??= why;
    agent.isSending = false;
    agent.operations = [];
    agent.tasks = [];
    agent.calls = [];
  }

  // The way back

  #comeBackBy({ by, reason, sent }: Doubt): void {
    this.#comeBack(
      reason,
      by !== "lapse",
      by === "store" && !this.#agent.isProven ? sent?.sequence : undefined,
    );
    this.#hurry();
  }

  #comeBack(reason: string, isByWord: boolean, sent?: number): void {
    if (!isByWord) this.push({ type: "out_of_step" });
    this.#wayBack(reason, isByWord, sent);
  }

  #wayBack(reason: string, isByWord: boolean, sent?: number): void {
    const agent = this.#agent;
    agent.isByWord = isByWord && (agent.isByWord || agent.reason === undefined);
    agent.isSending = false;
    this.#startRejoin(reason, sent);
  }

  #startRejoin(reason: string, sent: number | undefined): void {
    const agent = this.#agent;
    if (agent.reason !== undefined) return;
    agent.reason = reason.slice(0, 20);
    const generation = generationOf(agent.disk.group.epoch);
    agent.rejoin = { at: "proof", generation, sent, leaf: undefined };
    if (sent === undefined) return this.#askRejoin();
    this.#call({ by: "proof" }, { op: "ReadOwn", sequence: sent });
  }

  #stopRejoin(): void {
    const agent = this.#agent;
    agent.reason = agent.rejoin = undefined;
  }

  #askRejoin(): void {
    const { rejoin, welcome, tasks, calls } = this.#agent;
    if (rejoin === undefined) return;
    if (welcome !== undefined) {
      this.#agent.welcome = undefined;
      rejoin.at = "pausing";
      return void tasks.push({ kind: "rejoined", welcome, isWaiting: false });
    }
    rejoin.at = "asking";
    // One that was stopped left its request behind: its answer is nobody's.
    this.#agent.calls = calls.filter(({ asker }) => asker.by !== "rejoin");
    const { generation } = rejoin;
    const { group } = this.#agent.disk;
    // In a generation that it has not entered, it knows no leaf until a member tells it.
    const leaf = rejoin.leaf ?? (generation > generationOf(group.epoch) ? "" : group.leaf);
    this.#call({ by: "rejoin" }, { op: "RequestRejoin", generation, leaf });
  }

  /** A waiting attempt asks at once. */
  #hurry(): void {
    if (this.#agent.rejoin?.at === "pausing") this.#askRejoin();
  }

  #answerProof(reply: Reply | Refused): void {
    const agent = this.#agent;
    const { rejoin, disk } = agent;
    if (rejoin?.at !== "proof") return;
    if ("refused" in reply && reply.refused === "transport_error") {
      return void (rejoin.at = "proof_later");
    }
    // cast: the request was a ReadOwn
    const entry = "refused" in reply ? undefined : (reply as Replies["ReadOwn"]).entry;
    const { group: { epoch }, usedKeys } = disk;
    const isUnknown = entry !== undefined &&
      (entry.epoch > epoch || (entry.epoch === epoch && (entry.keyNumber ?? 0) > usedKeys));
    agent.isProven ||= isUnknown;
    this.#askRejoin();
  }

  #answerRejoin(reply: Reply | Refused): void {
    const { rejoin, disk } = this.#agent;
    if (rejoin?.at !== "asking") return;
    if (!("refused" in reply)) return void (rejoin.at = "waiting");
    if (reply.refused === "not_found") return this.#end("not_found");
    const generation = reply.epoch === undefined ? rejoin.generation : generationOf(reply.epoch);
    const isOther = generation !== rejoin.generation &&
      generation >= generationOf(disk.group.epoch);
    if (isOther) [rejoin.generation, rejoin.leaf] = [generation, undefined];
    rejoin.at = "pausing";
    if (isOther) this.#askRejoin();
  }

  /** A member says what our present leaf is. */
  #toldLeaf(leaf: string): void {
    const { rejoin } = this.#agent;
    if (rejoin?.at !== "waiting" || rejoin.leaf === leaf) return;
    rejoin.leaf = leaf;
    this.#askRejoin();
  }

  /** Time has passed for an attempt. */
  rejoinAgain(): void {
    const { rejoin } = this.#agent;
    if (rejoin?.at === "proof_later") {
      rejoin.at = "proof";
      this.#call({ by: "proof" }, { op: "ReadOwn", sequence: rejoin.sent ?? 0 });
    } else this.#askRejoin();
    this.run();
  }

  /** A Welcome is here. One whose keys are gone is of no use. */
  welcomed(welcome: Extract<Note, { type: "welcome" }>): void {
    const agent = this.#agent;
    if (welcome.joined <= agent.disk.welcomed) return;
    const isExpected = agent.rejoin !== undefined && agent.rejoin.at !== "proof" &&
      agent.rejoin.at !== "proof_later";
    if (isExpected) agent.tasks.push({ kind: "rejoined", welcome, isWaiting: false });
    else agent.welcome = welcome;
    this.run();
  }

  #rejoined({ joined, epoch, led }: Extract<Note, { type: "welcome" }>): void {
    const agent = this.#agent;
    const { disk } = agent;
    if (agent.reason === undefined) return;
    disk.group = groupOf({ epoch, led, leaf: welcomedLeaf(agent.name, joined) });
    disk.welcomed = joined;
    disk.stop =
      disk.founding =
      disk.candidate =
      disk.own =
        undefined;
    disk.anchor = newAnchor(joined);
    disk.usedKeys = 0;
    disk.position = agent.received = joined;
    agent.isProven = agent.isVoid = false;
    agent.unread = [];
    this.#stopRejoin();
    this.#connectAgain();
  }

  // recover()

  recover(): void {
    const operation = ++this.#world.operations;
    this.#agent.operations.push({
      operation,
      what: "recover",
      at: "find",
      waits: 1,
      until: nextFounding(this.#agent) + 1,
    });
    this.#awaitArrival(operation);
    this.run();
  }

  #operation(operation: number): Operation | undefined {
    return this.#agent.operations.find((each) => each.operation === operation);
  }

  /** The call of the program returns, or throws. */
  #return(operation: number): void {
    const agent = this.#agent;
    agent.operations = agent.operations.filter((each) => each.operation !== operation);
  }

  #awaitArrival(operation: number): void {
    if (isAllHere(this.#agent)) return this.#queueFounding(operation, true);
    this.#call({ by: "recover", operation }, {
      op: "FindCommit",
      epoch: this.#agent.disk.group.epoch,
    });
  }

  #answerRecover(operation: number, refusal: Refused | undefined): void {
    const waiting = this.#operation(operation);
    if (waiting === undefined) return;
    if (refusal !== undefined) return this.#return(operation);
    waiting.at = "arrival";
    this.push({ type: "wait", operation });
  }

  #waited(operation: number): void {
    const waiting = this.#operation(operation);
    if (waiting?.at !== "arrival") return;
    if (!isAllHere(this.#agent) && this.#agent.connection === 0) return this.#return(operation);
    this.#queueFounding(operation, isAllHere(this.#agent));
  }

  #queueFounding(operation: number, isHere: boolean): void {
    const waiting = this.#operation(operation);
    if (waiting === undefined) return;
    waiting.at = "queued";
    if (isHere) this.#checkPassedOver();
    const mayWait = isHere && waiting.waits < maxArrivals;
    this.#agent.tasks.push({ kind: "found", operation, mayWait, at: "new", isWaiting: false });
  }

  /**
   * All that stands in front of the stop is said to be here, on a connection that can deliver it.
   */
  #checkPassedOver(): void {
    const { relay, isHonest } = this.#world;
    const { disk: { stop }, received = 0, name } = this.#agent;
    if (!isHonest || stop === undefined || permit(this.#agent) === undefined) return;
    const isMissing = relay.entries.some(({ kind, sequence, sender }) =>
      kind === "message" && sender !== name && sequence > received && sequence < stop.sequence
    );
    if (isMissing) this.#broken("S6: recover() passes messages over that were not read");
  }

  #found(task: Extract<Task, { kind: "found" }>): void {
    const agent = this.#agent;
    const { operation, mayWait } = task;
    if (agent.disk.stop === undefined) {
      this.#finish();
      return agent.reason === undefined ? this.#return(operation) : this.#following(operation);
    }
    if (mayWait && !isAllHere(agent)) {
      this.#finish();
      const waiting = this.#operation(operation);
      if (waiting !== undefined) waiting.waits++;
      return this.#awaitArrival(operation);
    }
    if (agent.isByWord && agent.disk.founding !== undefined) {
      task.at = "is_founded";
      return this.#findOwn();
    }
    this.#send(task);
  }

  #send(task: Extract<Task, { kind: "found" }>): void {
    const agent = this.#agent;
    const { disk, name } = agent;
    if (permit(agent) === undefined && this.#guards.permitToEnter || disk.stop === undefined) {
      this.#finish();
      return this.#return(task.operation);
    }
    disk.founding ??= `founding of ${name}`;
    task.at = "sent";
    const { relay } = this.#world;
    const { epoch: baseEpoch, hash: bad, sender: blamed } = disk.stop;
    const members = Object.keys(relay.members).filter((member) => member !== blamed);
    const generation = generationOf(nextFounding(agent));
    this.#call({ by: "task" }, {
      op: "FoundGeneration",
      hash: disk.founding,
      generation,
      baseEpoch,
      bad,
      blamed,
      members,
    });
  }

  #answerFound(
    task: Extract<Task, { kind: "found" }>,
    request: Request,
    reply: Reply | Refused,
  ): void {
    const agent = this.#agent;
    const { operation } = task;
    const isTransport = "refused" in reply && reply.refused === "transport_error";
    if (request.op === "FoundGeneration" && "refused" in reply && !isTransport) {
      task.at = "check";
      return this.#findOwn();
    }
    this.#finish();
    if ("refused" in reply) return this.#return(operation);
    if (request.op === "FoundGeneration") {
      // cast: the request was a FoundGeneration
      this.#enter((reply as Replies["FoundGeneration"]).sequence, permit(agent));
      return this.#return(operation);
    }
    // cast: the request was a FindCommit
    const { commit } = reply as Replies["FindCommit"];
    const isOurs = commit !== undefined && commit.hash === agent.disk.founding;
    if (task.at === "check") {
      if (isOurs) this.#enter(commit.sequence, permit(agent));
      return isOurs || commit === undefined ? this.#return(operation) : this.#following(operation);
    }
    if (isOurs) return this.#following(operation);
    agent.tasks.unshift({ ...task, at: "sent", isWaiting: true });
    // cast: the task that was just put back
    this.#send(agent.tasks[0] as Extract<Task, { kind: "found" }>);
  }

  /** Waits until this agent is in the generation that somebody has begun. */
  #following(operation: number): void {
    const waiting = this.#operation(operation);
    if (waiting !== undefined) waiting.at = "following";
  }

  #endFollowing(): void {
    const { operations, disk: { group } } = this.#agent;
    const isThere = ({ at, until }: Operation): boolean =>
      at === "following" && group.epoch >= until;
    if (operations.some(isThere)) {
      this.#agent.operations = operations.filter((each) => !isThere(each));
    }
  }

  /** It has waited for long enough. */
  followingLate(operation: number): void {
    this.#return(operation);
  }

  // Messages and commits

  send(): void {
    const { disk } = this.#agent;
    this.#checkCompared("sent");
    disk.counter++;
    disk.usedKeys++;
    const { counter, usedKeys: keyNumber, group } = disk;
    const id = `message ${++this.#world.messages}`;
    this.#call({ by: "message", group }, {
      op: "SendMessage",
      epoch: group.epoch,
      id,
      counter,
      keyNumber,
    });
  }

  /**
   * The program wants to change the channel. Without a permit, or beside an open commit, it is told
   * so: `crossing_commits.ts` has those that wait.
   */
  change(): void {
    const agent = this.#agent;
    const { disk, isUnderWay, name } = agent;
    const mayWork = permit(agent) !== undefined && placeOf(agent).at === "in_step";
    if (!mayWork || disk.candidate !== undefined || isUnderWay) return;
    this.#checkCompared("committed");
    const operation = ++this.#world.operations;
    agent.operations.push({ operation, what: "commit", at: "sent", waits: 0, until: 0 });
    disk.candidate = {
      epoch: disk.group.epoch,
      hash: `commit ${operation} of ${name} in ${disk.group.epoch}`,
    };
    this.#sendCommitAgain();
  }

  #sendCommitAgain(): void {
    const agent = this.#agent;
    const { candidate, group } = agent.disk;
    if (candidate === undefined || agent.isUnderWay) return;
    agent.isUnderWay = true;
    const { epoch, hash } = candidate;
    if (epoch === group.epoch) {
      this.#call({ by: "commit", isFate: false }, { op: "SendCommit", epoch, hash });
    } else this.#call({ by: "commit", isFate: true }, { op: "FindCommit", epoch });
  }

  /** It was left open, and some time has passed. */
  commitAgain(): void {
    if (permit(this.#agent) !== undefined && placeOf(this.#agent).at === "in_step") {
      this.#sendCommitAgain();
    }
  }

  #answerCommit(isFate: boolean, reply: Reply | Refused): void {
    const agent = this.#agent;
    const { candidate } = agent.disk;
    if (candidate === undefined) return this.#endCommit();
    if (!("refused" in reply) && !isFate) {
      // cast: the request was a SendCommit
      this.#accept((reply as Replies["SendCommit"]).sequence);
      return this.#endCommit();
    }
    if (!("refused" in reply)) {
      // cast: the request was a FindCommit
      this.#settleCommit(reply as Replies["FindCommit"]);
      return this.#endCommit();
    }
    // An earlier copy may have been taken, of this process or of one before it: the log says what
    // became of it.
    if (!isFate) {
      return this.#call({ by: "commit", isFate: true }, {
        op: "FindCommit",
        epoch: candidate.epoch,
      });
    }
    this.#endCommit();
  }

  #endCommit(): void {
    const agent = this.#agent;
    agent.isUnderWay = false;
    agent.operations = agent.operations.filter(({ at }) => at !== "sent");
    const [task] = agent.tasks;
    if (task?.kind === "read" && task.at === "waits_for_commit") this.#readCommitted(task);
  }

  /** The log says what became of our commit, or that it may yet be taken. */
  #settleCommit({ epoch, commit }: Replies["FindCommit"]): void {
    const { candidate } = this.#agent.disk;
    if (candidate === undefined) return;
    if (commit?.hash === candidate.hash) this.#accept(commit.sequence);
    else if (commit !== undefined || epoch > candidate.epoch) this.#giveUp();
  }

  #accept(sequence: number): void {
    const { disk } = this.#agent;
    const { candidate } = disk;
    if (candidate === undefined) return;
    disk.candidate = undefined;
    if (disk.group.epoch !== candidate.epoch) {
      return this.#comeBack("another commit of that epoch was delivered", false);
    }
    const { epoch, hash } = candidate;
    this.#keep(epoch, { author: this.#agent.name, hash, added: [], removed: [] });
    disk.group = afterCommit(disk.group, hash);
    disk.usedKeys = 0;
    disk.own = Object.freeze({ sequence, epoch, hash: bytesOf(hash) });
  }

  #giveUp(): void {
    const { disk } = this.#agent;
    const { candidate } = disk;
    if (candidate === undefined) return;
    disk.anchor = withDiscarded(disk.anchor, {
      epoch: candidate.epoch,
      hash: bytesOf(candidate.hash),
    });
    disk.candidate = undefined;
  }
}

function subscribedOf({ log, sent, ...reply }: Replies["Subscribe"]): SubscriptionReply {
  const { commitHash, ...entry } = sent ?? {};
  const known = sent === undefined
    ? {}
    : { sent: { ...entry, ...(commitHash && { commitHash: bytesOf(commitHash) }) } };
  // cast: a reply as the relay's, in letters
  return { ...reply, log: bytesOf(log), ...known } as SubscriptionReply;
}

function foundOf({ epoch, commit }: Replies["FindCommit"]): FindCommitReply {
  if (commit === undefined) return { epoch };
  // cast: a reply as the relay's, in letters; its sender and its time are not looked at
  return {
    epoch,
    commit: { sequence: commit.sequence, commitHash: bytesOf(commit.hash) },
  } as FindCommitReply;
}
