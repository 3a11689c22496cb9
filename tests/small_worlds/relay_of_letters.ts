/**
 * A relay with one channel, as plain data: log, members, what it says about each of them, requests
 * to rejoin, and for each agent that is connected a pipe of notices. It judges as the relay's core
 * does; `relay_contract_test.ts` compares them.
 */
import { foundingEpoch, generationOf } from "../../proto/mod.ts";

export interface Entry {
  readonly kind: "message" | "commit" | "founding";
  readonly sequence: number;
  readonly sender: string;
  readonly epoch: number;
  /** Of a commit or a founding; of a message, its id. */
  readonly hash: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly counter?: number;
  readonly keyNumber?: number;
}

export interface Sent {
  readonly sequence: number;
  readonly epoch: number;
  readonly counter: number;
  readonly keyNumber?: number;
  readonly commitHash?: string;
}

interface Member {
  readonly joined: number;
  readonly sent?: Sent;
  readonly lapsed?: true;
}

/** `connection` is for the checks of a world: the machine does not look at it. */
export type Note =
  | {
    readonly type: "start";
    readonly tag: number;
    readonly after: number;
    readonly connection: number;
  }
  | {
    readonly type: "entry";
    readonly entry: Entry;
    readonly tag: number;
    readonly connection: number;
  }
  | {
    readonly type: "welcome";
    readonly joined: number;
    readonly epoch: number;
    readonly led: string;
  }
  | { readonly type: "rejoin"; readonly agent: string; readonly generation: number }
  | { readonly type: "leaf"; readonly leaf: string }
  | { readonly type: "end"; readonly reason: "removed" | "recovered" | "lapsed" };

interface Session {
  readonly connection: number;
  tag: number | undefined;
  position: number;
  pipe: Note[];
}

interface Former {
  readonly joined: number;
  readonly end: number;
  readonly reason: "removed" | "recovered";
}

interface Welcome {
  readonly joined: number;
  readonly epoch: number;
  readonly led: string;
}

interface Cursor {
  readonly consumed: number;
  readonly acknowledged: number;
}

export interface Relay {
  log: string;
  entries: readonly Entry[];
  epoch: number;
  members: Readonly<Record<string, Member>>;
  /** Those that an entry removed, until they are told: the last entry that they read. */
  former: Readonly<Record<string, Former>>;
  owners: readonly string[];
  cursors: Readonly<Record<string, Cursor>>;
  sessions: Record<string, Session>;
  /** Agents that ask to be let in, with the leaves that they signed about. */
  asking: readonly { readonly agent: string; readonly leaf: string }[];
  /** Those that were not taken. */
  welcomes: Readonly<Record<string, Welcome>>;
}

export interface Founding {
  readonly generation: number;
  readonly baseEpoch: number;
  readonly bad: string;
  readonly blamed: string;
  readonly members: readonly string[];
}

export type Request =
  | {
    readonly op: "Subscribe";
    readonly after?: number;
    readonly log?: string;
    readonly tag: number;
  }
  | { readonly op: "Acknowledge"; readonly consumed: number }
  | { readonly op: "FindCommit"; readonly epoch: number }
  | { readonly op: "ReadOwn"; readonly sequence: number }
  | {
    readonly op: "SendMessage";
    readonly epoch: number;
    readonly id: string;
    readonly counter: number;
    readonly keyNumber: number;
  }
  | {
    readonly op: "SendCommit";
    readonly epoch: number;
    readonly hash: string;
    readonly added?: readonly string[];
    readonly removed?: readonly string[];
    /** Another member has signed it: somebody puts it back. */
    readonly author?: string;
  }
  | { readonly op: "RequestRejoin"; readonly generation: number; readonly leaf: string }
  | ({ readonly op: "FoundGeneration"; readonly hash: string } & Founding);

export interface SubscribeReply {
  readonly after: number;
  readonly head: number;
  readonly epoch: number;
  readonly consumed: number;
  readonly generation: number;
  readonly log: string;
  readonly joinedSequence: number;
  readonly acknowledged: number;
  readonly sent?: Sent;
}

