/**
 * How a member that cannot follow the log any more comes back: it asks, with the key of its leaf, to be removed and
 * added again. It repeats the request from time to time until a member answers. Anybody can make a worthless Welcome,
 * or name an old leaf of ours: such an answer is reported, does not end the attempt, and the request stays open.
 * Messages sent in between are lost to the agent, and reported.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { equalBytes, generationOf, groupIdOf, type JoinRequestId, rejoinStatement } from "../../proto/mod.ts";
import { aborted } from "../base/abortable.ts";
import { createDeferred } from "../base/deferred.ts";
import { isCode, StaticError } from "../base/errors.ts";
import { jitter } from "../base/runtime.ts";
import { noLeaf } from "../mls/channel_rules.ts";
import type { OwnKeyPackage } from "../mls/key_package.ts";
import { encodeLeaf } from "../mls/leaf.ts";
import type { Member } from "../mls/members.ts";
import { Answerers } from "./answerers.ts";
import type { ChannelDeps } from "./deps.ts";
import { type Entered, writeEntered } from "./entering.ts";
import type { HealthLog } from "./health.ts";
import type { Membership } from "./membership.ts";
import type { Recovery } from "./recovery.ts";
import type { Doubt } from "./store_age.ts";
import { isFor, openWelcome, reportChanges } from "./welcome_back.ts";
import { type AskedLeaf, isNews, isOurs, type ToldLeaf } from "./told_leaf.ts";
import type { Welcome } from "./welcomes.ts";

/** A request that nobody answered this long is made anew. */
const answerMs = 10_000;
/** Leaves that one request is told before the next member is asked: a liar may send old ones. */
const maxLeaves = 4;
/** A leaf that we know to be ours is not given up at once for one that somebody tells: the answer may be on its way. */
const patienceMs = 3_000;
/** Entries that wait to be checked. A relay may send without end. */
const maxTold = 64;
/** A KeyPackage that nobody has used is made anew this long before it expires. */
const renewSeconds = 7n * 24n * 60n * 60n;

export interface RejoinParts {
  readonly membership: Membership;
  readonly health: HealthLog;
  /**
   * Writes the new membership and puts it in place of the one before. Returns whether it did: not when the channel has ended.
   * The log goes on after `joinedSequence`.
   */
  readonly onOpened: (joinedSequence: number, write: () => Promise<Entered>) => Promise<boolean>;
  /** The channel may be stopped at a commit, which others may have followed. */
  readonly recovery: () => Pick<Recovery, "stopped" | "isAgain" | "isForeign" | "changesOfReturn">;
  /** The agent cannot come back, or the attempt itself failed. */
  readonly onFault: (fault: unknown) => void;
}

type Told = { readonly welcome: Welcome } | { readonly leaf: ToldLeaf };

/**
 * The result of one wait. `spent`: our KeyPackage may be in the group, and did not let us in. `strange`: we were only
 * told leaves that we cannot know to be ours.
 */
type Outcome = "in" | "late" | "spent" | "strange" | { readonly leaf: Uint8Array };

interface Request extends AskedLeaf {
  readonly own: OwnKeyPackage;
}

export class Rejoiner {
  readonly #deps: ChannelDeps;
  readonly #parts: RejoinParts;
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #reason: string | undefined;
  /** A step that must happen before it asks; undefined when it has happened. */
  #settle: Doubt["settle"];
  /** Our present leaf, as somebody told us. */
  #leaf: Uint8Array | undefined;
  /** The generation that we want into. */
  #generation = 0;
  #own: OwnKeyPackage | undefined;
  /** KeyPackages that may be in the group, or be brought into it by a request that is valid: their keys stay. */
  #spent: OwnKeyPackage[] = [];
  #answerers = new Answerers();
  #told: Told[] = [];
  #wake: () => void = () => {};
  /** Ends the pause before the next request. */
  #endPause: () => void = () => {};

  constructor(parts: RejoinParts, deps: ChannelDeps) {
    this.#parts = parts;
    this.#deps = deps;
  }

