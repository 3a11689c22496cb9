/**
 * What members do for each other without being asked by their applications: removing those that left, and letting in
 * again those that lost their state. The online member with the lowest leaf does it at once; the others wait their turn,
 * and do it when it was not done.
 */
import {
  type AgentId,
  type JoinRequestId,
  type NoticeBody,
  readKeyPackage,
  type RequestBody,
  verifyKeyPackage,
  WireError,
} from "../../proto/mod.ts";
import { jitter } from "../base/runtime.ts";
import { decodeKeyPackageMessage, type KeyPackage } from "../mls/key_package.ts";
import type { Committer, Plan } from "./commits.ts";
import type { ChannelDeps } from "./deps.ts";
import { toStaticError } from "./faults.ts";
import type { HealthLog } from "./health.ts";
import { hashOfKeyPackage, type Membership } from "./membership.ts";

type RejoinProof = RequestBody<"SendCommit">["rejoins"][number];

interface RejoinRequest {
  readonly requestId: JoinRequestId;
  readonly proof: RejoinProof;
  readonly keyPackage: KeyPackage;
  readonly expiresAtMs: number;
}

/** A member waits this much longer for each online member before it in the tree. */
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
  readonly #rejoins = new Map<AgentId, RejoinRequest>();
  #cancel: (() => void) | undefined;
  #busy = false;
  #stopped = false;

  constructor(parts: CaretakerParts, deps: ChannelDeps) {
    this.#parts = parts;
    this.#deps = deps;
    parts.membership.onMoved(({ removed }) => removed.forEach((agentId) => this.#rejoins.delete(agentId)));
  }

  /** Somebody left, or the channel was opened and may have work left. */
  look(): void {
    if (this.#stopped || this.#busy || !this.#hasWork()) return;
    this.#busy = true;
    this.#turn().then((ms) => {
      if (this.#stopped) return;
      this.#cancel = this.#deps.runtime.after(ms, () => void this.#work());
    });
  }

  /** A member that lost its state asks to be let in again. Answers whether the request is genuine. */
  rejoin(request: NoticeBody<"DeliverRejoinRequest">): boolean {
    const { agentId, epoch, signature, requestId, expiresAtMs } = request;
    const proof = { agentId, epoch, signature, keyPackageHash: hashOfKeyPackage(request.keyPackage) };
    if (this.#rejoins.size >= maxRequests || !this.#parts.membership.isRejoinValid(proof)) return false;
    try {
      const verified = verifyKeyPackage(readKeyPackage(request.keyPackage), this.#deps.relayNowMs());
      if (verified.agentId !== agentId) return false;
    } catch (error) {
      if (error instanceof WireError) return false;
      throw error;
    }
    const keyPackage = decodeKeyPackageMessage(request.keyPackage);
    this.#rejoins.set(agentId, { requestId, proof, keyPackage, expiresAtMs });
    this.look();
    return true;
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  async #work(): Promise<void> {
    try {
      await this.#parts.committer.commit(() => this.#plan());
    } catch (error) {
      if (this.#stopped) return;
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
    if (!this.#hasWork()) return undefined;
    const rejoins = this.#current();
    return {
      change: {
        add: rejoins.map(({ keyPackage }) => keyPackage),
        remove: rejoins.map(({ proof }) => proof.agentId),
      },
      answers: rejoins.map(({ requestId }) => requestId),
      rejoins: rejoins.map(({ proof }) => proof),
    };
  }

  #hasWork(): boolean {
    return this.#current().length > 0 || this.#parts.membership.leavers.length > 0;
  }

  /** Requests that still mean something: not expired, and of somebody that is still in the group. */
  #current(): RejoinRequest[] {
    const nowMs = this.#deps.relayNowMs();
    for (const [agentId, { proof, expiresAtMs }] of this.#rejoins) {
      if (expiresAtMs < nowMs || !this.#parts.membership.isRejoinValid(proof)) this.#rejoins.delete(agentId);
    }
    return [...this.#rejoins.values()];
  }

  /** How long to wait for those that come before us. */
  async #turn(): Promise<number> {
    const { membership } = this.#parts;
    try {
      const { members } = await this.#deps.session.call("ListMembers", { channelId: membership.channelId });
      const present = new Set(
        members.filter(({ online, leaving }) => online && !leaving).map(({ agentId }) => agentId),
      );
      const before = membership.group.members().filter(({ leafIndex, agentId }) =>
        leafIndex < membership.group.self.leafIndex && present.has(agentId) && !this.#rejoins.has(agentId)
      );
      return before.length * turnMs;
    } catch {
      return jitter(this.#deps.runtime, turnMs);
    }
  }
}
