/**
 * Requests to join or rejoin that wait for a member's answer. In memory only: agents ask again
 * after a restart. The same request asked again counts once. Each has its places
 * (`join_places.ts`).
 */
import {
  type AccountId,
  type AgentId,
  type ChannelId,
  equalBytes,
  type InviteId,
  type JoinRequestId,
} from "../../../proto/mod.ts";
import type { CoreConfig } from "../config.ts";
import { type JoinOutcome, JoinPlaces } from "../limits/join_places.ts";
import type { PlaceDeps } from "../limits/place_deps.ts";

interface PendingApplication {
  readonly requestId: JoinRequestId;
  readonly channelId: ChannelId;
  /** The applicant. */
  readonly agentId: AgentId;
  readonly account: AccountId;
  readonly visitor?: string | undefined;
  readonly keyPackage: Uint8Array;
  readonly expiresAtMs: number;
}

export interface JoinRequest extends PendingApplication {
  readonly kind: "join";
  readonly inviteId: InviteId;
  readonly inviter: AgentId;
  readonly mac: Uint8Array;
}

export interface RejoinRequest extends PendingApplication {
  readonly kind: "rejoin";
  readonly signature: Uint8Array;
  readonly leafHash: Uint8Array;
  /** The asker's; a hint for those who answer. */
  readonly epoch: number;
  /** The only member that shall answer. */
  readonly answerer?: AgentId;
  /** Members that have sent the asker its leaf: each may once. */
  readonly leafSenders: Set<AgentId>;
  /** When members were last told of it. */
  toldAtMs: number;
}

/** Whether a request to rejoin is for this member. */
export function mayAnswer({ agentId, answerer }: RejoinRequest, member: AgentId): boolean {
  return member !== agentId && (answerer === undefined || answerer === member);
}

export type PendingJoin = JoinRequest | RejoinRequest;

export type PendingJoinVerdict =
  | { readonly kind: "in"; readonly displaced: readonly PendingJoin[] }
  | { readonly kind: "refused"; readonly retryAfterMs: number };

const maxEnded = 1_000;

export class PendingJoins {
  readonly #byId = new Map<
    JoinRequestId,
    { readonly request: PendingJoin; readonly cancel: () => void }
  >();
  readonly #byAgent = new Map<AgentId, Set<JoinRequestId>>();
  readonly #byInviter = new Map<AgentId, Set<JoinRequestId>>();
  readonly #byChannel = new Map<ChannelId, Set<JoinRequestId>>();

  /**
   * Requests that ended at another relay, the newest last: the entry that answers one may be on its
   * way here.
   */
  readonly #ended = new Map<JoinRequestId, PendingJoin>();
  readonly #places: JoinPlaces;
  readonly #onRemoved: (requestId: JoinRequestId) => void;

  /** `onRemoved` hears of what ends here. */
  constructor(config: CoreConfig, deps: PlaceDeps, onRemoved: (requestId: JoinRequestId) => void) {
    this.#places = new JoinPlaces(config, deps);
    this.#onRemoved = onRemoved;
  }

  get size(): number {
    return this.#byId.size;
  }

  /**
   * In place of `instead`, which stays when there is no place. Those that are displaced have ended;
   * it is for the caller to tell their agents. `cancel` stops the timer that ends the request.
   */
  add(request: PendingJoin, cancel: () => void, instead?: PendingJoin): PendingJoinVerdict {
    const placed = this.#places.enter(request, instead?.requestId);
    if (placed.kind === "refused") return placed;
    if (instead !== undefined) this.remove(instead.requestId);
    this.#index(request, cancel);
    return {
      kind: "in",
      displaced: placed.displaced.flatMap((requestId) => this.remove(requestId) ?? []),
    };
  }

  #index(request: PendingJoin, cancel: () => void): void {
    this.#byId.set(request.requestId, { request, cancel });
    index(this.#byAgent, request.agentId, request.requestId);
    index(this.#byChannel, request.channelId, request.requestId);
    if (request.kind === "join") index(this.#byInviter, request.inviter, request.requestId);
  }

  find(requestId: JoinRequestId): PendingJoin | undefined {
    return this.#byId.get(requestId)?.request;
  }

  /** The request, also one that has ended at another relay a moment ago. */
  recall(requestId: JoinRequestId): PendingJoin | undefined {
    return this.find(requestId) ?? this.#ended.get(requestId);
  }

  /** Takes out a request that ended at another relay. */
  endedElsewhere(requestId: JoinRequestId): void {
    const request = this.#take(requestId);
    if (request === undefined) return;
    this.#ended.set(requestId, request);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > maxEnded && oldest !== undefined) this.#ended.delete(oldest);
  }

  remove(requestId: JoinRequestId, outcome: JoinOutcome = "finished"): PendingJoin | undefined {
    const request = this.#take(requestId, outcome);
    if (request !== undefined) this.#onRemoved(requestId);
    return request;
  }

  #take(requestId: JoinRequestId, outcome: JoinOutcome = "finished"): PendingJoin | undefined {
    const held = this.#byId.get(requestId);
    if (held === undefined) return undefined;
    const { request, cancel } = held;
    cancel();
    this.#byId.delete(requestId);
    this.#places.leave(requestId, outcome);
    unindex(this.#byAgent, request.agentId, requestId);
    unindex(this.#byChannel, request.channelId, requestId);
    if (request.kind === "join") unindex(this.#byInviter, request.inviter, requestId);
    return request;
  }

  /** This relay is no longer part of the cluster. */
  clear(): void {
    for (const requestId of [...this.#byId.keys()]) this.#take(requestId);
  }

  /**
   * The same agent's open request for a channel: a new one takes its place unless it is the same.
   */
  ofAgent(agentId: AgentId, channelId: ChannelId): PendingJoin | undefined {
    return this.#list(this.#byAgent.get(agentId)).find((request) =>
      request.channelId === channelId
    );
  }

  countOfAgent(agentId: AgentId): number {
    return this.#byAgent.get(agentId)?.size ?? 0;
  }

  /** Returns how many requests the asker's account has or, for a visitor, the visitor alone. */
  countOfAsker(asker: Pick<PendingJoin, "account" | "visitor">): number {
    return this.#places.countOf(asker);
  }

  ofInviter(inviter: AgentId): PendingJoin[] {
    return this.#list(this.#byInviter.get(inviter));
  }

  ofChannel(channelId: ChannelId): PendingJoin[] {
    return this.#list(this.#byChannel.get(channelId));
  }

  #list(ids: ReadonlySet<JoinRequestId> | undefined): PendingJoin[] {
    return [...ids ?? []].flatMap((id) => this.find(id) ?? []);
  }
}

export function isSameKeyPackage(request: PendingJoin, keyPackage: Uint8Array): boolean {
  return equalBytes(request.keyPackage, keyPackage);
}

function index<Key>(map: Map<Key, Set<JoinRequestId>>, key: Key, id: JoinRequestId): void {
  const ids = map.get(key) ?? new Set();
  map.set(key, ids.add(id));
}

function unindex<Key>(map: Map<Key, Set<JoinRequestId>>, key: Key, id: JoinRequestId): void {
  const ids = map.get(key);
  ids?.delete(id);
  if (ids?.size === 0) map.delete(key);
}
