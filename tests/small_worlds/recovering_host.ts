/**
 * Carries out what the real `stepRecovery` says for one member of letters: jobs at once, calls when
 * the world lets the relay answer. It judges foundings, Welcomes and leaves as the pure parts do.
 * Each promise is checked where it could be broken.
 */
import { foundingEpoch, generationOf } from "../../proto/mod.ts";
import {
  type ConnectionAnswers,
  type ConnectionVerdict,
  judgeConnection,
  newAnchor,
} from "../../sdk/channel/testing/connection.ts";
import {
  applied,
  backOf,
  badOf,
  forget,
  mayHear,
  type ReadableWelcome,
  type ReceivedWelcome,
  type RecoveryAnswer,
  type RecoveryChange,
  type RecoveryEffect,
  type RecoveryEvent,
  type RecoveryFacts,
  type RecoveryFinding,
  type RecoveryRequest,
  type RecoveryWork,
  type RecoveryWorkResult,
  restore,
  stepRecovery,
  type UnfollowableCommit,
  type UnreadableWelcome,
} from "../../sdk/channel/testing/recovery.ts";
import { bytesOf } from "./group_of_letters.ts";
import { isSame } from "./plain_state.ts";
import {
  agent,
  type LetterCall,
  type LetterGroup,
  linkFacts,
  linkPlace,
  permitOf,
  type RecoveringMember,
} from "./recovering_member.ts";
import {
  callRelay,
  type Entry,
  type Note,
  type Refused,
  type Relay,
  type Replies,
  type Reply,
  type Request,
} from "./relay_of_letters.ts";

/** A founding that was made: everything that its Welcome and its statement hold. */
export interface LetterFounding {
  readonly hash: string;
  readonly founder: string;
  readonly generation: number;
  readonly baseEpoch: number;
  /** The commit that led to the base. */
  readonly base: string;
  readonly bad: string;
  readonly blamed: string;
  readonly owners: readonly string[];
  /** Left out beside the blamed. */
  readonly without: readonly string[];
  /** An empty leaf is of a member that is absent. */
  readonly leaves: Readonly<Record<string, string>>;
  /** Its owner is not one that the others know, or it names another base. */
  readonly isFalse?: true;
}

export interface HostWorld {
  readonly relay: Relay;
  foundings: Readonly<Record<string, LetterFounding>>;
  /** Groups that a commit or a founding led into, by its hash. */
  groups: Readonly<Record<string, LetterGroup>>;
  /** The KeyPackage of the latest request of each. */
  requests: Readonly<Record<string, string>>;
  /** Members whose KeyPackages the relay has. */
  readonly present: readonly string[];
  readonly guards: RecoveryGuards;
  fault: string | undefined;
  /** As names. */
  operations: number;
  /** Grows with each look at it: limits of ways back are not for this world. */
  clock: number;
}

/** A control takes a rule out of the step. */
export interface RecoveryGuards {
  readonly step: typeof stepRecovery;
  /** Nothing is taken out of the log. */
  readonly isForGood: boolean;
  /** Whom a recovery leaves out, as owners know. */
  readonly line: readonly string[];
  /** An owner must say so. */
  readonly needsChoice: boolean;
}

const dayMs = 24 * 60 * 60 * 1000;
const maxSteps = 200;

export class RecoveringHost {
  readonly #world: HostWorld;
  readonly #member: RecoveringMember;
  readonly #queue: RecoveryEvent[] = [];
  #isStepping = false;
  #steps = 0;

  constructor(world: HostWorld, member: RecoveringMember) {
    this.#world = world;
    this.#member = member;
  }