export interface Refused {
  readonly refused: string;
  /** Of an `epoch_conflict`. */
  readonly epoch?: number;
}

export interface Replies {
  readonly Subscribe: SubscribeReply;
  readonly Acknowledge: { readonly consumed: number };
  readonly FindCommit: {
    readonly epoch: number;
    readonly commit?: { readonly sequence: number; readonly hash: string };
  };
  readonly ReadOwn: { readonly entry?: Entry };
  readonly SendMessage: { readonly sequence: number; readonly duplicate: boolean };
  readonly SendCommit: {
    readonly sequence: number;
    readonly epoch: number;
    readonly duplicate: boolean;
  };
  readonly RequestRejoin: { readonly isAsked: true };
  readonly FoundGeneration: {
    readonly sequence: number;
    readonly epoch: number;
    readonly duplicate: boolean;
  };
}

export type Reply = Replies[keyof Replies];

const none = Object.freeze({});
const nobody = Object.freeze([]);

/** Parts of it are frozen, so that copies share them. */
function set<T>(
  record: Readonly<Record<string, T>>,
  name: string,
  value: T | undefined,
): Readonly<Record<string, T>> {
  const { [name]: _, ...others } = record;
  return Object.freeze(value === undefined ? others : { ...others, [name]: value });
}

export function newRelay(creator: string): Relay {
  return {
    log: "log",
    entries: [],
    epoch: 0,
    members: Object.freeze({ [creator]: { joined: 0 } }),
    former: none,
    owners: Object.freeze([creator]),
    cursors: Object.freeze({ [creator]: { consumed: 0, acknowledged: 0 } }),
    sessions: {},
    asking: nobody,
    welcomes: none,
  };
}

/** A Welcome comes with each connection until it is taken. */
export function connect(relay: Relay, agent: string, connection: number): void {
  relay.sessions[agent] = { connection, tag: undefined, position: 0, pipe: [] };
  tellWelcome(relay, agent);
}

export function disconnect(relay: Relay, agent: string): void {
  delete relay.sessions[agent];
}

export function callRelay(relay: Relay, agent: string, request: Request): Reply | Refused {
  switch (request.op) {
    case "Subscribe":
      return subscribe(relay, agent, request);
    case "Acknowledge":
      return acknowledge(relay, agent, request.consumed);
    case "FindCommit":
      return mayRead(relay, agent)
        ? findCommit(relay, agent, request.epoch)
        : refusal(relay, agent);
    case "ReadOwn":
      return isActive(relay, agent)
        ? readOwn(relay, agent, request.sequence)
        : refusal(relay, agent);
    case "SendMessage":
      return isActive(relay, agent) ? sendMessage(relay, agent, request) : refusal(relay, agent);
    case "SendCommit":
      return isActive(relay, agent) ? sendCommit(relay, agent, request) : refusal(relay, agent);
    case "RequestRejoin":
      return requestRejoin(relay, agent, request);
    case "FoundGeneration":
      return isActive(relay, agent) || isLapsedOwner(relay, agent)
        ? found(relay, agent, request)
        : refusal(relay, agent);
  }
}

function isActive({ members }: Relay, agent: string): boolean {
  return members[agent] !== undefined && members[agent].lapsed === undefined;
}

function isLapsedOwner({ members, owners }: Relay, agent: string): boolean {
  return members[agent]?.lapsed === true && owners.includes(agent);
}

function mayRead(relay: Relay, agent: string): boolean {
  return isActive(relay, agent) || relay.former[agent] !== undefined || isLapsedOwner(relay, agent);
}

function refusal({ members }: Relay, agent: string): Refused {
  return { refused: members[agent]?.lapsed === true ? "membership_lapsed" : "not_found" };
}

