/**
 * The inviter's side of joining: requests that hold an invite of ours are answered with a commit
 * that adds them, the others with a reason. Requests for one channel that arrive together share a
 * commit.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import type { ChannelId, JoinRequestId } from "../../proto/mod.ts";
import type { Agent } from "../channel/agent.ts";
import { judgeApplicant, readApplicant } from "../channel/commits/adding.ts";
import type { ChannelRunner } from "../channel/runner/channel_runner.ts";
import type { Membership } from "../channel/group/membership.ts";
import { type AdmittedRequest, type Applicant, maxLetIn } from "../channel/commits/plan.ts";
import { createError, isCode, StaticError, TransportError } from "../base/errors.ts";
import { toStaticError } from "../channel/faults.ts";
import { jitter } from "../base/runtime.ts";
import type { DeliveredJoinRequest, InviteBook, RequestNote } from "./invite_book.ts";

interface JudgedJoinRequest {
  readonly request: DeliveredJoinRequest;
  /** Entered: it is a member already. */
  readonly verdict: AdmittedRequest | StaticError | "entered";
}

const retryMs = 2000;
/**
 * In all channels together, because the relay may name any. An applicant that finds no room asks
 * again.
 */
const maxWaiting = 2000;
const maxErrorText = 1000;

export class JoinAnswers {
  readonly #agent: Agent;
  readonly #book: InviteBook;
  readonly #waiting = new Map<ChannelId, Map<JoinRequestId, DeliveredJoinRequest>>();
  readonly #busy = new Set<ChannelId>();
  readonly #timers = new Set<() => void>();
  #stopped = false;

  constructor(agent: Agent, book: InviteBook) {
    this.#agent = agent;
    this.#book = book;
  }

