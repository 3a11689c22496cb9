/**
 * By whom the members of a channel came in, as this agent saw it, and whom a recovery leaves out
 * beside the blamed agent. Every agent that came by another one that owns nothing, or by one of our
 * invites, has the *root* of its door: a label, so that an agent that leaves hides nobody that came
 * through it. Owners vouch: whom one lets in is a root of its own. Pure: neither store nor clock.
 */
import type { AgentId, InviteId } from "../../../proto/mod.ts";

/** How a member came in, of those that came after us. */
export interface MemberOrigin {
  /** The epoch in which it joined; 0 when we came back later. */
  readonly epoch: number;
  /** When we learned of it, by our own clock; 0 when that is not known. */
  readonly atMs: number;
  /** The member that let it in, as long as that is known and matters. */
  readonly through?: AgentId;
  /**
   * Its own id, the id of another agent, `invite ID`, or `return EPOCH` when it came in while we
   * were out.
   */
  readonly root: string;
}

export interface Lineage {
  /** Members without a row were here before us: each is its own root. */
  readonly since: ReadonlyMap<AgentId, MemberOrigin>;
  /** The roots of agents that were blamed, of which members are here, and when. */
  readonly struck: ReadonlyMap<string, number>;
}

export const noLineage: Lineage = { since: new Map(), struck: new Map() };

export type LineageEvent =
  | {
    readonly type: "commit";
    readonly committer: AgentId;
    readonly added: readonly AgentId[];
    readonly removed: readonly AgentId[];
    /** Both before the commit. */
    readonly absent: readonly AgentId[];
    readonly owners: readonly AgentId[];
    /** The epoch that the commit began. */
    readonly epoch: number;
    /** Returns our invite by which an agent came that we let in. */
    readonly inviteOf: (agentId: AgentId) => InviteId | undefined;
  }
  | { readonly type: "founding"; readonly blamed: AgentId; readonly out: readonly AgentId[] }
  /** A Welcome let us in again. */
  | { readonly type: "return"; readonly before: readonly AgentId[]; readonly epoch: number };

type LineageEventOf<Type extends LineageEvent["type"]> = Extract<
  LineageEvent,
  { readonly type: Type }
>;

export interface LineagePlace {
  readonly self: AgentId;
  /** Behind the event, with a leaf or absent. */
  readonly members: readonly AgentId[];
  readonly nowMs: number;
}

/** Fresh is a member for so long, and so long a second strike of one root counts as such. */
export const freshMs = 24 * 60 * 60 * 1000;

export function lineageAfter(before: Lineage, event: LineageEvent, place: LineagePlace): Lineage {
  const since = new Map(before.since);
  const struck = new Map(before.struck);
  switch (event.type) {
    case "commit":
      follow(since, event, place);
      break;
    case "founding":
      struck.set(rootOf(since, event.blamed), place.nowMs);
      for (const agentId of event.out) depart(since, agentId);
      break;
    case "return":
      comeBack(since, event, place);
  }
  const roots = new Set(place.members.map((agentId) => rootOf(since, agentId)));
  for (const root of struck.keys()) if (!roots.has(root)) struck.delete(root);
  return { since, struck };
}

/** The door by which a member came, as far as this agent knows. */
export function rootOf(since: Lineage["since"], agentId: AgentId): string {
  return since.get(agentId)?.root ?? agentId;
}

function follow(
  since: Map<AgentId, MemberOrigin>,
  event: LineageEventOf<"commit">,
  { self, nowMs }: LineagePlace,
): void {
  const { committer, added, removed, absent, owners, epoch, inviteOf } = event;
  // The rows before the commit count: an agent may be let in by one that is let in anew.
  const ofCommitter = owners.includes(committer) ? undefined : rootOf(since, committer);
  for (const agentId of added) {
    if (removed.includes(agentId) || absent.includes(agentId)) {
      const known = since.get(agentId) ?? { atMs: 0, root: agentId };
      since.set(agentId, { ...known, epoch });
      continue;
    }
    const inviteId = committer === self ? inviteOf(agentId) : undefined;
    const root = inviteId === undefined ? ofCommitter ?? agentId : `${ofInvite}${inviteId}`;
    since.set(agentId, { epoch, atMs: nowMs, through: committer, root });
  }
  for (const agentId of removed) if (!added.includes(agentId)) depart(since, agentId);
}

const ofInvite = "invite ";

/**
 * Returns whether an agent has its own root, or one invite: such a row is known without the member
 * that made it.
 */
