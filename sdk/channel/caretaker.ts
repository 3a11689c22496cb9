/**
 * Upkeep that members do for each other without their applications: removing members that left, and re-admitting those
 * that lost their state. The online member with the lowest leaf acts at once; the others wait their turn and act if it
 * did not. Members that joined after the asker lost step come last, because the asker does not know them.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { type AgentId, type NoticeBody, readKeyPackage, verifyKeyPackage, WireError } from "../../proto/mod.ts";
import { isCode, StaticError } from "../base/errors.ts";
import { jitter } from "../base/runtime.ts";
import { MlsFault } from "../mls/codec.ts";
import { checkKeyPackage, checkLifetime, decodeKeyPackageMessage, type KeyPackage } from "../mls/key_package.ts";
import { checkLeaf } from "../mls/leaf.ts";
import { type ChannelDeps, clocksOf } from "./deps.ts";
import { toStaticError } from "./faults.ts";
import type { HealthLog } from "./health.ts";
import type { Membership, Moved, RejoinClaim } from "./membership.ts";
import type { Plan, Returning } from "./plan.ts";
import { goneAbsent } from "./plans.ts";
import type { CommitRunner } from "./runner/commit_runner.ts";
import type { KeyAgeRunner } from "./runner/key_age_runner.ts";

interface RejoinRequest extends RejoinClaim, Returning {
  readonly expiresAtMs: number;
  /** The asker's; a hint. */
  readonly epoch: number;
  /** It asks this agent and nobody else. */
  readonly named: boolean;
  /** The asker was told its present leaf. */
  leafSent: boolean;
}

type Duties = Extract<Plan, { is: "duties" }>;

/** Whether a commit failed because of what it was to do. Anything else passes, and is tried again. */
function isAboutContent(error: unknown): boolean {
  return isCode(error, "not_allowed", "invalid_request", "already_member", "unsupported_version") ||
    (error instanceof StaticError && error.cause instanceof MlsFault);
}

/** A member waits this much longer for each online member before it. */
const turnMs = 1500;
const retryMs = 5000;
const maxRequests = 100;
const dayMs = 24 * 60 * 60 * 1000;
/** Returns of one member within a day that are answered: each is a commit that all members make or follow, and costs it nothing. */
const maxReturns = 24;

export interface CaretakerParts {
  readonly membership: Membership;
  readonly commits: CommitRunner;
  readonly health: HealthLog;
  readonly ages: KeyAgeRunner;
  /** The channel has ended. */
  readonly ended: AbortSignal;
}

export class Caretaker {
  readonly #deps: ChannelDeps;
  readonly #parts: CaretakerParts;
  readonly #rejoins = new Map<AgentId, RejoinRequest>();
  /** When members came back since this process began, let in by any member. */
  readonly #returns = new Map<AgentId, readonly number[]>();
  #cancel: (() => void) | undefined;
  #busy = false;
  /** Aborted when no duty is to be begun any more; `start` makes another. */
  #stop = new AbortController();

  constructor(parts: CaretakerParts, deps: ChannelDeps) {
    this.#parts = parts;
    this.#deps = deps;
    parts.membership.onMoved((moved) => this.#moved(moved));
  }

  #moved({ removed, added }: Moved): void {
    for (const agentId of removed) {
      this.#rejoins.delete(agentId);
      if (!added.includes(agentId)) this.#returns.delete(agentId);
      else this.#returns.set(agentId, [...this.#returnsOf(agentId), this.#deps.runtime.nowMs()]);
    }
  }

  /** Within a day. */
  #returnsOf(agentId: AgentId): readonly number[] {
    const nowMs = this.#deps.runtime.nowMs();
    return (this.#returns.get(agentId) ?? []).filter((timeMs) => Math.abs(nowMs - timeMs) < dayMs);
  }

  /** Somebody left, or the channel was opened and may have work left. */
  look(): void {
    const { signal } = this.#stop;
    if (!signal.aborted) this.#parts.ages.look();
    if (signal.aborted || this.#busy || !this.#hasWork()) return;
    this.#busy = true;
    this.#turn().then((ms) => this.#workAfter(ms, signal));
  }

  #workAfter(ms: number, signal: AbortSignal): void {
    if (!signal.aborted) this.#cancel = this.#deps.runtime.after(ms, () => void this.#work(signal));
  }