  #broken(why: string): void {
    this.#world.fault ??= why;
  }

  push(event: RecoveryEvent): void {
    const member = this.#member;
    if (member.ended !== undefined) return;
    this.#queue.push(event);
    if (this.#isStepping) return;
    this.#isStepping = true;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      if (++this.#steps > maxSteps) {
        return this.#broken("L3: a circle of steps without time, an answer or a notice");
      }
      const { write, effects } = this.#world.guards.step(member.recovery, next, this.#facts());
      this.#write(write);
      for (const effect of effects) this.#perform(effect);
    }
    this.#isStepping = false;
    // Nothing changes them in place: copies of a state share them.
    share(member.recovery.place);
    share(member.recovery.made);
    this.#check();
  }

  /** Ends of jobs are the next events. */
  #next(event: RecoveryEvent): void {
    this.#queue.unshift(event);
  }

  #facts(): RecoveryFacts {
    const member = this.#member;
    const { disk: { group }, name, received = 0 } = member;
    const bad = badOf(member.recovery.place);
    const others = Object.keys(group.leaves).filter((each) =>
      each !== name && group.leaves[each] !== ""
    );
    return {
      permit: permitOf(member),
      isOnline: member.connection > 0,
      epoch: group.epoch,
      logGeneration: member.logGeneration,
      leaf: group.leaves[name] ?? "",
      badges: "",
      base: group.led,
      self: { agentId: agent(name), owner: group.owners.includes(name) },
      others: others.map((each) => ({ agentId: agent(each), owner: group.owners.includes(each) })),
      members: Object.keys(group.leaves).map(agent),
      claimable: Object.keys(group.leaves).filter((each) => each !== name).map(agent),
      leftOut: this.#leftOut(bad),
      isAllHere: member.isAllHere,
      isAllRead: bad === undefined || member.isAllHere || received >= bad.sequence - 1,
      isAllShown: true,
      isLeaving: false,
      welcomes: member.welcomes,
      nowMs: ++this.#world.clock * dayMs,
      relayNowMs: 0,
      jitter: (ms) => ms,
    };
  }

  #leftOut(bad: UnfollowableCommit | undefined): RecoveryFacts["leftOut"] {
    const { line, needsChoice } = this.#world.guards;
    const list = bad === undefined
      ? []
      : line.filter((each) => each !== this.#member.name).map(agent);
    return { list, ofDoor: [], counted: 4, needsChoice: needsChoice && list.length > 0 };
  }

  /** S7: a process that starts knows as much as its disk. */
  #check(): void {
    const { disk, recovery, name } = this.#member;
    if (!isSame(restore(disk.records), forget(recovery))) {
      this.#broken(`S7: ${name} starts otherwise than as it is without its memory`);
    }
  }

  #write(changes: readonly RecoveryChange[]): void {
    const member = this.#member;
    member.disk = Object.freeze({ ...member.disk, records: applied(member.disk.records, changes) });
    for (const change of changes) {
      if (change.type === "generation") this.#enterGeneration(change.own?.hash);
      if (change.type === "membership") this.#enterMembership(change.welcome);
    }
  }

  #perform(effect: RecoveryEffect): void {
    const member = this.#member;
    switch (effect.type) {
      case "call":
        return this.#call(effect.call, effect.request);
      case "job":
        return this.#next({ type: "done", job: effect.job, result: this.#work(effect.work) });
      case "await_arrival":
        if (member.isAllHere) {
          return this.#next({ type: "arrived", operation: effect.operation, isLate: false });
        }
        return void member.arrivals.push(effect.operation);
      case "settle":
        return this.#settled(effect);
      case "finding":
        return this.#found(effect.finding);
      case "take_welcomes":
        member.welcomes = [];
        return;
      case "wake":
      case "report":
      case "forget_keys":
        return;
    }
  }

  /** S9: a call that returns has left out whom it named. */
  #settled({ operation, refusal }: Extract<RecoveryEffect, { type: "settle" }>): void {
    const member = this.#member;
    const { [operation]: named = [], ...others } = member.named;
    const still = named.filter((each) => member.disk.group.leaves[each] !== undefined);
    if (refusal === undefined && still.length > 0) {
      this.#broken(`S9: a recover() without ${named} has returned, and ${still} is in the group`);
    }
    member.operations = member.operations.filter((each) => each !== operation);
    member.named = Object.freeze(others);
  }

  #found(finding: RecoveryFinding): void {
    const member = this.#member;
    switch (finding.type) {
      case "all_arrived":
        return this.#arrived();
      case "outside":
        if (!finding.hears && member.link !== "offline") member.link = "silent";
        return this.#arrived();
      case "hold":
        member.link = "silent";
        return;
      case "retry":
      case "membership":
        // Judged anew, on the same connection.
        if (member.connection > 0) member.link = "connected";
        return;
      case "generation":
        this.#arrived();
        if (member.connection > 0) member.link = "connected";
        return;
      case "over":
      case "gone":
        return this.#end(finding.type);
      case "stopped":
      case "in_step":
      case "founding_settled":
        return;
    }
  }

  #end(why: string): void {
    const member = this.#member;
    member.ended ??= why;
    member.operations = [];
    member.named = {};
    member.calls = [];
  }

  #arrived(): void {
    const member = this.#member;
    member.isAllHere = true;
    for (const operation of member.arrivals.splice(0)) {
      this.#queue.push({ type: "arrived", operation, isLate: false });
    }
  }

  arrivalLate(operation: number): void {
    const member = this.#member;
    member.arrivals = member.arrivals.filter((each) => each !== operation);
    this.push({ type: "arrived", operation, isLate: true });
  }

  // Calls

  #call(call: number, request: RecoveryRequest): void {
    if (request.to === "ClaimForFounding") {
      return void this.#member.calls.push({
        call,
        request: { op: "FindCommit", epoch: 0 },
        isClaim: true,
      });
    }
    this.#member.calls.push(
      Object.freeze({ call, request: Object.freeze(this.#letters(request)) }),
    );
  }

  #letters(request: Exclude<RecoveryRequest, { to: "ClaimForFounding" }>): Request {
    switch (request.to) {
      case "FindCommit":
        return { op: "FindCommit", epoch: request.epoch };
      case "ReadOwn":
        return { op: "ReadOwn", sequence: request.sequence };
      case "RequestRejoin": {
        const { name } = this.#member;
        this.#world.requests = Object.freeze({ ...this.#world.requests, [name]: request.own });
        return { op: "RequestRejoin", generation: request.generation, leaf: request.leaf };
      }
      case "FoundGeneration": {
        const founding = this.#world.foundings[request.hash];
        if (founding === undefined) throw new TypeError("an unknown founding is sent");
        const { hash, generation, baseEpoch, bad, blamed, leaves } = founding;
        if (!this.#member.disk.records.foundings.some((made) => made.hash === hash)) {
          this.#broken("S1: a founding is sent that is not on disk");
        }
        return {
          op: "FoundGeneration",
          hash,
          generation,
          baseEpoch,
          bad,
          blamed,
          members: Object.keys(leaves),
        };
      }
    }
  }

  answer({ call, request, isClaim }: LetterCall, reply: Reply | Refused): void {
    if (isClaim === true) {
      return this.push({ type: "answered", call, answer: { to: "ClaimForFounding" } });
    }
    if ("refused" in reply) {
      const refusal = { code: reply.refused, text: reply.refused };
      if (reply.refused === "transport_error") return this.push({ type: "lost", call, refusal });
      return this.push({
        type: "refused",
        call,
        refusal,
        ...(reply.epoch !== undefined && { epoch: reply.epoch }),
      });
    }
    this.push({ type: "answered", call, answer: answerOf(request, reply) });
  }

  // Jobs

  #work(work: RecoveryWork): RecoveryWorkResult {
    switch (work.of) {
      case "proof":
        return { of: "proof", isProof: false };
      case "request": {
        if (work.own !== undefined) return { of: "request", own: this.#ownOf(work.own) };
        const { disk, name } = this.#member;
        this.#member.disk = Object.freeze({ ...disk, keyPackages: disk.keyPackages + 1 });
        return { of: "request", own: this.#ownOf(`${name} with ${disk.keyPackages + 1}`) };
      }
      case "leaf":
        return { of: "leaf", isOurs: work.leaf.startsWith(this.#member.name) };
      case "welcome":
        return { of: "welcome", opened: this.#opened(work.welcome, work.own) };
      case "founding":
        return { of: "founding", made: this.#makeFounding(work) };
      case "generation":
        return { of: "generation", why: this.#openFounding(work.generation) };
    }
  }

  #ownOf(reference: string): Extract<RecoveryWorkResult, { of: "request" }>["own"] {
    return { reference, leaf: reference, badges: "", notBeforeMs: 0, notAfterMs: Infinity };
  }

  /** A Welcome is named by the entry that carries it. */
  #opened(welcome: number, own: string | undefined): ReadableWelcome | UnreadableWelcome {
    const { name, disk: { used, group } } = this.#member;
    const entry = this.#world.relay.entries[welcome - 1];
    const into = entry && this.#world.groups[entry.hash];
    const leaf = into?.leaves[name];
    if (entry === undefined) return { why: "it is garbage", isForOwn: false };
    if (
      into === undefined || leaf === undefined || leaf === "" ||
      entry.hash.startsWith("useless") === true
    ) {
      return {
        why: "it does not open",
        isForOwn: own !== undefined && this.#world.requests[name] === own,
      };
    }
    if (used.includes(leaf)) return { why: "its keys are gone", isForOwn: false };
    if (into.epoch <= group.epoch) return { why: "it leads back", isForOwn: own === leaf };
    return {
      own: leaf,
      generation: generationOf(into.epoch),
      members: Object.keys(into.leaves).map(agent),
    };
  }

  #makeFounding(
    { bad, without }: Extract<RecoveryWork, { of: "founding" }>,
  ): { readonly hash: string; readonly members: number } {
    const { name, disk: { group } } = this.#member;
    const { present, foundings } = this.#world;
    const generation = generationOf(group.epoch) + 1;
    const number = Object.values(foundings).filter(({ founder }) => founder === name).length + 1;
    const hash = `founding ${number} of ${name}`;
    const isIn = (each: string): boolean => each !== bad.blamed && !without.includes(agent(each));
    const members = Object.keys(group.leaves).filter(isIn);
    const isHere = (each: string): boolean => each === name || present.includes(each);
    const leaves = Object.fromEntries(
      members.map((each) => [each, isHere(each) ? `${each} in ${hash}` : ""]),
    );
    const founding: LetterFounding = {
      hash,
      founder: name,
      generation,
      baseEpoch: group.epoch,
      base: group.led,
      bad: bad.hash,
      blamed: bad.blamed,
      owners: group.owners.filter(isIn),
      without,
      leaves,
    };
    this.#world.foundings = Object.freeze({
      ...this.#world.foundings,
      [hash]: Object.freeze(founding),
    });
    return { hash, members: members.filter(isHere).length };
  }

  #openFounding(generation: number): string | undefined {
    const { name } = this.#member;
    const entry = this.#world.relay.entries.find(({ kind, epoch }) =>
      kind === "founding" && epoch === foundingEpoch(generation)
    );
    const founding = entry && this.#world.foundings[entry.hash];
    return founding?.leaves[name] ? undefined : "this agent is not among the welcomed";
  }

  // The group

  #enterGeneration(own: string | undefined): void {
    const member = this.#member;
    const { group } = member.disk;
    if (permitOf(member) === undefined) {
      this.#broken("S2: a generation is entered without a permit");
    }
    const generation = generationOf(group.epoch) + 1;
    const entry = this.#world.relay.entries.find(({ kind, epoch }) =>
      kind === "founding" && epoch === foundingEpoch(generation)
    );
    const hash = own ?? entry?.hash ?? "";
    const founding = this.#world.foundings[hash];
    if (founding === undefined || entry?.hash !== hash) {
      return this.#broken("S5: a founding is entered that the log does not hold");
    }
    const { epoch, sequence } = entry;
    this.#move(groupAfter(founding));
    const { anchor } = member.disk;
    member.disk = Object.freeze({
      ...member.disk,
      anchor: { ...anchor, joinedSequence: undefined },
      own: own === undefined ? undefined : Object.freeze({ sequence, epoch, hash: bytesOf(hash) }),
      kept: [],
    });
    this.#moveTo(Math.max(member.received ?? 0, sequence));
  }

  #enterMembership(welcome: number): void {
    const member = this.#member;
    const entry = this.#world.relay.entries[welcome - 1];
    const into = entry && this.#world.groups[entry.hash];
    if (entry === undefined || into === undefined) {
      return this.#broken("S5: a membership of no entry is entered");
    }
    this.#move(into);
    const { disk } = member;
    member.disk = Object.freeze({
      ...disk,
      anchor: newAnchor(entry.sequence),
      own: undefined,
      kept: [],
      used: [...disk.used, into.leaves[member.name] ?? ""],
    });
    member.received = undefined;
    this.#moveTo(entry.sequence);
  }

  /** By the log alone: so honest members that reach an epoch reach the same one. */
  #move(group: LetterGroup): void {
    const { relay: { entries } } = this.#world;
    const began = entries.find(({ kind, epoch }) =>
      kind !== "message" && epoch === group.epoch - 1
    );
    if (began?.hash !== group.led) {
      this.#broken("S5: an epoch is reached by something that the log does not hold there");
    }
    this.#member.disk = Object.freeze({ ...this.#member.disk, group });
  }

  #moveTo(sequence: number): void {
    const member = this.#member;
    member.received = sequence;
    member.disk = Object.freeze({ ...member.disk, position: sequence });
  }

  // The connection

  connected(connection: number): void {
    const member = this.#member;
    member.connection = connection;
    member.link = "connected";
    member.isAllHere = badOf(member.recovery.place) === undefined;
    this.push({ type: "connected" });
  }

  /** Calls that are on their way end with the connection. */
  disconnected(): void {
    const member = this.#member;
    member.connection = 0;
    member.link = "offline";
    const calls = member.calls.splice(0);
    for (const call of calls) this.answer(call, { refused: "transport_error" });
  }

  /** Everything that the connection asks is answered at once. */
  judge(): void {
    const member = this.#member;
    const { relay } = this.#world;
    const bad = badOf(member.recovery.place);
    member.isAllHere = bad === undefined;
    if (bad !== undefined) {
      const found = callRelay(relay, member.name, { op: "FindCommit", epoch: bad.epoch });
      if ("refused" in found) return this.#unknown();
      // cast: the request was a FindCommit
      this.push({ type: "stop_found", ...(found as Replies["FindCommit"]) });
    }
    const place = linkPlace(member);
    if (place.at === "outside" && !place.isByWord) return void (member.link = "silent");
    const reply = this.#subscribe();
    if (reply === undefined) return this.#unknown();
    member.logGeneration = generationOf(reply.epoch);
    this.push({ type: "log_at", generation: generationOf(reply.epoch) });
    this.#judged(this.#judgement(reply), reply);
  }

  #unknown(): void {
    this.#member.link = "silent";
    this.push({ type: "ended", isRecovered: false });
  }

  #subscribe(): Replies["Subscribe"] | undefined {
    const { relay } = this.#world;
    const { name, received, disk } = this.#member;
    // Those of the subscription before.
    const session = relay.sessions[name];
    if (session !== undefined) {
      session.pipe = session.pipe.filter(({ type }) => type !== "entry" && type !== "start");
    }
    const ask = (after: number | undefined): Reply | Refused =>
      callRelay(relay, name, {
        op: "Subscribe",
        tag: 1,
        ...(after !== undefined && { after, log: disk.log }),
      });
    const first = ask(received);
    const isLost = "refused" in first && first.refused === "cursor_invalid";
    if (isLost) this.#loseLog();
    const reply = isLost ? ask(undefined) : first;
    if (session !== undefined) session.pipe = session.pipe.filter(({ type }) => type !== "start");
    // cast: the request was a Subscribe
    return "refused" in reply ? undefined : reply as Replies["Subscribe"];
  }

  #loseLog(): void {
    const member = this.#member;
    member.lostAt ??= member.received;
    member.received = undefined;
  }

  #judgement({ log: _, sent, ...reply }: Replies["Subscribe"]): ConnectionVerdict {
    const member = this.#member;
    const facts = linkFacts(member);
    const { commitHash, ...of } = sent ?? { commitHash: undefined };
    // cast: a reply as the relay's, in letters
    const subscribe = {
      ...reply,
      ...(sent !== undefined &&
        { sent: { ...of, ...(commitHash && { commitHash: bytesOf(commitHash) }) } }),
    } as NonNullable<ConnectionAnswers["subscribe"]>;
    let answers: ConnectionAnswers = { subscribe };
    for (;;) {
      const remembered = {
        lostAt: member.lostAt,
        asked: undefined,
        epoch: facts.epoch,
        place: facts.place.at,
        number: 1,
      };
      const judgement = judgeConnection(answers, remembered, facts);
      if (!("ask" in judgement)) return judgement;
      answers = { ...answers, ...this.#reply(judgement) };
    }
  }

  #reply({ ask, epoch = 0 }: Extract<ConnectionVerdict, { ask: unknown }>): ConnectionAnswers {
    const { relay } = this.#world;
    const { name } = this.#member;
    if (ask === "put_back") return { put_back: this.#putBack(epoch) };
    // cast: the request was a FindCommit
    const { commit, ...found } = callRelay(relay, name, {
      op: "FindCommit",
      epoch,
    }) as Replies["FindCommit"];
    const known = commit &&
      { commit: { sequence: commit.sequence, commitHash: bytesOf(commit.hash) } };
    // cast: a question that FindCommit answers, in letters
    return { [ask]: { ...found, ...known } } as ConnectionAnswers;
  }

  /** Commits that the log has lost, in their order, as far as they are kept. */
  #putBack(from: number): NonNullable<ConnectionAnswers["put_back"]> {
    const { relay } = this.#world;
    const { name } = this.#member;
    let [commits, sequence] = [0, 0];
    for (const { epoch, hash, sender, added, removed } of this.#member.disk.kept) {
      if (epoch < from) continue;
      const reply = callRelay(relay, name, {
        op: "SendCommit",
        epoch,
        hash,
        added,
        removed,
        author: sender,
      });
      if ("refused" in reply || !("sequence" in reply)) break;
      commits++;
      sequence = reply.sequence;
    }
    return { commits, own: 0, sequence };
  }

  #judged(
    judgement: ConnectionVerdict,
    { joinedSequence, after, head }: Replies["Subscribe"],
  ): void {
    const member = this.#member;
    if (!("again" in judgement)) member.lostAt = undefined;
    if ("doubt" in judgement) {
      const { by, reason } = judgement.doubt;
      member.link = by === "log" ? "listening" : "silent";
      this.#arrived();
      return this.push({ type: "doubt", by, reason });
    }
    if ("ask" in judgement || "again" in judgement) {
      if ("again" in judgement && judgement.again === "without_place") this.#loseLog();
      return void (member.link = "connected");
    }
    member.link = "permit";
    const { anchor } = member.disk;
    const { log } = this.#world.relay;
    member.disk = Object.freeze({
      ...member.disk,
      log,
      anchor: { ...anchor, joinedSequence: anchor.joinedSequence ?? joinedSequence },
    });
    member.received = Math.min(member.received ?? after, head);
    callRelay(this.#world.relay, member.name, {
      op: "Acknowledge",
      consumed: member.disk.position,
    });
    this.push({ type: "permit" });
  }

  // Notices

  deliver(note: Note): void {
    const { link } = this.#member;
    switch (note.type) {
      case "entry":
        return link === "permit" || link === "listening" ? this.#readEntry(note.entry) : undefined;
      case "welcome":
        return this.#welcomed({ welcome: note.joined, sender: this.#senderOf(note.joined) });
      case "leaf":
        return this.push({
          type: "leaf",
          told: { number: 0, requestId: "request", leaf: note.leaf, sender: agent("somebody") },
        });
      case "rejoin":
        // The relay may take back its word now: what it had lost can be put back while that member
        // asks.
        if (this.#isByWord) return void (this.#member.link = "connected");
        return this.push({
          type: "asker",
          agentId: agent(note.agent),
          generation: note.generation,
        });
      case "end":
        return this.push({ type: "ended", isRecovered: note.reason === "recovered" });
      case "start":
        return;
    }
  }

  get #isByWord(): boolean {
    const { place } = this.#member.recovery;
    return place.at === "outside" && place.back.by === "word";
  }

  #welcomed(told: ReceivedWelcome): void {
    const member = this.#member;
    const back = backOf(member.recovery.place);
    if (back !== undefined && mayHear(back)) return this.push({ type: "welcome", told });
    if (!member.welcomes.some(({ welcome }) => welcome === told.welcome)) {
      member.welcomes.push(told);
    }
  }

  #senderOf(welcome: number): ReturnType<typeof agent> {
    return agent(this.#world.relay.entries[welcome - 1]?.sender ?? "nobody");
  }

  #readEntry(entry: Entry): void {
    const member = this.#member;
    const { recovery: { place }, disk: { group } } = member;
    const bad = badOf(place);
    if (entry.kind === "founding") return this.#readFounding(entry);
    if (bad !== undefined && entry.sequence >= bad.sequence) {
      return this.push({ type: "stop_read", isStop: entry.sequence === bad.sequence });
    }
    if (place.at === "apart" && generationOf(entry.epoch) >= place.foreign.generation) return;
    if (entry.sequence <= (member.received ?? 0)) return;
    if (entry.epoch > group.epoch) return this.#readAhead(entry);
    this.#moveTo(entry.sequence);
    if (entry.kind === "commit" && entry.epoch === group.epoch) this.#follow(entry);
  }

  /**
   * A founding of ours may explain what another member signed in the next generation. The entry
   * comes again when that is known.
   */
  #readAhead({ epoch, sender }: Entry): void {
    const { recovery: { made, isLeftFor }, disk: { group } } = this.#member;
    const generation = generationOf(epoch);
    if (made.length === 0 || isLeftFor || generation !== generationOf(group.epoch) + 1) {
      return this.push({ type: "out_of_step", reason: "a commit is missing" });
    }
    this.push({ type: "asker", agentId: agent(sender), generation });
    this.#member.link = "connected";
  }

  #follow(entry: Entry): void {
    const member = this.#member;
    const { name, disk: { group } } = member;
    const { hash, removed, added, sequence, sender, epoch } = entry;
    if (hash.startsWith("bad") && !hash.includes(name)) {
      const bad: UnfollowableCommit = {
        sequence,
        epoch,
        hash,
        blamed: agent(sender),
        reason: "bad",
        sinceMs: 0,
      };
      this.#moveTo(sequence - 1);
      return this.push({ type: "cannot_follow", bad, reason: "bad" });
    }
    if (removed.includes(name)) {
      return this.push({ type: "removed", isAgain: added.includes(name), reason: "removed" });
    }
    const into = this.#world.groups[hash] ?? afterLetterCommit(group, hash, removed);
    this.#world.groups = Object.freeze({ ...this.#world.groups, [hash]: into });
    this.#move(into);
    this.push({ type: "moved", from: group.led });
    const kept = { epoch, hash, sender, added, removed };
    member.disk = Object.freeze({ ...member.disk, kept: [...member.disk.kept, kept] });
  }

  #readFounding({ hash, sequence, epoch, sender }: Entry): void {
    const member = this.#member;
    const { disk: { group }, recovery: { place } } = member;
    const generation = generationOf(epoch);
    const founding = this.#world.foundings[hash];
    if (founding === undefined || sequence <= (member.received ?? 0)) return;
    if (generation <= generationOf(group.epoch)) return this.#moveTo(sequence);
    const bad = badOf(place);
    const founder = agent(sender);
    const out = [founding.blamed, ...founding.without].map(agent);
    const verdict = founding.leaves[member.name] === undefined
      ? "refused"
      : verdictOf(founding, group, bad);
    this.push({ type: "founding", generation, founder, out, reason: "judged", verdict });
  }

  // Helpers of the world

  /** This member changes something. */
  commit(): void {
    const { relay } = this.#world;
    const { disk, name: sender } = this.#member;
    const { group, group: { epoch } } = disk;
    const hash = `commit in ${epoch} of ${relay.log} by ${sender}`;
    const reply = callRelay(relay, sender, { op: "SendCommit", epoch, hash });
    if (!("refused" in reply)) this.#committed(afterLetterCommit(group, hash, []), []);
  }

  #committed(into: LetterGroup, added: readonly string[]): void {
    const { disk, disk: { group }, name: sender } = this.#member;
    const { epoch } = group;
    const hash = into.led;
    this.#world.groups = Object.freeze({ ...this.#world.groups, [hash]: Object.freeze(into) });
    this.#move(into);
    const entry = this.#world.relay.entries.length;
    this.#moveTo(entry);
    this.#member.disk = Object.freeze({
      ...this.#member.disk,
      own: Object.freeze({ sequence: entry, epoch, hash: bytesOf(hash) }),
      kept: [...disk.kept, { epoch, hash, sender, added, removed: added }],
    });
    this.push({ type: "moved", from: group.led });
    this.push({ type: "own_commit" });
  }

  /** This member answers somebody's request: by a commit, or by telling its leaf. */
  letIn(name: string): void {
    const { relay } = this.#world;
    const request = relay.asking.find((asking) => asking.agent === name);
    const keyPackage = this.#world.requests[name];
    const { disk: { group }, name: sender } = this.#member;
    const leaf = group.leaves[name];
    if (request === undefined || keyPackage === undefined || leaf === undefined) return;
    if (request.leaf !== leaf) {
      relay.asking = Object.freeze(relay.asking.filter(({ agent }) => agent !== name));
      relay.sessions[name]?.pipe.push({ type: "leaf", leaf });
      return;
    }
    const hash = `commit in ${group.epoch} of ${relay.log}`;
    const into = {
      ...afterLetterCommit(group, hash, []),
      leaves: { ...group.leaves, [name]: keyPackage },
    };
    const reply = callRelay(relay, sender, {
      op: "SendCommit",
      epoch: group.epoch,
      hash,
      added: [name],
      removed: [name],
    });
    if (!("refused" in reply)) this.#committed(into, [name]);
  }
}

