/**
 * The inviter's side of joining: requests that hold an invite of ours are answered with a commit that adds them, the others
 * with a reason. Requests for one channel that arrive together share a commit.
 */
import type { ChannelId, JoinRequestId, NoticeBody } from "../../proto/mod.ts";
import type { Agent } from "../agent.ts";
import { type Applicant, changeFor, judgeApplicant, readApplicant } from "../channel/adding.ts";
import type { ChannelEngine } from "../channel/engine.ts";
import { createError, StaticError, TransportError } from "../errors.ts";
import { toStaticError } from "../faults.ts";
import { jitter } from "../runtime.ts";
import type { InviteBook } from "./invite_book.ts";

type JoinRequest = NoticeBody<"DeliverJoinRequest">;

interface Admitted {
  readonly request: JoinRequest;
  readonly applicant: Applicant;
  /** This KeyPackage was admitted before: if its agent is in the channel now, it is in by this very request. */
  readonly again: boolean;
}

const retryMs = 2000;
/** More at once wait for the next commit. */
const maxPerCommit = 100;
const maxWaiting = 10_000;
const maxErrorText = 1000;

export class JoinAnswers {
  readonly #agent: Agent;
  readonly #book: InviteBook;
  readonly #waiting = new Map<ChannelId, Map<JoinRequestId, JoinRequest>>();
  readonly #busy = new Set<ChannelId>();
  readonly #timers = new Set<() => void>();
  #stopped = false;

  constructor(agent: Agent, book: InviteBook) {
    this.#agent = agent;
    this.#book = book;
  }

  request(request: JoinRequest): void {
    const waiting = this.#waiting.get(request.channelId) ?? new Map<JoinRequestId, JoinRequest>();
    this.#waiting.set(request.channelId, waiting);
    if (waiting.size < maxWaiting) waiting.set(request.requestId, request);
    this.#run(request.channelId);
  }

  stop(): void {
    this.#stopped = true;
    for (const cancel of this.#timers) cancel();
  }

  #run(channelId: ChannelId): void {
    if (this.#stopped || this.#busy.has(channelId) || (this.#waiting.get(channelId)?.size ?? 0) === 0) return;
    this.#busy.add(channelId);
    this.#answer(channelId).then(
      () => this.#busy.delete(channelId) && this.#run(channelId),
      () => {
        // Without the relay nobody can be answered: the requests wait, and those that expire fall away.
        this.#busy.delete(channelId);
        const { runtime } = this.#agent.parts;
        const cancel = runtime.after(jitter(runtime, retryMs), () => {
          this.#timers.delete(cancel);
          this.#run(channelId);
        });
        this.#timers.add(cancel);
      },
    );
  }

  async #answer(channelId: ChannelId): Promise<void> {
    const waiting = this.#waiting.get(channelId);
    if (waiting === undefined) return;
    const requests = [...waiting.values()].slice(0, maxPerCommit);
    const engine = await this.#agent.find(channelId);
    const admitted: Admitted[] = [];
    for (const request of requests) {
      if (request.expiresAtMs < this.#agent.relayNowMs) {
        waiting.delete(request.requestId);
        continue;
      }
      const verdict = engine === undefined ? notHere() : await this.#judge(request, engine);
      if (verdict instanceof StaticError) await this.#reject(request, verdict, engine);
      else if (verdict === "entered") await this.#settle([request]);
      else admitted.push(verdict);
    }
    if (engine !== undefined && admitted.length > 0) await this.#admit(engine, admitted);
  }

  async #judge(request: JoinRequest, engine: ChannelEngine): Promise<Admitted | StaticError | "entered"> {
    try {
      const applicant = readApplicant(request.keyPackage, this.#agent.relayNowMs);
      if (applicant.agentId !== request.agentId) {
        return createError("key_package_invalid", "The KeyPackage is of another agent than the request");
      }
      const again = await this.#book.hasAdmitted(request);
      if (again && engine.membership.memberOf(applicant.agentId) !== undefined) return "entered";
      const verdict = judgeApplicant(engine.membership, applicant);
      if (verdict instanceof StaticError) return verdict;
      return await this.#book.admit(request) ?? { request, applicant, again };
    } catch (fault) {
      return toStaticError(fault, "Cannot let the agent in");
    }
  }

  async #admit(engine: ChannelEngine, admitted: readonly Admitted[]): Promise<void> {
    const { membership, committer } = engine;
    try {
      await committer.commit(() => {
        // Whoever is in already has its Welcome. Adding it anew would throw out the member that it has become.
        const open = admitted.filter(({ applicant, again }) => !again || !membership.memberOf(applicant.agentId));
        const applicants = new Map(open.map(({ applicant }) => [applicant.agentId, applicant]));
        return open.length === 0 ? undefined : {
          change: changeFor(membership, [...applicants.values()]),
          answers: open.map(({ request }) => request.requestId),
        };
      });
    } catch (fault) {
      const error = toStaticError(fault, "Cannot let the agent in");
      if (error instanceof TransportError) throw error;
      if (admitted.length === 1) return await this.#rejectAll(admitted, error, engine);
      // One of them may be what the commit failed for: each on its own.
      for (const each of admitted) await this.#admit(engine, [each]);
      return;
    }
    await this.#settle(admitted.map(({ request }) => request));
  }

  /** Those who asked are members. */
  async #settle(requests: readonly JoinRequest[]): Promise<void> {
    await this.#book.enter(requests);
    for (const { channelId, requestId } of requests) this.#waiting.get(channelId)?.delete(requestId);
  }

  async #rejectAll(admitted: readonly Admitted[], error: StaticError, engine: ChannelEngine): Promise<void> {
    for (const { request } of admitted) await this.#reject(request, error, engine);
  }

  async #reject(request: JoinRequest, error: StaticError, engine: ChannelEngine | undefined): Promise<void> {
    const { channelId, requestId, agentId } = request;
    engine?.health.report("refused_join", `${agentId} was refused to join: ${error.message}`);
    const message = error.message.slice(0, maxErrorText);
    try {
      await this.#agent.parts.session.call("RejectJoin", { channelId, requestId, code: error.code, message });
    } catch (fault) {
      if (fault instanceof TransportError) throw fault;
    }
    this.#waiting.get(channelId)?.delete(requestId);
  }
}

function notHere(): StaticError {
  return createError("join_rejected", "The inviter is not in the channel any more; ask a member for a new invite");
}
