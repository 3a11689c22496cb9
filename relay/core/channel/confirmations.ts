/**
 * Statements of a channel's members about its epoch: the newest of each, in memory only, because
 * members repeat them. The relay verifies nothing; members do that. Statements are sent in pages
 * that are encoded once for all readers and that ride in cells which leave anyway, so the cost is a
 * lookup per cell and a copy per page.
 */
import {
  type AgentId,
  type ChannelId,
  encodeNotice,
  equalBytes,
  limits,
  type RequestBody,
} from "../../../proto/mod.ts";

export type ConfirmationStatement = Omit<RequestBody<"Confirm">, "channelId">;

/** How far a reader has been told. */
export interface RiderPlace {
  page: number;
  toldUnconfirmedMs: number;
}

export interface ConfirmationsHost {
  readonly nowMs: () => number;
  readonly isMember: (agentId: AgentId) => boolean;
  /** So much of this channel is in memory now. */
  readonly hold: (bytes: number) => void;
}

interface ConfirmationPage {
  readonly epoch: number;
  readonly state: Uint8Array;
  readonly confirmations: { readonly agentId: AgentId; readonly signature: Uint8Array }[];
  readonly openedMs: number;
  /** Confirmations in it that are the newest of their members. */
  live: number;
  /** In the order in which pages were closed; 0 while it is open. */
  number: number;
  notice: Uint8Array;
}

interface NewestConfirmation {
  readonly epoch: number;
  readonly page: ConfirmationPage;
  readonly atMs: number;
}

/** A page with less than it may hold waits so long for more. */
const openMs = 1_000;
/** Pages that are open at once: one, unless members disagree. */
const openPages = 4;
/** An honest member says something new once in 10 s at most. */
export const pauseMs = 5_000;
/**
 * The size of a map's entry, an array's place and the page's own objects, beside the encoded page.
 */
const overheadBytes = 256;
/** Nobody is late before this time; late members are looked up once in this time. */
const unconfirmedMs = 60_000;
/** A reader is told again which members are late. */
const tellAgainMs = 5 * 60_000;
const noBytes = new Uint8Array(0);
/** No page is shorter than this. */
const leastPageBytes = 150;

export class Confirmations {
  readonly #channelId: ChannelId;
  readonly #host: ConfirmationsHost;
  readonly #newest = new Map<AgentId, NewestConfirmation>();
  /** Full pages by number, ascending. */
  #closed: ConfirmationPage[] = [];
  readonly #open: ConfirmationPage[] = [];
  #lastNumber = 0;
  #bytes = 0;
  /** Statements that came too soon, until they may be taken; the newest of each member. */
  readonly #early = new Map<AgentId, ConfirmationStatement>();
  /** When the first of these may be taken. */
  #dueMs = Infinity;
  /**
   * The log's epoch at a time, and the members that had not confirmed the epoch of a minute before.
   */
  #late:
    | { readonly epoch: number; readonly atMs: number; readonly notice?: Uint8Array }
    | undefined;

  constructor(channelId: ChannelId, host: ConfirmationsHost) {
    this.#channelId = channelId;
    this.#host = host;
  }

  get size(): number {
    return this.#newest.size;
  }

  /** The epoch that a member has confirmed last. */
  epochOf(agentId: AgentId): number | undefined {
    return this.#newest.get(agentId)?.epoch;
  }

