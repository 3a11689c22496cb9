/**
 * Guests of a channel: members that came by a guest link, and that let nobody in. The GroupContext
 * names them by agent id, because a mark outlives leaves and generations; the member that adds a
 * guest marks it, and the guest has no say in it. Every member judges by the group and the commit
 * alone.
 */
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import {
  type AgentId,
  limits,
  type MemberProof,
  MlsReader,
  parseAgentId,
} from "../../proto/mod.ts";
import { MlsFault, vector } from "./codec.ts";

const format = 1;
const agentIdBytes = 22;

/** Ids are ascending. */
export function encodeGuests(guests: readonly AgentId[]): Uint8Array {
  return concatBytes(Uint8Array.of(format), vector(utf8ToBytes(guests.join(""))));
}

/** Throws `WireError` for whatever `encodeGuests` would not have written of one guest or more. */
export function decodeGuests(bytes: Uint8Array): AgentId[] {
  const reader = new MlsReader(bytes, "guests of a channel");
  const found = reader.uint8();
  if (found !== format) reader.refuse(`its format is ${found}, this version knows ${format}`);
  const ids = reader.vector();
  reader.end();
  if (ids.length === 0) reader.refuse("it names nobody");
  if (ids.length > limits.membersPerChannel * agentIdBytes) {
    reader.refuse("guests are more than a channel has members");
  }
  const list = new MlsReader(ids, "guests of a channel");
  const guests: AgentId[] = [];
  while (!list.done) {
    const guest = parseAgentId(String.fromCharCode(...list.take(agentIdBytes)));
    if (guest <= (guests.at(-1) ?? "")) list.refuse("guests are not in ascending order, each once");
    guests.push(guest);
  }
  return guests;
}

/**
 * Whether it is among these, which are ascending: they may be as many as the members, and each
 * member is looked up.
 */
export function isGuest(guests: readonly AgentId[], agentId: AgentId): boolean {
  let [from, to] = [0, guests.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const found = guests[middle];
    if (found === undefined || found === agentId) return found !== undefined;
    if (found < agentId) from = middle + 1;
    else to = middle;
  }
  return false;
}

/** A commit, as far as it decides who is a guest. */
export interface GuestsCommit {
  readonly guestsBefore: readonly AgentId[];
  readonly added: readonly AgentId[];
  /** The members that the commit removes. Those that it also adds have not gone. */
  readonly removed: readonly AgentId[];
  /**
   * The proofs of members that come back. They stay what they were; all other added members begin
   * anew.
   */
  readonly rejoins: readonly MemberProof[];
  readonly ownersAfter: readonly AgentId[];
}

interface GuestMoves {
  /** Added without its own word that it comes back. */
  readonly fresh: ReadonlySet<AgentId>;
  /** Guests that stay, or come back. */
  readonly staying: ReadonlySet<AgentId>;
}

function standingOf({ guestsBefore, added, removed, rejoins }: GuestsCommit): GuestMoves {
  const returning = new Set(rejoins.map(({ agentId }) => agentId));
  const fresh = new Set(added.filter((agentId) => !returning.has(agentId)));
  const gone = new Set(removed.filter((agentId) => !returning.has(agentId)));
  return {
    fresh,
    staying: new Set(guestsBefore.filter((guest) => !fresh.has(guest) && !gone.has(guest))),
  };
}

/**
 * The guests after our commit, ascending: `marked` of those that it adds, and without those that an
 * owner has released.
 */
export function guestsAfter(
  commit: GuestsCommit,
  { marked = [], released = [] }: {
    readonly marked?: readonly AgentId[];
    readonly released?: readonly AgentId[];
  },
): AgentId[] {
  const { fresh, staying } = standingOf(commit);
  const guests = new Set([...staying].filter((guest) => !released.includes(guest)));
  for (const guest of marked) if (fresh.has(guest)) guests.add(guest);
  return [...guests].filter((guest) => !commit.ownersAfter.includes(guest)).sort();
}

/** Throws `MlsFault` unless these may be the guests after somebody's commit. */
export function checkGuests(
  commit: GuestsCommit,
  guests: readonly AgentId[],
  committer: { readonly owner: boolean },
): void {
  const { fresh, staying } = standingOf(commit);
  const after = new Set(guests);
  if (guests.some((guest) => !staying.has(guest) && !fresh.has(guest))) {
    throw new MlsFault("A commit makes guests of others than those that it lets in");
  }
  if (!committer.owner && [...staying].some((guest) => !after.has(guest))) {
    throw new MlsFault("Only owners make a guest a member like the others");
  }
  if (commit.ownersAfter.some((owner) => after.has(owner))) {
    throw new MlsFault("A guest owns the channel");
  }
}