function subscribe(
  relay: Relay,
  agent: string,
  { after, log: known, tag }: Extract<Request, { op: "Subscribe" }>,
): SubscribeReply | Refused {
  const session = relay.sessions[agent];
  if (session === undefined || !mayRead(relay, agent)) return refusal(relay, agent);
  const { joined } = relay.members[agent] ?? relay.former[agent] ?? { joined: 0 };
  const { consumed = 0, acknowledged = 0 } = relay.cursors[agent] ?? {};
  const head = relay.entries.length;
  if (after !== undefined && (after > head || after < joined)) return { refused: "cursor_invalid" };
  if (after !== undefined && known !== undefined && known !== relay.log) {
    return { refused: "cursor_invalid" };
  }
  const start = Math.max(after ?? 0, consumed, joined);
  session.tag = tag;
  session.position = start;
  session.pipe.push(
    Object.freeze({ type: "start", tag, after: start, connection: session.connection }),
  );
  pump(relay, agent);
  for (const asker of relay.asking) {
    if (asker.agent === agent) continue;
    session.pipe.push({
      type: "rejoin",
      agent: asker.agent,
      generation: generationOf(relay.epoch),
    });
  }
  const sent = relay.members[agent]?.sent;
  const { epoch, log } = relay;
  const claims = { joinedSequence: joined, acknowledged, ...(sent && { sent }) };
  return Object.freeze({
    after: start,
    head,
    epoch,
    consumed,
    generation: generationOf(epoch),
    log,
    ...claims,
  });
}

/** Everything that it may read is on its way at once: windows are left out. */
function pump(relay: Relay, agent: string): void {
  const session = relay.sessions[agent];
  if (session?.tag === undefined) return;
  const former = relay.former[agent];
  const { tag, connection } = session;
  for (const entry of relay.entries.slice(session.position, former?.end)) {
    session.position = entry.sequence;
    if (entry.sender !== agent) {
      session.pipe.push(Object.freeze({ type: "entry", entry, tag, connection }));
    }
  }
  if (former === undefined) return;
  session.tag = undefined;
  session.pipe.push({ type: "end", reason: former.reason });
  relay.former = set(relay.former, agent, undefined);
  relay.cursors = set(relay.cursors, agent, undefined);
}

function acknowledge(
  relay: Relay,
  agent: string,
  consumed: number,
): Replies["Acknowledge"] | Refused {
  if (!mayRead(relay, agent)) return refusal(relay, agent);
  if (consumed > relay.entries.length) return { refused: "cursor_invalid" };
  const cursor = relay.cursors[agent] ?? { consumed: 0, acknowledged: 0 };
  const joined = relay.members[agent]?.joined ?? 0;
  const moved = {
    consumed: Math.max(cursor.consumed, consumed),
    acknowledged: consumed < joined ? cursor.acknowledged : Math.max(cursor.acknowledged, consumed),
  };
  relay.cursors = set(relay.cursors, agent, moved);
  const welcome = relay.welcomes[agent];
  if (welcome !== undefined && moved.consumed >= welcome.joined) {
    relay.welcomes = set(relay.welcomes, agent, undefined);
  }
  return { consumed: moved.consumed };
}

function findCommit(relay: Relay, agent: string, epoch: number): Replies["FindCommit"] {
  const end = relay.former[agent]?.end ?? Infinity;
  const found = relay.entries.find((entry) => entry.kind !== "message" && entry.epoch === epoch);
  if (found === undefined || found.sequence > end) return { epoch: relay.epoch };
  return { epoch: relay.epoch, commit: { sequence: found.sequence, hash: found.hash } };
}

function readOwn(relay: Relay, agent: string, sequence: number): Replies["ReadOwn"] {
  const entry = relay.entries[sequence - 1];
  return entry?.sender === agent && entry.kind !== "founding" ? { entry } : {};
}

function sendMessage(
  relay: Relay,
  agent: string,
  { epoch, id, counter, keyNumber }: Extract<Request, { op: "SendMessage" }>,
): Replies["SendMessage"] | Refused {
  const before = relay.entries.find(({ kind, hash }) => kind === "message" && hash === id);
  if (before !== undefined) return { sequence: before.sequence, duplicate: true };
  if (epoch !== relay.epoch) return { refused: "epoch_conflict", epoch: relay.epoch };
  const sequence = append(relay, {
    kind: "message",
    sender: agent,
    epoch,
    hash: id,
    counter,
    keyNumber,
  });
  return { sequence, duplicate: false };
}

