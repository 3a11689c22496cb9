/**
 * What members do for each other without being asked by their applications: removing those that left, and letting in
 * again those that lost their state. The online member with the lowest leaf does it at once; the others wait their turn,
 * and do it when it was not done. Who joined after the asker lost step comes last: the asker has not met it.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import {
  type AgentId,
  type JoinRequestId,
  type NoticeBody,
  readKeyPackage,
  verifyKeyPackage,
  WireError,
} from "../../proto/mod.ts";
import { isCode } from "../base/errors.ts";
import { jitter } from "../base/runtime.ts";
import { MlsFault } from "../mls/codec.ts";
import { decodeKeyPackageMessage, type KeyPackage } from "../mls/key_package.ts";
import type { Committer, Plan } from "./commits.ts";
import type { ChannelDeps } from "./deps.ts";
import { toStaticError } from "./faults.ts";
import type { HealthLog } from "./health.ts";
import type { Membership, RejoinClaim } from "./membership.ts";
import { Renewal } from "./renewal.ts";

interface RejoinRequest extends RejoinClaim {
  readonly requestId: JoinRequestId;
  readonly keyPackage: KeyPackage;
  readonly expiresAtMs: number;
  /** The asker's; a hint. */
  readonly epoch: number;
  /** It asks this agent and nobody else. */
  readonly named: boolean;
  /** The asker was told its present leaf. */
  leafSent: boolean;
}

/** A member waits this much longer for each online member before it. */
const turnMs = 1500;
const retryMs = 5000;
const maxRequests = 100;

export interface CaretakerParts {
  readonly membership: Membership;
  readonly committer: Committer;
  readonly health: HealthLog;
}

export class Caretaker {
  readonly #deps: ChannelDeps;
  readonly #parts: CaretakerParts;
  readonly #renewal: Renewal;
  readonly #rejoins = new Map<AgentId, RejoinRequest>();
  #cancel: (() => void) | undefined;
  #busy = false;
  #stopped = false;

  constructor(parts: CaretakerParts, deps: ChannelDeps) {
    this.#parts = parts;
    this.#deps = deps;
    this.#renewal = new Renewal(parts, deps);
    parts.membership.onMoved(({ removed }) => removed.forEach((agentId) => this.#rejoins.delete(agentId)));
  }

  /** Somebody left, or the channel was opened and may have work left. */
  look(): void {
    if (!this.#stopped) this.#renewal.look();
    if (this.#stopped || this.#busy || !this.#hasWork()) return;
    this.#busy = true;
    this.#turn().then((ms) => {
      if (this.#stopped) return;
      this.#cancel = this.#deps.runtime.after(ms, () => void this.#work());
    });
  }

  /** A member that lost its state asks to be let in again. Answers whether the request is genuine. */
  rejoin(request: NoticeBody<"DeliverRejoinRequest">): boolean {
    const { agentId, leafHash, signature, requestId, expiresAtMs, epoch, answerer } = request;
    const claim = { agentId, leafHash, signature, keyPackageHash: sha256(request.keyPackage) };
    const isFull = this.#rejoins.size >= maxRequests && !this.#rejoins.has(agentId);
    if (isFull || this.#parts.membership.judgeRejoin(claim) === "forged") return false;
    const keyPackage = this.#readKeyPackage(request);
    if (keyPackage === undefined) return false;
    const named = answerer === this.#deps.agentId;
    this.#rejoins.set(agentId, { ...claim, requestId, keyPackage, expiresAtMs, epoch, named, leafSent: false });
    this.look();
    return true;
  }

  /** Undefined when it is not one, or not the asker's. Two decoders read it, and each may refuse what the other takes. */
  #readKeyPackage(request: NoticeBody<"DeliverRejoinRequest">): KeyPackage | undefined {
    try {
      const verified = verifyKeyPackage(readKeyPackage(request.keyPackage), this.#deps.relayNowMs());
      return verified.agentId === request.agentId ? decodeKeyPackageMessage(request.keyPackage) : undefined;
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
    this.#stopped = true;
    this.#busy = false;
    this.#cancel?.();
    this.#renewal.stop();
  }

  /** After `stop`. */
  start(): void {
    this.#stopped = false;
    this.look();
  }

  async #work(): Promise<void> {
    try {
      await this.#sendLeaves();
      await this.#parts.committer.commit(() => this.#plan());
    } catch (error) {
      if (this.#stopped) return;
      // The relay knows these requests no more: they were made anew, perhaps for another member. Others must not wait for them.
      if (isCode(error, "not_allowed")) this.#waiting("valid").forEach(({ agentId }) => this.#rejoins.delete(agentId));
      const text = `Members that leave or return are still waiting: ${toStaticError(error, "Cannot commit").message}`;
      this.#parts.health.report("duty_failed", text);
    }
    this.#busy = false;
    if (this.#hasWork() && !this.#stopped) {
      this.#busy = true;
      this.#cancel = this.#deps.runtime.after(jitter(this.#deps.runtime, retryMs), () => void this.#work());
    }
  }

  #plan(): Plan | undefined {
    const { membership } = this.#parts;
    const rejoins = this.#waiting("valid");
    if (rejoins.length === 0 && membership.leavers.length === 0 && !membership.wantsOwnLeaf) return undefined;
    return {
      change: {
        add: rejoins.map(({ keyPackage }) => keyPackage),
        remove: rejoins.map(({ agentId }) => agentId),
        rejoins: rejoins.map(({ agentId, signature }) => ({ agentId, signature })),
      },
      answers: rejoins.map(({ requestId }) => requestId),
    };
  }

  /** Whoever signed about another leaf than it has is told its present one, and asks again. */
  async #sendLeaves(): Promise<void> {
    const { membership } = this.#parts;
    for (const request of this.#waiting("other_leaf")) {
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

  #hasWork(): boolean {
    const { leavers, wantsOwnLeaf } = this.#parts.membership;
    return leavers.length > 0 || wantsOwnLeaf || this.#waiting("valid").length > 0 ||
      this.#waiting("other_leaf").some(({ leafSent }) => !leafSent);
  }

  /** Requests that have not expired, of members that are still in the group. */
  #waiting(worth: "valid" | "other_leaf"): RejoinRequest[] {
    const nowMs = this.#deps.relayNowMs();
    return [...this.#rejoins.values()].filter((request) => {
      const found = request.expiresAtMs < nowMs ? "forged" : this.#parts.membership.judgeRejoin(request);
      if (found === "forged") this.#rejoins.delete(request.agentId);
      return found === worth;
    });
  }

  /** How long to wait for those that come before us. */
  async #turn(): Promise<number> {
    const { membership } = this.#parts;
    const { self } = membership.group;
    const requests = [...this.#rejoins.values()];
    const alone = requests.length === 0 && membership.leavers.length === 0;
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