  request(request: DeliveredJoinRequest): void {
    if (this.#waitingInAll() >= maxWaiting) return;
    const waiting = this.#waiting.get(request.channelId) ??
      new Map<JoinRequestId, DeliveredJoinRequest>();
    this.#waiting.set(request.channelId, waiting.set(request.requestId, request));
    this.#run(request.channelId);
  }

  stop(): void {
    this.#stopped = true;
    for (const cancel of this.#timers) cancel();
  }

  #waitingInAll(): number {
    let requests = 0;
    for (const waiting of this.#waiting.values()) requests += waiting.size;
    return requests;
  }

  #run(channelId: ChannelId): void {
    if (this.#waiting.get(channelId)?.size === 0) this.#waiting.delete(channelId);
    if (this.#stopped || this.#busy.has(channelId) || !this.#waiting.has(channelId)) return;
    this.#busy.add(channelId);
    this.#answer(channelId).then(
      () => this.#busy.delete(channelId) && this.#run(channelId),
      () => {
        // Without the relay, or with a disk that does not write, nobody can be answered: the
        // requests wait, and those that expire fall away.
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
    const requests = [...waiting.values()].slice(0, maxLetIn);
    const channel = await this.#agent.find(channelId);
    const inTime = requests.filter(({ expiresAtMs }) => expiresAtMs >= this.#agent.relayNowMs);
    this.#settle(requests.filter((request) => !inTime.includes(request)));
    const admitted: AdmittedRequest[] = [];
    for (const { request, verdict } of await this.#judge(inTime, channel)) {
      if (verdict instanceof StaticError) await this.#reject(request, verdict, channel);
      else if (verdict === "entered") this.#settle([request]);
      else admitted.push(verdict);
    }
    try {
      if (channel !== undefined && admitted.length > 0) await this.#admit(channel, admitted);
    } finally {
      for (const { request } of admitted) this.#book.settled(request);
    }
  }

  async #judge(
    requests: readonly DeliveredJoinRequest[],
    channel: ChannelRunner | undefined,
  ): Promise<readonly JudgedJoinRequest[]> {
    if (channel === undefined) return requests.map((request) => ({ request, verdict: notHere() }));
    try {
      const { membership } = channel.rooms;
      const notes = await this.#book.notesOn(requests);
      const looked = requests.map((request, i) => {
        const note = notes[i] ?? notHere();
        return {
          request,
          verdict: note instanceof StaticError ? note : this.#look(request, membership, note),
        };
      });
      const applying = looked.flatMap(({ request, verdict }) =>
        isApplicant(verdict) ? [{ request, verdict }] : []
      );
      const wanted = withoutConflicts(applying);
      const epochs = await this.#book.admit(wanted.map(({ request }) => request), membership);
      const admitted = wanted.map(({ request, verdict: applicant }, i): JudgedJoinRequest => {
        const epoch = epochs[i] ?? notHere();
        return {
          request,
          verdict: epoch instanceof StaticError ? epoch : { request, applicant, epoch },
        };
      });
      const others = looked.flatMap(({ request, verdict }) =>
        isApplicant(verdict) ? [] : [{ request, verdict }]
      );
      return [...others, ...admitted];
    } catch (fault) {
      const verdict = toStaticError(fault, "Cannot let the agent in");
      if (mustWait(verdict)) throw verdict;
      return requests.map((request) => ({ request, verdict }));
    }
  }

  #look(
    request: DeliveredJoinRequest,
    membership: Membership,
    { admittedIn, replaces, guest }: RequestNote,
  ): Applicant | StaticError | "entered" {
    const { clocks, parts: { signatures } } = this.#agent;
    try {
      const applicant = {
        ...readApplicant(request.keyPackage, { ...clocks, signatures }),
        replaces,
        guest,
      };
      const { agentId } = applicant;
      if (agentId !== request.agentId) {
        return createError(
          "key_package_invalid",
          "The KeyPackage is of another agent than the request",
        );
      }
      if (admittedIn !== undefined && membership.mayHaveComeSince(agentId, admittedIn)) {
        return membership.memberOf(agentId) === undefined ? spent() : "entered";
      }
      const verdict = judgeApplicant(membership, applicant);
      return verdict instanceof StaticError ? verdict : applicant;
    } catch (fault) {
      return toStaticError(fault, "Cannot let the agent in");
    }
  }

  async #admit(channel: ChannelRunner, admitted: readonly AdmittedRequest[]): Promise<void> {
    const { membership, commits } = channel.rooms;
    try {
      await commits.commit({ is: "admit", admitted, invites: this.#book });
    } catch (fault) {
      const error = toStaticError(fault, "Cannot let the agent in");
      if (mustWait(error)) throw error;
      if (admitted.length === 1) return await this.#rejectAll(admitted, error, channel);
      // One of them may be what the commit failed for: each on its own.
      for (const each of admitted) await this.#admit(channel, [each]);
      return;
    }
    for (const { request, applicant } of admitted) {
      const ended = this.#book.whyEnded(request, membership);
      // The invite was revoked, or somebody that came by it was removed, before the commit was
      // made.
      if (ended !== undefined && membership.memberOf(applicant.agentId) === undefined) {
        await this.#reject(request, ended, channel);
      } else this.#settle([request]);
    }
  }

  /** Forgets requests: those who asked are members, or their time is over. */
  #settle(requests: readonly DeliveredJoinRequest[]): void {
    for (const { channelId, requestId } of requests) {
      this.#waiting.get(channelId)?.delete(requestId);
    }
  }

  async #rejectAll(
    admitted: readonly AdmittedRequest[],
    error: StaticError,
    channel: ChannelRunner,
  ): Promise<void> {
    for (const { request } of admitted) await this.#reject(request, error, channel);
  }

  async #reject(
    request: DeliveredJoinRequest,
    error: StaticError,
    channel: ChannelRunner | undefined,
  ): Promise<void> {
    const { channelId, requestId, agentId } = request;
    channel?.rooms.health.report(
      "refused_join",
      `${agentId} was refused to join: ${error.message}`,
    );
    const message = error.message.slice(0, maxErrorText);
    try {
      await this.#agent.parts.session.call("RejectJoin", {
        channelId,
        requestId,
        code: error.code,
        message,
      });
    } catch (fault) {
      if (fault instanceof TransportError) throw fault;
    }
    this.#waiting.get(channelId)?.delete(requestId);
  }
}

/**
 * Returns whether requests wait because of this error: those who asked are not to blame for it, and
 * can be let in later, by the next start when it is our disk.
 */
function mustWait(error: StaticError): boolean {
  return error instanceof TransportError || isCode(error, "store_full", "store_failed");
}

/**
 * Returns the applicants that one commit can let in without one of them deciding about another:
 * each agent once, each identity once, and nobody that another one replaces. The others wait for
 * the next commit, before any use of their invites is counted.
 */
function withoutConflicts<T extends { readonly verdict: Applicant }>(applying: readonly T[]): T[] {
  const taken = new Set<string>();
  return applying.filter(({ verdict: { agentId, identity, replaces } }) => {
    const keys = [agentId, bytesToHex(identity), ...(replaces === undefined ? [] : [replaces])];
    if (keys.some((key) => taken.has(key))) return false;
    for (const key of keys) taken.add(key);
    return true;
  });
}

function isApplicant(verdict: Applicant | StaticError | "entered"): verdict is Applicant {
  return verdict !== "entered" && !(verdict instanceof StaticError);
}

function spent(): StaticError {
  return createError(
    "join_rejected",
    "The agent came in with this request before; ask for a new invite",
  );
}

function notHere(): StaticError {
  return createError(
    "join_rejected",
    "The inviter is not in the channel any more; ask a member for a new invite",
  );
}