  /**
   * Takes a member's statement. It replaces the earlier one. A statement without news is ignored;
   * one that comes too soon waits.
   */
  take(agentId: AgentId, said: ConfirmationStatement): void {
    const { epoch, state, signature } = said;
    const nowMs = this.#host.nowMs();
    const known = this.#newest.get(agentId);
    if (known !== undefined) {
      const isSame = known.epoch === epoch && equalBytes(known.page.state, state);
      if (isSame || known.epoch > epoch) return;
      if (nowMs - known.atMs < pauseMs) return this.#wait(agentId, said, known.atMs + pauseMs);
      this.#leave(agentId, known.page);
    }
    this.#forgetEarly(agentId);
    if (this.#newest.size >= limits.membersPerChannel) this.#retain();
    const page = this.#pageOf(epoch, state, nowMs);
    page.confirmations.push({ agentId, signature });
    page.live++;
    this.#newest.set(agentId, { epoch, page, atMs: nowMs });
    if (page.confirmations.length >= limits.confirmationsPerPage) this.#close(page);
  }

  /**
   * Returns statements that a reader of this channel has not been told yet and that fit the room.
   */
  rider(
    place: RiderPlace,
    room: number,
    late: { readonly epoch: number; readonly agents: () => Iterable<AgentId> },
  ): Uint8Array | undefined {
    if (room < leastPageBytes) return undefined;
    const nowMs = this.#host.nowMs();
    if (nowMs >= this.#dueMs) this.#takeEarly(nowMs);
    const [oldest] = this.#open;
    if (oldest !== undefined && nowMs - oldest.openedMs >= openMs) this.#close(oldest);
    if (place.page >= this.#lastNumber) return this.#unconfirmed(place, room, late, nowMs);
    const page = this.#closed[firstAfter(this.#closed, place.page)];
    if (page === undefined) {
      place.page = this.#lastNumber;
      return undefined;
    }
    if (page.notice.length > room) return undefined;
    place.page = page.number;
    return page.notice;
  }

  /** Forgets everything; members say it again with their next connection. */
  clear(): void {
    this.#newest.clear();
    this.#early.clear();
    this.#dueMs = Infinity;
    this.#closed = [];
    this.#open.length = 0;
    this.#held(-this.#bytes);
  }

  /** The member may say nothing for long after it: it does not know that it was too soon. */
  #wait(agentId: AgentId, said: ConfirmationStatement, dueMs: number): void {
    const isFirst = !this.#early.has(agentId);
    this.#early.set(agentId, said);
    this.#dueMs = Math.min(this.#dueMs, dueMs);
    if (isFirst) this.#held(overheadBytes);
  }

  #takeEarly(nowMs: number): void {
    this.#dueMs = Infinity;
    for (const [agentId, said] of this.#early) {
      const dueMs = (this.#newest.get(agentId)?.atMs ?? 0) + pauseMs;
      if (dueMs > nowMs) this.#dueMs = Math.min(this.#dueMs, dueMs);
      else {
        this.#forgetEarly(agentId);
        this.take(agentId, said);
      }
    }
  }

  #forgetEarly(agentId: AgentId): void {
    if (this.#early.delete(agentId)) this.#held(-overheadBytes);
  }

  /** Members that are connected without a word about this epoch, told now and then. */
  #unconfirmed(
    place: RiderPlace,
    room: number,
    { epoch, agents }: { readonly epoch: number; readonly agents: () => Iterable<AgentId> },
    nowMs: number,
  ): Uint8Array | undefined {
    this.#late ??= { epoch, atMs: nowMs };
    if (nowMs - this.#late.atMs >= unconfirmedMs) {
      this.#late = { epoch, atMs: nowMs, ...this.#encodeLate(this.#late.epoch, agents()) };
    }
    if (nowMs - place.toldUnconfirmedMs < tellAgainMs) return undefined;
    const { notice } = this.#late;
    if (notice === undefined || notice.length > room) return undefined;
    place.toldUnconfirmedMs = nowMs;
    return notice;
  }

  #encodeLate(epoch: number, agents: Iterable<AgentId>): { readonly notice?: Uint8Array } {
    const agentIds: AgentId[] = [];
    for (const agentId of agents) {
      if ((this.#newest.get(agentId)?.epoch ?? -1) >= epoch) continue;
      if (agentIds.push(agentId) >= limits.unconfirmedPerPage) break;
    }
    if (agentIds.length === 0) return {};
    return {
      notice: encodeNotice("DeliverUnconfirmed", { channelId: this.#channelId, epoch, agentIds }),
    };
  }

  #pageOf(epoch: number, state: Uint8Array, nowMs: number): ConfirmationPage {
    const known = this.#open.find((page) => page.epoch === epoch && equalBytes(page.state, state));
    if (known !== undefined) return known;
    const [oldest] = this.#open;
    if (oldest !== undefined && this.#open.length >= openPages) this.#close(oldest);
    const page: ConfirmationPage = {
      epoch,
      state,
      confirmations: [],
      openedMs: nowMs,
      live: 0,
      number: 0,
      notice: noBytes,
    };
    this.#open.push(page);
    return page;
  }

  /** From here on readers are told, and nothing is added. */
  #close(page: ConfirmationPage): void {
    this.#open.splice(this.#open.indexOf(page), 1);
    if (page.live === 0) return;
    const { epoch, state, confirmations } = page;
    page.notice = encodeNotice("DeliverConfirmations", {
      channelId: this.#channelId,
      epoch,
      state,
      confirmations,
    });
    page.number = ++this.#lastNumber;
    this.#closed.push(page);
    this.#held(page.notice.length + overheadBytes);
  }

  /** A member's word in this page is not its newest any more. */
  #leave(agentId: AgentId, page: ConfirmationPage): void {
    page.live--;
    if (page.number === 0) {
      page.confirmations.splice(
        page.confirmations.findIndex((each) => each.agentId === agentId),
        1,
      );
    } else if (page.live === 0) {
      this.#closed.splice(firstAfter(this.#closed, page.number - 1), 1);
      this.#held(-page.notice.length - overheadBytes);
    }
  }

  #retain(): void {
    for (const [agentId, { page }] of this.#newest) {
      if (this.#host.isMember(agentId)) continue;
      this.#newest.delete(agentId);
      this.#forgetEarly(agentId);
      this.#leave(agentId, page);
    }
  }

  #held(more: number): void {
    if (more === 0) return;
    this.#bytes += more;
    this.#host.hold(this.#bytes);
  }
}

/** The place of the first page behind a number. */
function firstAfter(pages: readonly ConfirmationPage[], number: number): number {
  let [low, high] = [0, pages.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pages[middle]?.number ?? 0) > number) high = middle;
    else low = middle + 1;
  }
  return low;
}