function standsAlone(agentId: AgentId, { root }: MemberOrigin): boolean {
  return root === agentId || root.startsWith(ofInvite);
}

/**
 * A member goes. Those that came through it came through the one before it, unless an owner or an
 * invite of ours let them in.
 */
function depart(since: Map<AgentId, MemberOrigin>, gone: AgentId): void {
  const through = since.get(gone)?.through;
  since.delete(gone);
  for (const [agentId, row] of since) {
    if (row.through !== gone) continue;
    const { through: _, ...rest } = row;
    const isMoved = through !== undefined && !standsAlone(agentId, row);
    since.set(agentId, isMoved ? { ...rest, through } : rest);
  }
}

/**
 * Rows stay over a return: else a member that has us let in again could wipe them. For epochs all
 * others were here before.
 */
function comeBack(
  since: Map<AgentId, MemberOrigin>,
  { before, epoch }: LineageEventOf<"return">,
  { self, members, nowMs }: LineagePlace,
): void {
  const [was, present] = [new Set(before), new Set(members)];
  for (const agentId of since.keys()) {
    if (!present.has(agentId) || !was.has(agentId)) depart(since, agentId);
  }
  for (const agentId of was) if (!present.has(agentId)) depart(since, agentId);
  for (const [agentId, row] of since) since.set(agentId, { ...row, epoch: 0 });
  for (const agentId of members) {
    if (agentId === self || was.has(agentId)) continue;
    since.set(agentId, { epoch: 0, atMs: nowMs, root: `return ${epoch}` });
  }
}

export interface Base {
  /** With a leaf or absent, with us and the blamed. */
  readonly members: readonly AgentId[];
  readonly owners: readonly AgentId[];
  readonly self: AgentId;
}

/** The agents that a recovery would leave out beside the blamed. */
export interface ExclusionList {
  readonly list: readonly AgentId[];
  /**
   * Those of them that are there only because one of their root was blamed within the day before.
   */
  readonly ofDoor: readonly AgentId[];
  /**
   * The members of which a quarter may be on the list: those that the attacker has not just let in
   * itself.
   */
  readonly counted: number;
  /** Too many, or a second strike: an owner must say who goes. */
  readonly needsChoice: boolean;
}

export const nobodyElse: ExclusionList = { list: [], ofDoor: [], counted: 0, needsChoice: false };

export function leftOutBy(
  { since, struck }: Lineage,
  base: Base,
  blamed: AgentId,
  nowMs: number,
): ExclusionList {
  const { members, owners, self } = base;
  const others = members.filter((agentId) =>
    agentId !== self && agentId !== blamed && !owners.includes(agentId)
  );
  const isFresh = (agentId: AgentId): boolean => isRecent(since.get(agentId)?.atMs ?? 0, nowMs);
  const byDefault = lineOf(since, others, blamed).filter(isFresh);
  const root = rootOf(since, blamed);
  const isAgain = isRecent(struck.get(root) ?? 0, nowMs);
  const ofDoor = isAgain
    ? others.filter((agentId) =>
      !byDefault.includes(agentId) && (rootOf(since, agentId) === root || agentId === root)
    )
    : [];
  const list = [...byDefault, ...ofDoor];
  const counted = members.filter((agentId) => {
    const row = since.get(agentId);
    return row === undefined || !isFresh(agentId) || standsAlone(agentId, row);
  }).length;
  return {
    list,
    ofDoor,
    counted,
    needsChoice: list.length > Math.floor(counted / 4) || ofDoor.length > 0,
  };
}

/**
 * All that came through an agent, and through those, in the order of the walk. It ends at members
 * that an owner let in: these count only for the owner itself.
 */
function lineOf(since: Lineage["since"], others: readonly AgentId[], blamed: AgentId): AgentId[] {
  const letIn = new Map<AgentId, AgentId[]>();
  for (const agentId of others) {
    const row = since.get(agentId);
    if (row?.through === undefined || (row.through !== blamed && row.root === agentId)) continue;
    letIn.set(row.through, [...letIn.get(row.through) ?? [], agentId]);
  }
  const line: AgentId[] = [];
  const walked = new Set<AgentId>([blamed]);
  for (const agentId of walked) {
    for (const next of letIn.get(agentId) ?? []) {
      if (!walked.has(next)) line.push(next);
      walked.add(next);
    }
  }
  return line;
}

/** A time in the future is recent: the clock was put back. */
function isRecent(atMs: number, nowMs: number): boolean {
  return atMs !== 0 && atMs > nowMs - freshMs;
}