  /** Why we are on our way back, if we are. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** An answer was worth nothing, and none has let us in yet. */
  get isUnwelcome(): boolean {
    return this.#reason !== undefined && this.#answerers.areInVain;
  }

  /** Our present leaf as bytes, as far as we know. */
  get presentLeaf(): Uint8Array {
    const { tree, ownLeaf } = this.#parts.membership.group.current;
    return this.#leaf ?? tree.leaf(ownLeaf)?.encoded ?? new Uint8Array(0);
  }

  /** Somebody told us what our present leaf is. */
  get isLeafTold(): boolean {
    return this.#leaf !== undefined;
  }

  start({ reason, settle, named = false, generation }: Doubt): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#leaf = undefined;
    this.#generation = generation ?? generationOf(this.#parts.membership.epoch);
    this.#answerers = new Answerers(named);
    this.#settle = settle;
    this.resume();
  }

  /** After `halt`, if it is still on its way. */
  resume(): void {
    if (this.#reason === undefined) return;
    this.#stop = new AbortController();
    this.#running = this.#run(this.#stop.signal).catch((fault) => {
      this.#reason = undefined;
      this.#parts.onFault(fault);
    });
  }

  /** There is a connection again: a waiting attempt asks at once. */
  hurry(): void {
    this.#endPause();
  }

  /** Resolves when it does nothing any more: it came in before, or stays where it is. */
  async halt(): Promise<void> {
    this.stop();
    await this.#running;
  }

  /** Resolves when it has come in, or has been stopped. */
  get over(): Promise<void> {
    return this.#running;
  }

  stop(): void {
    this.#stop.abort();
    this.#wake();
  }

  /** The new membership is in its place. */
  done(): void {
    this.#reason = undefined;
    this.#leaf = undefined;
    this.#told = [];
  }

  /** No request of ours is valid any more, because our leaf is another one: the keys of their KeyPackages are of no use. */
  async forgetKeys(): Promise<void> {
    const spent = this.#spent;
    this.#spent = [];
    if (spent.length > 0) await this.#deps.keyPackages.forget(spent);
  }

  /** The channel is over: nothing that it asked for is of use any more. */
  async erase(): Promise<void> {
    if (this.#own !== undefined) this.#spend(this.#own);
    await this.forgetKeys();
  }

  /** A member says what our present leaf is. It is believed if we made it for this group, joined with it, or hold its keys. */
  leaf(leaf: ToldLeaf): void {
    if (this.#reason !== undefined) this.#hear({ leaf });
  }

  #hear(told: Told): void {
    if (this.#told.length < maxTold) this.#told.push(told);
    this.#wake();
  }

  async #run(signal: AbortSignal): Promise<void> {
    await this.#settle?.(signal);
    if (signal.aborted) return;
    this.#settle = undefined;
    const forget = this.#deps.welcomes.expect(this.#parts.membership.channelId, (welcome) => {
      this.#hear({ welcome });
      return true;
    });
    try {
      // One that came before we asked answers an earlier request.
      if (await this.#wait(0, signal) === "in") return;
      while (!signal.aborted) {
        const answered = await this.#tryOnce(signal);
        if (answered === "in" || signal.aborted) return;
        const ms = this.#answerers.pass(this.#others(), answered);
        if (this.#answerers.isHopeless) this.#adviseInvite("it may have been away for too many changes of the owners");
        if (await this.#wait(jitter(this.#deps.runtime, ms), signal) === "in") return;
      }
    } finally {
      forget();
    }
  }

  async #tryOnce(signal: AbortSignal, isFirst = true): Promise<"in" | boolean> {
    try {
      return await this.#ask(signal);
    } catch (error) {
      // The channel was begun anew meanwhile: there is another group to come back into. Once without a pause.
      if (isCode(error, "epoch_conflict") && error.epoch !== undefined && this.#moveTo(generationOf(error.epoch))) {
        return isFirst && await this.#tryOnce(signal, false);
      }
      // Any other refusal is the relay's word, and not a reason to give up. Anything but a refusal is a fault of ours.
      if (!(error instanceof StaticError) || isCode(error, "not_found")) throw error;
      return false;
    }
  }

  /** Asks for what the relay names, also if that is earlier: it may have lied before. Returns whether it is a later one. */
  #moveTo(generation: number): boolean {
    const before = this.#generation;
    const isBefore = generation < generationOf(this.#parts.membership.epoch);
    if (generation === before || isBefore || this.#parts.recovery().isForeign(generation)) return false;
    this.#generation = generation;
    this.#leaf = undefined;
    return generation > before;
  }

  /** We have not been in the generation that we want into. */
  get #isNew(): boolean {
    return this.#generation > generationOf(this.#parts.membership.epoch);
  }

  /**
   * The leaf that we sign about: empty in a generation that we have not entered, until a member tells us our leaf
   * there.
   */
  #leafHash(): Uint8Array {
    if (this.#leaf === undefined && this.#isNew) return noLeaf;
    return sha256(this.presentLeaf);
  }

  /** One request, made anew for each leaf that we are told. Returns whether somebody answered, though in vain. */
  async #ask(signal: AbortSignal): Promise<"in" | boolean> {
    const signed = new Set<string>();
    for (let leaves = 0;; leaves++) {
      const own = await this.#usable();
      signed.add(bytesToHex(this.presentLeaf));
      const requestId = await this.#request(own, signal);
      if (requestId === undefined) return false;
      const outcome = await this.#wait(answerMs, signal, { own, requestId, signed });
      if (outcome === "in") return "in";
      if (typeof outcome === "string" || leaves >= maxLeaves) return leaves > 0 || outcome !== "late";
      this.#leaf = outcome.leaf;
    }
  }

  /** A KeyPackage that is in the group already cannot come into it again, and one that is nearly over helps nobody. */
  async #usable(): Promise<OwnKeyPackage> {
    const nowSeconds = BigInt(Math.floor(this.#deps.relayNowMs() / 1000));
    const own = this.#own;
    if (own !== undefined) {
      const { leafNode } = own.keyPackage;
      if (
        leafNode.lifetime.notAfter < nowSeconds + renewSeconds || equalBytes(encodeLeaf(leafNode), this.presentLeaf)
      ) this.#spend(own);
    }
    return this.#own ??= await this.#deps.keyPackages.create();
  }

  #spend(own: OwnKeyPackage): void {
    this.#spent.push(own);
    this.#own = undefined;
  }

  /** Looks at what we are told, until the time is over or something comes of it. */
  async #wait(ms: number, signal: AbortSignal, request?: Request): Promise<Outcome> {
    let isLate = ms === 0 && this.#told.length === 0;
    const end = (): void => {
      isLate = true;
      this.#wake();
    };
    let cancel = this.#deps.runtime.after(ms, end);
    if (request === undefined) this.#endPause = end;
    let leaf: Uint8Array | undefined;
    let isStrange = false;
    try {
      while (!isLate && !signal.aborted) {
        const told = this.#told.shift();
        if (told === undefined) await this.#somethingNew();
        else if ("welcome" in told) {
          const outcome = await this.#enter(told.welcome, request?.own);
          if (outcome !== "refused") return outcome;
        } else if (leaf === undefined && request !== undefined && isNews(told.leaf, request)) {
          const isNew = this.#isNew;
          if (!await isOurs(told.leaf, { generation: this.#generation, isNew }, this.#parts.membership, this.#deps)) {
            isStrange = true;
            continue;
          }
          leaf = told.leaf.leafNode;
          cancel();
          cancel = this.#deps.runtime.after(this.#patienceWith(told.leaf), end);
        }
      }
      if (leaf !== undefined) return { leaf };
      if (isStrange) this.#adviseInvite("its present leaf is one that it cannot know to be its own");
      return isStrange ? "strange" : "late";
    } finally {
      cancel();
      this.#endPause = () => {};
    }
  }

  async #somethingNew(): Promise<void> {
    const { promise, resolve } = createDeferred<void>();
    this.#wake = resolve;
    await promise;
  }

  /** An owner has no reason to lie. */
  #patienceWith({ sender }: ToldLeaf): number {
    return this.#leaf !== undefined || this.#parts.membership.memberOf(sender)?.owner === true ? 0 : patienceMs;
  }

  /** Undefined when it was stopped before. */
  async #request(own: OwnKeyPackage, signal: AbortSignal): Promise<JoinRequestId | undefined> {
    const { channelId, epoch } = this.#parts.membership;
    const { agentId, signatures, identity, session } = this.#deps;
    const [leafHash, generation] = [this.#leafHash(), this.#generation];
    const groupId = groupIdOf(channelId, generation);
    const claim = { channelId: groupId, agentId, leafHash, keyPackageHash: sha256(own.message) };
    const statement = rejoinStatement(claim);
    const signature = signatures.sign(identity.signingSeed, statement);
    const answerer = this.#answerers.next(this.#others());
    if (signal.aborted) return undefined;
    const sent = session.call("RequestRejoin", {
      channelId,
      keyPackage: own.message,
      signature,
      leafHash,
      epoch,
      generation,
      ...(answerer !== undefined && { answerer }),
    });
    return await Promise.race([sent.then(({ requestId }) => requestId), aborted(signal)]);
  }

  #others(): Member[] {
    return this.#parts.membership.group.members().filter(({ agentId }) => agentId !== this.#deps.agentId);
  }

  /**
   * Whether a Welcome let us in. Members that came back meanwhile under a known identity with another key are not shown, unless
   * an owner answers for them.
   */
  async #enter(welcome: Welcome, asked: OwnKeyPackage | undefined): Promise<"in" | "spent" | "refused"> {
    const { membership, health } = this.#parts;
    const recovery = this.#parts.recovery();
    const opened = await openWelcome(welcome, { membership, recovery }, this.#deps);
    if (typeof opened === "string") return this.#refuse(welcome, opened, asked ?? this.#own);
    const { group, own, maker } = opened;
    const { name, trust } = membership;
    const { joinedSequence: position } = welcome;
    const isIn = await this.#parts.onOpened(position, async () => {
      const present = group.members();
      reportChanges(present, membership, health);
      const used = [...opened.used, ...recovery.changesOfReturn];
      const removed = membership.removed.filter((agentId) => !present.some((member) => member.agentId === agentId));
      const known = { rejoined: true, formerly: membership.epoch, removed, known: membership.knownIn(group) };
      const entrance = { name, trust, position, used, byOwner: maker.owner, ...known };
      // Messages that readers finish from now on belong to a membership that is over.
      membership.durable.retire();
      return await writeEntered(group, entrance, this.#deps);
    });
    if (!isIn) return "refused";
    if (this.#own !== undefined) this.#spend(this.#own);
    this.#spent = this.#spent.filter(({ reference }) => !equalBytes(reference, own.reference));
    this.#deps.keyPackages.renew().catch(() => {}); // the next connection does it again
    return "in";
  }

  /** Only a Welcome that names our KeyPackage says that the group may have it now. */
  #refuse(welcome: Welcome, why: string, own: OwnKeyPackage | undefined): "spent" | "refused" {
    const { sender } = welcome;
    const text = `This agent refused a Welcome back that the relay says is of ${sender}: ${why}`;
    this.#parts.health.report("refused_welcome", text, { about: sender });
    if (own === undefined || own !== this.#own || !isFor(welcome, own)) return "refused";
    this.#answerers.refused(sender);
    this.#spend(own);
    return "spent";
  }

  #adviseInvite(why: string): void {
    const text = `This agent asked to come back and could accept none of the answers: ${why}. ` +
      "Ask an owner for a new invite token and join with it. The agent keeps asking";
    this.#parts.health.report("refused_welcome", text);
  }
}