function sendCommit(
  relay: Relay,
  agent: string,
  { epoch, hash, added = [], removed = [], author = agent }: Extract<Request, { op: "SendCommit" }>,
): Replies["SendCommit"] | Refused {
  const before = relay.entries.find((entry) => entry.kind === "commit" && entry.hash === hash);
  if (before !== undefined) {
    return { sequence: before.sequence, epoch: before.epoch + 1, duplicate: true };
  }
  if (epoch !== relay.epoch) return { refused: "epoch_conflict", epoch: relay.epoch };
  const why = judgeChange(relay, [author, agent], added, removed);
  if (why !== undefined) return { refused: why };
  const sequence = append(relay, { kind: "commit", sender: author, epoch, hash, added, removed });
  return { sequence, epoch: epoch + 1, duplicate: false };
}

function judgeChange(
  { members, owners, asking }: Relay,
  [author, agent]: readonly [string, string],
  added: readonly string[],
  removed: readonly string[],
): string | undefined {
  if (removed.includes(author) || removed.some((each) => members[each] === undefined)) {
    return "invalid_request";
  }
  if (added.some((each) => members[each] !== undefined && !removed.includes(each))) {
    return "already_member";
  }
  // An owner that puts it back vouches for it.
  if (owners.includes(author) || owners.includes(agent)) return undefined;
  const isAsking = (each: string): boolean => asking.some((request) => request.agent === each);
  return removed.every((each) => isAsking(each) && added.includes(each))
    ? undefined
    : "not_allowed";
}

function requestRejoin(
  relay: Relay,
  agent: string,
  { generation, leaf }: Extract<Request, { op: "RequestRejoin" }>,
): Replies["RequestRejoin"] | Refused {
  if (relay.members[agent] === undefined) return { refused: "not_found" };
  if (generation !== generationOf(relay.epoch)) {
    return { refused: "epoch_conflict", epoch: relay.epoch };
  }
  relay.asking = Object.freeze([...relay.asking.filter((request) => request.agent !== agent), {
    agent,
    leaf,
  }]);
  for (const [reader, { tag, pipe }] of Object.entries(relay.sessions)) {
    if (reader !== agent && tag !== undefined) pipe.push({ type: "rejoin", agent, generation });
  }
  return { isAsked: true };
}

function found(
  relay: Relay,
  agent: string,
  { hash, generation, baseEpoch, bad, blamed, members }: Extract<
    Request,
    { op: "FoundGeneration" }
  >,
): Replies["FoundGeneration"] | Refused {
  const before = relay.entries.find((entry) => entry.kind === "founding" && entry.hash === hash);
  if (before !== undefined) {
    return { sequence: before.sequence, epoch: before.epoch + 1, duplicate: true };
  }
  const named = relay.entries.find((entry) => entry.kind === "commit" && entry.epoch === baseEpoch);
  const isNamed = generationOf(baseEpoch) === generation - 1 && baseEpoch < relay.epoch &&
    (named === undefined || (named.hash === bad && named.sender === blamed));
  if (!isNamed) return { refused: "invalid_request" };
  if (!relay.owners.includes(agent)) return { refused: "not_allowed" };
  if (generationOf(relay.epoch) !== generation - 1) {
    return { refused: "epoch_conflict", epoch: relay.epoch };
  }
  const removed = Object.keys(relay.members).filter((member) => !members.includes(member));
  const epoch = foundingEpoch(generation);
  const sequence = append(relay, { kind: "founding", sender: agent, epoch, hash, removed });
  relay.asking = nobody;
  return { sequence, epoch: epoch + 1, duplicate: false };
}

type NewEntry =
  & Omit<Entry, "sequence" | "added" | "removed">
  & Partial<Pick<Entry, "added" | "removed">>;