function share<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) share(part);
  return Object.freeze(value);
}

function answerOf(request: Request, reply: Reply): RecoveryAnswer {
  switch (request.op) {
    case "FindCommit": {
      // cast: the request was a FindCommit
      const { commit } = reply as Replies["FindCommit"];
      return { to: "FindCommit", ...(commit && { commit }) };
    }
    case "FoundGeneration":
      // cast: the request was a FoundGeneration
      return { to: "FoundGeneration", sequence: (reply as Replies["FoundGeneration"]).sequence };
    case "RequestRejoin":
      return { to: "RequestRejoin", requestId: "request" };
    default:
      return { to: "ReadOwn" };
  }
}

export function afterLetterCommit(
  group: LetterGroup,
  hash: string,
  removed: readonly string[],
): LetterGroup {
  const leaves = Object.fromEntries(
    Object.entries(group.leaves).filter(([name]) => !removed.includes(name)),
  );
  const owners = group.owners.filter((owner) => leaves[owner] !== undefined);
  return Object.freeze({ epoch: group.epoch + 1, led: hash, leaves, owners, parent: group.led });
}

export function groupAfter({ hash, generation, leaves, owners }: LetterFounding): LetterGroup {
  return Object.freeze({
    epoch: foundingEpoch(generation) + 1,
    led: hash,
    leaves,
    owners,
    parent: undefined,
  });
}

/** As `judgeFounding` of the product. */
function verdictOf(
  { isFalse, founder, generation, baseEpoch, base, bad: named }: LetterFounding,
  group: LetterGroup,
  bad: UnfollowableCommit | undefined,
): "follow" | "behind" | "ahead" | "refused" {
  if (!group.owners.includes(founder)) {
    return bad !== undefined && baseEpoch > group.epoch ? "ahead" : "refused";
  }
  if (isFalse === true || generation !== generationOf(group.epoch) + 1) return "refused";
  if (group.epoch === baseEpoch && group.led === base && bad?.hash === named) return "follow";
  if (group.parent === base && group.led === named) return "follow";
  return "behind";
}