  /**
   * A member that lost its state asks to be admitted again. Returns whether the request is genuine, as far as it was
   * checked: only so many members are looked at, and the others ask again. A member that asks too often has no answer.
   */
  rejoin(request: NoticeBody<"DeliverRejoinRequest">): boolean {
    const { agentId, requestId, expiresAtMs, epoch, answerer } = request;
    if (this.#rejoins.size >= maxRequests && !this.#rejoins.has(agentId)) return true;
    const claim = this.#claimOf(request);
    if (claim === undefined) return false;
    if (this.#returnsOf(agentId).length >= maxReturns) {
      const text =
        `${agentId} came back ${maxReturns} times within a day, and asks again: this agent does not answer before a ` +
        "day is over. Its data directory is misused, or the relay keeps it out of step; an owner may remove it";
      this.#parts.health.report("refused_join", text);
      return true;
    }
    const named = answerer === this.#deps.agentId;
    this.#rejoins.set(agentId, { ...claim, requestId, expiresAtMs, epoch, named, leafSent: false });
    this.look();
    return true;
  }

  /** Whether a member asks to come back from where this agent knows it to be: it cannot follow either. */
  isStuckHere(request: NoticeBody<"DeliverRejoinRequest">): boolean {
    const claim = this.#claimOf(request);
    return claim !== undefined && this.#parts.membership.judgeLeaf(claim) === "present";
  }

  /** Whether a member signed that it has left for a generation of the channel, and asks to be let in there. */
  hasLeftFor(request: NoticeBody<"DeliverRejoinRequest">, generation: number): boolean {
    return this.#claimOf(request, generation) !== undefined;
  }

  /** As its agent signed it; undefined when it is not genuine. */
  #claimOf(
    request: NoticeBody<"DeliverRejoinRequest">,
    generation?: number,
  ): RejoinClaim & Pick<RejoinRequest, "keyPackage"> | undefined {
    const { agentId, leafHash, signature } = request;
    const keyPackage = this.#readKeyPackage(request);
    if (keyPackage === undefined) return undefined;
    const signatureKey = keyPackage.leafNode.signaturePublicKey;
    const claim = { agentId, leafHash, signature, keyPackageHash: sha256(request.keyPackage), signatureKey };
    return this.#parts.membership.isRejoinOf(claim, generation) ? { ...claim, keyPackage } : undefined;
  }