export function append(relay: Relay, entry: NewEntry): number {
  const sequence = relay.entries.length + 1;
  const { added = [], removed = [] } = entry;
  const made: Entry = Object.freeze({ ...entry, sequence, added, removed });
  relay.entries = Object.freeze([...relay.entries, made]);
  apply(relay, made);
  for (const agent of Object.keys(relay.sessions)) {
    pump(relay, agent);
    if (added.includes(agent)) tellWelcome(relay, agent);
  }
  return sequence;
}

function apply(
  relay: Relay,
  { kind, sequence, sender, epoch, hash, added, removed, counter, keyNumber }: Entry,
): void {
  const member = relay.members[sender];
  if (member !== undefined && kind !== "founding") {
    const sent = sentAfter(member.sent, {
      sequence,
      epoch,
      counter,
      keyNumber,
      hash,
      isCommit: kind === "commit",
    });
    relay.members = set(relay.members, sender, { ...member, sent });
  }
  if (kind === "message") return;
  relay.epoch = epoch + 1;
  for (const agent of removed) {
    const { joined } = relay.members[agent] ?? { joined: 0 };
    relay.members = set(relay.members, agent, undefined);
    relay.welcomes = set(relay.welcomes, agent, undefined);
    const reason = kind === "founding" ? "recovered" : "removed";
    relay.former = set<Former>(relay.former, agent, { joined, end: sequence, reason });
  }
  for (const agent of added) {
    relay.members = set<Member>(relay.members, agent, { joined: sequence });
    relay.former = set(relay.former, agent, undefined);
    relay.cursors = set(relay.cursors, agent, {
      consumed: sequence - 1,
      acknowledged: sequence - 1,
    });
    relay.welcomes = set(relay.welcomes, agent, { joined: sequence, epoch: epoch + 1, led: hash });
  }
  relay.asking = Object.freeze(relay.asking.filter(({ agent }) => !added.includes(agent)));
  relay.owners = Object.freeze(relay.owners.filter((owner) => relay.members[owner] !== undefined));
  const founder = relay.members[sender];
  if (kind !== "founding" || founder?.lapsed === undefined) return;
  const { lapsed: _, ...active } = founder;
  relay.members = set<Member>(relay.members, sender, active);
}

interface NewSent {
  readonly sequence: number;
  readonly epoch: number;
  readonly counter: number | undefined;
  readonly keyNumber: number | undefined;
  readonly hash: string;
  readonly isCommit: boolean;
}

/** The highest counter, and of the newest entry's epoch the highest key. */
function sentAfter(
  before: Sent | undefined,
  { sequence, epoch, counter = 0, keyNumber = 0, hash, isCommit }: NewSent,
): Sent {
  const keys = Math.max(keyNumber, before?.epoch === epoch ? before.keyNumber ?? 0 : 0);
  return Object.freeze({
    sequence,
    epoch,
    counter: Math.max(counter, before?.counter ?? 0),
    ...(keys > 0 && { keyNumber: keys }),
    ...(isCommit && { commitHash: hash }),
  });
}

function tellWelcome(relay: Relay, agent: string): void {
  const welcome = relay.welcomes[agent];
  if (welcome !== undefined) {
    relay.sessions[agent]?.pipe.push(Object.freeze({ type: "welcome", ...welcome }));
  }
}

/** The leaf that an agent has in the group of the log, as every member knows. */
export function leafIn({ members, entries }: Relay, agent: string): string {
  const joined = members[agent]?.joined ?? 0;
  const founding = entries.findLast(({ kind, sequence }) =>
    kind === "founding" && sequence > joined
  );
  if (founding?.sender === agent) return foundersLeaf(agent, founding.hash);
  return joined > 0 ? welcomedLeaf(agent, joined) : agent;
}

export function foundersLeaf(agent: string, hash: string): string {
  return `${agent} of ${hash}`;
}

export function welcomedLeaf(agent: string, joined: number): string {
  return `${agent} at ${joined}`;
}

/** The relay has not heard of an agent for too long. */
export function lapse(relay: Relay, agent: string): void {
  const member = relay.members[agent];
  if (member === undefined) return;
  relay.members = set<Member>(relay.members, agent, { ...member, lapsed: true });
}
