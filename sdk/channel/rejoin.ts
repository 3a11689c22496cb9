/**
 * The way back for a member that cannot follow the log any more: it asks, with the key of its leaf, to be removed and added
 * again. Until a member answers it asks again from time to time. Anybody can make a Welcome that is worth nothing, so such an
 * answer is reported and never the end: the next request has another KeyPackage and names the member that shall answer, owners
 * first. What was said in between is lost to it, and reported.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { type AgentId, equalBytes, type NoticeBody, rejoinStatement } from "../../proto/mod.ts";
import { createDeferred } from "../base/deferred.ts";
import { isCode, type StaticError } from "../base/errors.ts";
import { jitter, pause } from "../base/runtime.ts";
import { Group } from "../mls/group.ts";
import type { OwnKeyPackage } from "../mls/key_package.ts";
import { isOwnLeaf } from "../mls/leaf.ts";
import type { Member } from "../mls/members.ts";
import { type ChannelDeps, memberDepsOf } from "./deps.ts";
import { writeEntered } from "./entering.ts";
import { toStaticError } from "./faults.ts";
import type { HealthLog } from "./health.ts";
import type { Membership } from "./membership.ts";
import type { Doubt } from "./store_age.ts";
import type { Welcome } from "./welcomes.ts";
import { type RecordChange, StoreError } from "../store/mod.ts";

type DeliverLeaf = NoticeBody<"DeliverLeaf">;

const firstPauseMs = 1000;
const maxPauseMs = 60_000;
/** A request that nobody answered this long is made anew. */
const answerMs = 10_000;
/** Leaves that one request is told before the next member is asked: a liar may send old ones. */
const maxLeaves = 4;
/** KeyPackages of requests whose answers were worth nothing: the group may have such a leaf now, so their keys stay a while. */
const maxSpent = 8;

export interface RejoinParts {
  readonly membership: Membership;
  readonly health: HealthLog;
  /** In again: the log goes on after this entry. */
  readonly onJoined: (joinedSequence: number) => Promise<void>;
  /** There is no way back. */
  readonly onRefused: (error: StaticError) => void;
}

interface Opened {
  /** The member that made the Welcome. */
  readonly maker: Member;
  readonly group: Group;
  readonly own: OwnKeyPackage;
  readonly used: readonly RecordChange[];
}