  /**
   * Undefined when it is not one, not the asker's, or such that no commit could add it. Two decoders read it, and each may refuse
   * what the other takes.
   */
  #readKeyPackage(request: NoticeBody<"DeliverRejoinRequest">): KeyPackage | undefined {
    const { group: { current }, trust } = this.#parts.membership;
    try {
      const { agentId } = verifyKeyPackage(
        readKeyPackage(request.keyPackage),
        this.#deps.relayNowMs(),
        this.#deps.signatures.verifyHandshake,
      );
      if (agentId !== request.agentId) return undefined;
      const keyPackage = decodeKeyPackageMessage(request.keyPackage);
      const { suiteId, context: { extensions } } = current;
      checkKeyPackage(keyPackage, suiteId);
      checkLifetime(keyPackage, clocksOf(this.#deps));
      checkLeaf(keyPackage.leafNode, { suiteId, extensions, policy: trust.policy });
      return keyPackage;
    } catch (error) {
      if (error instanceof WireError || error instanceof MlsFault) return undefined;
      throw error;
    }
  }

  /** This member has left: its request to come back, if it made one, is over. */
  left(agentId: AgentId): void {
    this.#rejoins.delete(agentId);
    this.look();
  }

  /** No duty is begun any more. */
  stop(): void {
    this.#stop.abort();
    this.#cancel?.();
    this.#parts.ages.rest();
  }

  /** For a process that ends. */
  finish(): Promise<void> {
    return this.#parts.ages.finish();
  }

  /** After `stop`. Work that was under way at that time starts nothing more. */
  start(): void {
    if (!this.#stop.signal.aborted || this.#parts.ended.aborted) return;
    this.#stop = new AbortController();
    this.#busy = false;
    this.look();
  }

  async #work(signal: AbortSignal): Promise<void> {
    try {
      await this.#sendLeaves();
      await this.#commit("all");
    } catch (error) {
      if (signal.aborted) return;
      const text = `Members that leave or return are still waiting: ${toStaticError(error, "Cannot commit").message}`;
      this.#parts.health.report("duty_failed", text);
      if (isAboutContent(error)) await this.#oneByOne(signal);
    }
    if (signal.aborted) return;
    this.#busy = false;
    if (!this.#hasWork()) return;
    this.#busy = true;
    this.#workAfter(jitter(this.#deps.runtime, retryMs), signal);
  }

  /** One request that cannot be granted must not keep the others waiting: it is found by trying each alone, and dropped. */
  async #oneByOne(signal: AbortSignal): Promise<void> {
    // Those that leave first, who ask for nothing.
    if (!await this.#isDone("none")) return;
    for (const request of this.#waiting("present")) {
      if (signal.aborted) return;
      // Its asker may have another leaf by now.
      const isOpen = (): boolean => this.#waiting("present").includes(request);
      if (await this.#isDone(request.requestId) || !isOpen()) continue;
      this.#rejoins.delete(request.agentId);
      const text = `A request of ${request.agentId} to rejoin cannot be granted; it may ask again`;
      this.#parts.health.report("refused_join", text);
    }
  }

  /** Whether a commit succeeded, or failed for a reason that lies elsewhere. */
  async #isDone(of: Duties["of"]): Promise<boolean> {
    try {
      await this.#commit(of);
      return true;
    } catch (error) {
      return !isAboutContent(error);
    }
  }

  async #commit(of: Duties["of"]): Promise<void> {
    await this.#parts.commits.commit({ is: "duties", of });
  }

  /** Members whose requests to come back can be granted now. */
  get returning(): readonly Returning[] {
    return this.#waiting("present");
  }

  /** Tells members that signed about an outdated leaf their present one, so that they ask again. */
  async #sendLeaves(): Promise<void> {
    const { membership } = this.#parts;
    for (const request of this.#waiting("other")) {
      const place = membership.leafOf(request.agentId);
      if (place === undefined || request.leafSent) continue;
      request.leafSent = true;
      const { requestId } = request;
      const { leafIndex, leaf: { encoded: leafNode } } = place;
      const body = { channelId: membership.channelId, requestId, leafIndex, leafNode };
      await this.#deps.session.call("SendLeaf", body).catch((error) => {
        if (!isCode(error, "not_found", "not_allowed")) throw error; // it was answered, or made anew, meanwhile
      });
    }
  }

  /** Members have left that a commit of ours removes. */
  get #isLeft(): boolean {
    const { membership, commits } = this.#parts;
    return !commits.isWithoutLeavers && membership.leavers.length > 0;
  }

  #hasWork(): boolean {
    const { membership } = this.#parts;
    return this.#isLeft || membership.wantsOwnLeaf || goneAbsent(membership).length > 0 ||
      this.#waiting("present").length > 0 ||
      this.#waiting("other").some(({ leafSent }) => !leafSent);
  }

  /** Requests that have not expired, of members that are still in the group and have not left since. */
  #waiting(leaf: "present" | "other"): RejoinRequest[] {
    const nowMs = this.#deps.relayNowMs();
    const { membership } = this.#parts;
    const leaving = new Set(membership.leavers.map(({ agentId }) => agentId));
    return [...this.#rejoins.values()].filter((request) => {
      const { agentId, expiresAtMs } = request;
      const found = expiresAtMs < nowMs || leaving.has(agentId) ? "gone" : membership.judgeLeaf(request);
      if (found === "gone") this.#rejoins.delete(agentId);
      return found === leaf;
    });
  }

  /** How long to wait for those that come before us. */
  async #turn(): Promise<number> {
    const { membership } = this.#parts;
    const { self } = membership.group;
    const requests = [...this.#rejoins.values()];
    const alone = requests.length === 0 && !this.#isLeft;
    if (alone || requests.some(({ named }) => named)) return 0;
    const hint = Math.min(...requests.map(({ epoch }) => epoch));
    const isLate = (agentId: AgentId): number => Number(membership.joinedAfter(agentId, hint));
    try {
      const { members } = await this.#deps.session.call("ListMembers", { channelId: membership.channelId });
      const present = new Set(
        members.filter(({ online, leaving }) => online && !leaving).map(({ agentId }) => agentId),
      );
      const before = membership.group.members().filter(({ leafIndex, agentId }) => {
        const order = isLate(agentId) - isLate(self.agentId) || leafIndex - self.leafIndex;
        return order < 0 && present.has(agentId) && !this.#rejoins.has(agentId);
      });
      return before.length * turnMs;
    } catch {
      return jitter(this.#deps.runtime, turnMs);
    }
  }
}