export class Rejoiner {
  readonly #deps: ChannelDeps;
  readonly #parts: RejoinParts;
  readonly #stop = new AbortController();
  /** Ends the pause before the next request. */
  #endPause: () => void = () => {};
  #reason: string | undefined;
  /** Our present leaf, as far as we know. */
  #leaf: Uint8Array | undefined;
  /** Told while a request is open. */
  #onLeaf: (leaf: DeliverLeaf) => void = () => {};
  #own: OwnKeyPackage | undefined;
  #spent: OwnKeyPackage[] = [];
  /** Place in the order in which members are named; 0 names nobody. */
  #asked = 0;

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
    return this.#reason !== undefined && this.#asked > 0;
  }

  start({ reason, settle = () => Promise.resolve(), named = false }: Doubt): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#leaf = undefined;
    this.#asked = named ? 1 : 0;
    settle(this.#stop.signal).then(() => this.#run()).catch((fault) => {
      this.#reason = undefined;
      this.#parts.onRefused(toStaticError(fault, "Cannot rejoin"));
    });
  }

  /** There is a connection again: whoever waited for one asks at once. */
  hurry(): void {
    this.#endPause();
  }

  stop(): void {
    this.#stop.abort();
    this.#endPause();
  }

  /** A member says what our present leaf is. It is believed if we made it for this group, joined with it, or hold its keys. */
  leaf(told: DeliverLeaf): void {
    this.#onLeaf(told);
  }

  async #run(): Promise<void> {
    for (let tries = 0; !this.#stop.signal.aborted; tries++) {
      try {
        const own = this.#own ??= await this.#deps.keyPackages.create();
        const welcome = await this.#ask(own);
        if (welcome !== undefined && await this.#enter(welcome)) return;
        // A member that was named and is silent makes room for the next one.
        if (welcome === undefined && this.#asked > 0) this.#asked++;
      } catch (error) {
        // Any other refusal is the relay's word, and no reason to give up.
        if (isCode(error, "not_found")) throw error;
      }
      const ms = Math.min(firstPauseMs * 2 ** tries, maxPauseMs);
      if (!this.#stop.signal.aborted) await this.#pause(jitter(this.#deps.runtime, ms));
    }
  }

  async #pause(ms: number): Promise<void> {
    const end = new AbortController();
    this.#endPause = () => end.abort();
    await pause(this.#deps.runtime, ms, end.signal);
  }

  /** One request and its answer, or undefined when there was none. */
  async #ask(own: OwnKeyPackage): Promise<Welcome | undefined> {
    const { promise, resolve } = createDeferred<Welcome>();
    let here: Welcome | undefined;
    const forget = this.#deps.welcomes.expect(this.#parts.membership.channelId, (welcome) => {
      resolve(here = welcome);
      return true;
    });
    const stop = new AbortController();
    try {
      // One that came before we asked answers an earlier request.
      if (here !== undefined) return here;
      this.#stop.signal.addEventListener("abort", () => stop.abort(), { signal: stop.signal });
      for (let told = 0; told <= maxLeaves; told++) {
        const leaf = this.#nextLeaf();
        await this.#request(own, stop.signal);
        const late = pause(this.#deps.runtime, answerMs, stop.signal).then(() => undefined);
        const answer = await Promise.race([promise, leaf, late]);
        if (answer !== "leaf") return answer;
      }
      return undefined;
    } finally {
      this.#onLeaf = () => {};
      stop.abort();
      forget();
    }
  }

  /** Resolves when a member has told us another leaf of ours than we signed about. */
  #nextLeaf(): Promise<"leaf"> {
    const { promise, resolve } = createDeferred<"leaf">();
    this.#onLeaf = (told) => {
      const { leafNode } = told;
      this.#isOurs(told).then((ours) => {
        if (!ours || equalBytes(leafNode, this.#presentLeaf())) return;
        this.#leaf = leafNode;
        resolve("leaf");
      }, () => {}); // a disk that cannot be read shows elsewhere
    };
    return promise;
  }

  async #isOurs({ leafIndex, leafNode }: DeliverLeaf): Promise<boolean> {
    const { identity, signatures, keyPackages } = this.#deps;
    const { group, joinedLeaf } = this.#parts.membership;
    const { groupId } = group.current.context;
    return isOwnLeaf(leafNode, { groupId, leafIndex }, identity, signatures) ||
      equalBytes(sha256(leafNode), joinedLeaf) || await keyPackages.holdsLeaf(leafNode);
  }

  #presentLeaf(): Uint8Array {
    const { tree, ownLeaf } = this.#parts.membership.group.current;
    return this.#leaf ?? tree.leaf(ownLeaf)?.encoded ?? new Uint8Array(0);
  }

  async #request(own: OwnKeyPackage, signal: AbortSignal): Promise<void> {
    const { channelId, epoch } = this.#parts.membership;
    const { agentId, signatures, identity, session } = this.#deps;
    const leafHash = sha256(this.#presentLeaf());
    const statement = rejoinStatement({ channelId, agentId, leafHash, keyPackageHash: sha256(own.message) });
    const signature = await signatures.sign(identity.signingSeed, statement);
    const answerer = this.#answerer();
    signal.throwIfAborted();
    await session.call("RequestRejoin", {
      channelId,
      keyPackage: own.message,
      signature,
      leafHash,
      epoch,
      ...(answerer !== undefined && { answerer }),
    });
  }

  /** At first anybody; after an answer that was worth nothing one by one, owners first, and in between anybody again. */
  #answerer(): AgentId | undefined {
    const members = this.#parts.membership.group.members().filter(({ agentId }) => agentId !== this.#deps.agentId);
    const order = [undefined, ...members.filter(({ owner }) => owner), ...members.filter(({ owner }) => !owner)];
    return order[this.#asked % order.length]?.agentId;
  }

  /**
   * Answers whether the Welcome let us in. Who came back meanwhile under a known identity with another key is not shown, unless
   * an owner answers for it.
   */
  async #enter(welcome: Welcome): Promise<boolean> {
    const entered = await this.#open(welcome);
    if (typeof entered === "string") {
      this.#refuse(welcome, entered);
      return false;
    }
    const { membership } = this.#parts;
    const { group, own, used, maker } = entered;
    const { name, trust } = membership;
    const { joinedSequence: position } = welcome;
    this.#reportVanished(group.members());
    // What readers are done with from now on belongs to a membership that is over.
    membership.durable.retire();
    const entrance = { name, trust, position, used, byOwner: maker.owner, rejoined: true };
    membership.replace(await writeEntered(group, entrance, this.#deps));
    this.#reason = undefined;
    const others = [...this.#spent, ...(this.#own === undefined ? [] : [this.#own])];
    this.#own = undefined;
    this.#spent = [];
    await this.#deps.keyPackages.forget(others.filter(({ reference }) => !equalBytes(reference, own.reference)));
    this.#deps.keyPackages.renew().catch(() => {}); // the next connection does it again
    await this.#parts.onJoined(position);
    return true;
  }

  /** The group that a Welcome leads into, or why it is worth nothing: whatever somebody wrote into it, it harms nobody. */
  async #open({ welcome, sender }: Welcome): Promise<Opened | string> {
    const { membership } = this.#parts;
    const { channelId, name, trust } = membership;
    try {
      const own = await this.#deps.keyPackages.findFor(welcome);
      const expected = { channelId, name, inviter: sender, known: membership.group.binding };
      const group = Group.join(welcome, own, memberDepsOf(this.#deps, trust.policy), expected);
      const maker = group.members().find(({ agentId }) => agentId === sender);
      // A relay can make a group of strangers under our channel's id. It cannot make one in the name of a member that we have
      // met, nor of an owner, because the owners follow from those that we knew.
      if (maker === undefined || (!maker.owner && membership.memberOf(sender) === undefined)) {
        return "it was made by somebody that this agent has not met";
      }
      return { group, own, maker, used: await this.#deps.keyPackages.used(own, group.identifiers) };
    } catch (error) {
      if (error instanceof StoreError) throw error;
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** Members that are gone without our having seen why. Those that came back under other keys are reported elsewhere. */
  #reportVanished(present: readonly Member[]): void {
    const { membership, health } = this.#parts;
    const staying = new Set(present.map(({ identity }) => bytesToHex(identity)));
    for (const { agentId, identity } of membership.group.members()) {
      if (staying.has(bytesToHex(identity))) continue;
      const who = new TextDecoder().decode(identity);
      health.report("members_changed", `"${who}" (${agentId}) is no member any more since this agent came back`);
    }
  }

  #refuse({ sender }: Welcome, why: string): void {
    this.#parts.health.report("refused_welcome", `A Welcome of ${sender} to come back was refused: ${why}`);
    this.#asked++;
    if (this.#own === undefined) return;
    this.#spent.push(this.#own);
    this.#own = undefined;
    this.#deps.keyPackages.forget(this.#spent.splice(0, this.#spent.length - maxSpent)).catch(() => {});
  }
}
