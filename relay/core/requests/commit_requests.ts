/** Commits and their Welcomes: one entry carries all of a change, and one commit ends an epoch. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import {
  type AgentId,
  agentIdOf,
  commitStatement,
  encodeBase64url,
  equalBytes,
  generationOf,
  groupIdOf,
  readPrivateMessageHeader,
  readWelcomeHeader,
  type ReplyBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import { authorizeCommit } from "./authorization.ts";
import { sentBy } from "../session/agent.ts";
import type { LoadedChannel } from "../channel/channel.ts";
import type { ChannelState } from "../channel/channel_state.ts";
import { encodeCommitBody, encodeWelcomeBody } from "../channel/entry_body.ts";
import { inviteChanges } from "./invite_records.ts";
import { mayAnswer } from "../channel/pending_joins.ts";
import { channelNotFound, epochConflict, Refusal } from "../refusal.ts";
import type { AgentAsker, CoreParts } from "./request_handler.ts";
import { type AppendAnswer, appendSettled, roomIn } from "./append.ts";
import { openAsMember, openAsReader, reachEpoch } from "./channel_access.ts";
import { type Exemption, payHandshake, settling, takeReserve } from "./handshake_payment.ts";
import { rejectRequestsOf } from "./join_requests.ts";
import { admitUnasked, welcomeBytesOf } from "./unsolicited_welcomes.ts";

type CommitRequest = RequestBody<"SendCommit">;

const inviteEnded =
  "The invite is over: an owner removed the agent that made it, or one that came in by it; ask for a new one";

export function sendCommit(
  asker: AgentAsker,
  body: RequestBody<"SendCommit">,
): Promise<ReplyBody<"SendCommit">> {
  return asker.session.inOrder(async (release) => {
    const channel = await openAsMember(asker, body.channelId);
    checkHeader(asker, body);
    const commitHash = sha256(body.commit);
    const author = authorOf(asker, body);
    checkSignature(asker, author, body, commitHash);
    const key = `commit:${encodeBase64url(commitHash)}`;
    const original = await asker.core.deps.engine.findKey(channel.channelId, key);
    if (original !== undefined) return answer({ ...original, duplicate: true }, commitHash);
    await reachEpoch(asker.core, channel, body.epoch);
    // Again: a commit that came meanwhile may have removed the sender, and made a future epoch the
    // current one.
    if (!channel.state.isActive(asker.agent.agentId)) throw channelNotFound();
    if (body.epoch !== channel.state.epoch) {
      asker.core.deps.meter.epochConflicts++;
      throw epochConflict(channel.state.epoch);
    }
    authorizeCommit(asker.agent, channel, body.added);
    checkState(channel, body);
    checkChange(asker, author.agentId, channel, body);
    const welcomeBytes = welcomeBytesOf(body.welcomes);
    using _adding = await admitUnasked(asker.core, channel, {
      added: body.added,
      answers: body.answers,
      welcomeBytes,
    });
    const { core, agent } = asker;
    const room = await roomIn(core, channel, agent.account);
    const invites = await inviteChanges(core, channel, body);
    const { author: _, ...commit } = body;
    const entryBody = encodeCommitBody(commit);
    const exemption = exempt(asker, channel, body, entryBody.body.length);
    if (isGrowth(channel, body)) core.limits.storage.refuseGrowth(entryBody.body.length);
    else if (exemption === undefined) core.limits.storage.refuseChange();
    const payment = await payHandshake(asker, entryBody.body.length, exemption);
    const appending = settling(
      payment,
      appendSettled(core, channel, {
        kind: "commit",
        epoch: body.epoch,
        sender: author.agentId,
        timeMs: core.deps.nowMs(),
        ...entryBody,
        key,
        ...sentBy(agent),
        added: body.added,
        removed: body.removed,
        isRoutine: isRoutine(channel, body),
        commitHash,
        welcomeBytes,
        records: invites.edits,
        ...(payment.charge && { charge: payment.charge }),
        ...(exemption === undefined && { room }),
      }, { sender: agent.account }),
    );
    release();
    const settled = await appending;
    if (!settled.duplicate) {
      core.deps.meter.commitsAccepted++;
      rejectRequestsOf(core, channel.channelId, invites.ended, inviteEnded);
    }
    return answer(settled, commitHash);
  });
}

/**
 * Whether the commit adds an agent that had no place in the channel: one that comes back takes no
 * more room than before.
 */
function isGrowth({ state }: LoadedChannel, { added, removed }: CommitRequest): boolean {
  const gone = new Set(removed);
  return added.some((agentId) => !gone.has(agentId) && !state.absent.has(agentId));
}

/**
 * Whether nobody comes or goes, and the owners stay the same: anybody may name those that there
 * are. The log takes a commit only in the epoch whose owners these are.
 */
function isRoutine({ state }: LoadedChannel, { added, removed, owners }: CommitRequest): boolean {
  return added.length + removed.length === 0 &&
    (owners === undefined || sameAgents(owners.agentIds, [...state.owners]));
}

/** Commits that only remove members, or admit them again, are how a channel recovers. */
function exempt(
  asker: AgentAsker,
  channel: LoadedChannel,
  body: CommitRequest,
  bytes: number,
): Exemption | undefined {
  const { channelId, added, removed } = body;
  if (isGrowth(channel, body) || added.length + removed.length === 0) return undefined;
  asker.core.limits.storage.refuseRemoval();
  return takeReserve(asker, channelId, bytes);
}

function answer(
  { sequence, epoch, timeMs, duplicate }: AppendAnswer,
  commitHash: Uint8Array,
): { sequence: number; epoch: number; commitHash: Uint8Array; timeMs: number; duplicate: boolean } {
  return { sequence, epoch: epoch + 1, commitHash, timeMs, duplicate };
}

function checkHeader(
  { core }: AgentAsker,
  { channelId, epoch, commit, welcomes }: CommitRequest,
): void {
  const { commitBytes, welcomeBytes } = core.config.limits;
  if (commit.length > commitBytes) {
    throw new Refusal("payload_too_large", `A commit has at most ${commitBytes} bytes here`);
  }
  const header = readPrivateMessageHeader(commit);
  if (header.contentType !== "commit") {
    throw new Refusal(
      "invalid_request",
      `SendCommit takes commits, this is of content type ${header.contentType}`,
    );
  }
  if (header.channelId !== groupIdOf(channelId, generationOf(epoch)) || header.epoch !== epoch) {
    throw new Refusal(
      "invalid_request",
      "The commit is for another channel or epoch than its request says",
    );
  }
  for (const { welcome } of welcomes) checkWelcome(welcome, welcomeBytes);
}

interface Author {
  readonly agentId: AgentId;
  readonly publicKey: Uint8Array;
}

/**
 * Returns who made the commit: the asker, but for one that a log which was set back has lost. Any
 * member puts such a commit back as it was made, and stands for nothing in it.
 */
function authorOf({ agent }: AgentAsker, { author, welcomes, answers }: CommitRequest): Author {
  if (author === undefined) return agent;
  if (welcomes.length > 0 || answers.length > 0) {
    throw new Refusal(
      "invalid_request",
      "A commit of another member is put back without Welcomes and answers",
    );
  }
  return {
    agentId: agentIdOf(author.signatureKey, author.identity),
    publicKey: author.signatureKey,
  };
}

/**
 * So that nobody but its author stands for a commit, and for what it declares: members check it
 * with the author's leaf.
 */
function checkSignature(
  { core }: AgentAsker,
  author: Author,
  body: CommitRequest,
  commitHash: Uint8Array,
): void {
  if (body.generation !== generationOf(body.epoch)) {
    throw new Refusal(
      "invalid_request",
      "The commit's epoch is of another generation than its request says",
    );
  }
  const statement = commitStatement({ ...body, commitHash, owners: body.owners?.agentIds });
  if (core.deps.verifySignature(author.publicKey, statement, body.signature)) return;
  throw new Refusal("invalid_request", "The signature of the commit statement is wrong");
}

/**
 * Somebody that a wrong Welcome let in with other keys would make a commit that nobody can follow,
 * and not know it.
 */
function checkState(
  { state: { epochState } }: LoadedChannel,
  { state, author }: CommitRequest,
): void {
  if (epochState === undefined ? author === undefined : equalBytes(epochState, state)) return;
  throw new Refusal(
    "state_conflict",
    "This agent has other keys than the channel's group in this epoch; rejoin the channel, and ask another member",
  );
}

function checkWelcome(welcome: Uint8Array, maxBytes: number): void {
  if (welcome.length > maxBytes) {
    throw new Refusal("payload_too_large", `A Welcome has at most ${maxBytes} bytes here`);
  }
  readWelcomeHeader(welcome);
}

/** Against the membership of the epoch in which the commit was made, which is the current one. */
function checkChange(
  { core, agent }: AgentAsker,
  author: AgentId,
  channel: LoadedChannel,
  body: CommitRequest,
): void {
  const { state } = channel;
  // The author of one that is put back may have left since it made it.
  const mayCommit = body.author === undefined ? state.isActive(author) : state.members.has(author);
  if (!mayCommit) throw new Refusal("not_allowed", `Agent ${author} is not in the channel`);
  const { added, removed } = body;
  checkLists(body);
  const gone = new Set(removed);
  if (gone.has(author)) {
    throw new Refusal("invalid_request", "A commit cannot remove its sender; leave instead");
  }
  // An absent one may have been removed here by a commit that its founding has undone: the group
  // still names it.
  const stranger = removed.find((agentId) =>
    !state.members.has(agentId) && !state.absent.has(agentId)
  );
  if (stranger !== undefined) {
    throw new Refusal("invalid_request", `Agent ${stranger} is not in the channel`);
  }
  const isPresent = (agentId: AgentId): boolean =>
    state.members.has(agentId) && !state.absent.has(agentId);
  const present = added.find((agentId) => isPresent(agentId) && !gone.has(agentId));
  if (present !== undefined) {
    throw new Refusal("already_member", `Agent ${present} is in the channel already`);
  }
  if (state.members.size - removed.length + added.length > core.config.limits.membersPerChannel) {
    throw new Refusal(
      "member_limit_reached",
      `A channel has at most ${core.config.limits.membersPerChannel} members here`,
    );
  }
  const answered = checkAnswers(core, agent.agentId, body);
  checkReturns(core, state, body);
  // The requests of members that left or came back are lost with the log: an owner that puts the
  // commit back vouches for them. A member that asks again now, because nobody else can go on,
  // agrees that it came back.
  const rejoining = body.author === undefined ? answered : askingIn(core, body);
  if (state.owners.has(author) || state.owners.has(agent.agentId)) return checkOwners(body);
  checkUnowned(channel, body, rejoining);
}

/** The agents whose open requests to come back this commit answers. */
function checkAnswers(
  { joins }: CoreParts,
  sender: AgentId,
  { channelId, answers, added }: CommitRequest,
): Set<AgentId> {
  const rejoins = answers.flatMap((requestId) => {
    const request = joins.find(requestId);
    return request?.kind === "rejoin" && request.channelId === channelId ? [request] : [];
  });
  if (rejoins.some((request) => !mayAnswer(request, sender))) {
    throw new Refusal("not_allowed", "An agent asked another member to let it in again");
  }
  return new Set(
    rejoins.map(({ agentId }) => agentId).filter((agentId) => added.includes(agentId)),
  );
}

/** Returns those of the added that ask to come back, whomever they ask. */
function askingIn({ joins }: CoreParts, { channelId, added }: CommitRequest): Set<AgentId> {
  return new Set(added.filter((agentId) => joins.ofAgent(agentId, channelId)?.kind === "rejoin"));
}

/**
 * An answer to a request that its agent has withdrawn by leaving would bring in an agent that wants
 * to be out.
 */
function checkReturns(
  { joins }: CoreParts,
  state: ChannelState,
  { answers, added }: CommitRequest,
): void {
  if (answers.every((requestId) => joins.find(requestId) !== undefined)) return;
  if (added.every((agentId) => state.members.get(agentId)?.leaving?.reason !== "left")) return;
  throw new Refusal("not_allowed", "An agent has left since it asked to be let in");
}

function checkOwners({ owners }: CommitRequest): void {
  if (owners?.agentIds.length === 0) {
    throw new Refusal("invalid_request", "A channel needs an owner");
  }
}

/** Nobody is named twice, and Welcomes are for those who are added. */
function checkLists({ added, removed, welcomes }: CommitRequest): void {
  const joining = new Set(added);
  if (joining.size < added.length || new Set(removed).size < removed.length) {
    throw new Refusal("invalid_request", "An agent is named twice among those added or removed");
  }
  const recipients = welcomes.flatMap(({ recipients }) => recipients);
  if (
    welcomes.some(({ recipients }) => recipients.length === 0) ||
    new Set(recipients).size < recipients.length
  ) {
    throw new Refusal(
      "invalid_request",
      "A Welcome is for nobody, or for the same agent as another",
    );
  }
  const uninvited = recipients.find((agentId) => !joining.has(agentId));
  if (uninvited !== undefined) {
    throw new Refusal(
      "invalid_request",
      `A Welcome is for agent ${uninvited}, which the commit does not add`,
    );
  }
}

/**
 * A member that owns nothing removes, and brings back, only those who asked for it. Members judge
 * the proofs in the commit.
 */
function checkUnowned(
  { state }: LoadedChannel,
  { added, removed, owners }: CommitRequest,
  rejoining: ReadonlySet<AgentId>,
): void {
  const hasLeft = (agentId: AgentId): boolean =>
    state.members.get(agentId)?.leaving?.reason === "left";
  if (removed.some((agentId) => !hasLeft(agentId) && !rejoining.has(agentId))) {
    throw new Refusal("not_allowed", "Only owners remove members that did not ask for it");
  }
  if (added.some((agentId) => state.absent.has(agentId) && !rejoining.has(agentId))) {
    throw new Refusal(
      "not_allowed",
      "Only owners bring in an absent member that did not ask for it",
    );
  }
  if (owners === undefined) return;
  const remaining = [...state.owners].filter((owner) =>
    !removed.includes(owner) || (added.includes(owner) && !hasLeft(owner))
  );
  if (!sameAgents(owners.agentIds, remaining)) {
    throw new Refusal("not_allowed", "Only owners change the owners");
  }
}

function sameAgents(a: readonly AgentId[], b: readonly AgentId[]): boolean {
  return a.length === b.length && new Set([...a, ...b]).size === a.length;
}

export async function sendWelcome(
  asker: AgentAsker,
  body: RequestBody<"SendWelcome">,
): Promise<ReplyBody<"SendWelcome">> {
  const { core, agent } = asker;
  const channel = await openAsMember(asker, body.channelId);
  await reachEpoch(core, channel, body.epoch);
  // The epoch is read at the moment in which the sender is a member: a commit that comes meanwhile
  // makes the Welcome a conflict.
  const { epoch } = channel.state;
  checkWelcome(body.welcome, core.config.limits.welcomeBytes);
  const { recipients } = body;
  if (recipients.length === 0 || new Set(recipients).size < recipients.length) {
    throw new Refusal("invalid_request", "A Welcome is for nobody, or names an agent twice");
  }
  if (body.epoch < 1 || body.epoch > channel.state.epoch) throw epochConflict(channel.state.epoch);
  const hash = sha256(
    concatBytes(utf8ToBytes(`${body.epoch} ${[...recipients].sort().join()} `), body.welcome),
  );
  const key = `welcome:${bytesToHex(hash)}`;
  const original = await core.deps.engine.findKey(channel.channelId, key);
  if (original !== undefined) return { sequence: original.sequence, duplicate: true };
  for (const agentId of recipients) await checkWelcomeFor(channel, agentId, agent.agentId);
  core.limits.storage.refuseGrowth(body.welcome.length);
  const welcomeBytes = welcomeBytesOf([body]);
  using _adding = await admitUnasked(core, channel, {
    added: recipients,
    answers: [],
    welcomeBytes,
  });
  const room = await roomIn(core, channel, agent.account);
  const entryBody = encodeWelcomeBody(body);
  const payment = await payHandshake(asker, entryBody.body.length);
  const { sequence, duplicate } = await settling(
    payment,
    appendSettled(core, channel, {
      kind: "welcome",
      epoch,
      sender: agent.agentId,
      timeMs: core.deps.nowMs(),
      ...entryBody,
      key,
      ...sentBy(agent),
      added: [],
      removed: [],
      welcomeBytes,
      ...(payment.charge && { charge: payment.charge }),
      room,
    }, { sender: agent.account }),
  );
  return { sequence, duplicate };
}

/**
 * The recipient was added and has not taken a Welcome yet. Only the member that added it can make
 * one, and what another member sends would take the place of a good one.
 */
async function checkWelcomeFor(
  channel: LoadedChannel,
  recipient: AgentId,
  sender: AgentId,
): Promise<void> {
  const member = channel.state.members.get(recipient);
  const waits = channel.state.isActive(recipient) && member !== undefined &&
    (channel.cursor(recipient) ?? 0) < member.joinedSequence;
  if (!waits) {
    throw new Refusal(
      "invalid_request",
      `Agent ${recipient} does not wait for a Welcome into this channel`,
    );
  }
  const added = (await channel.itemAt(member.joinedSequence))?.item;
  if (added?.kind === "commit" && added.sender === sender) return;
  throw new Refusal(
    "not_allowed",
    `Agent ${recipient} was added by another member, which sends its Welcome`,
  );
}

export async function findCommit(
  asker: AgentAsker,
  { channelId, epoch, generation }: RequestBody<"FindCommit">,
): Promise<ReplyBody<"FindCommit">> {
  // Also for one that was removed: it asks before it reads what is left for it.
  const channel = await openAsReader(asker, channelId);
  const { state } = channel;
  const end = channel.endOf(asker.agent.agentId)?.sequence ?? Infinity;
  const found = generation === generationOf(epoch)
    ? await asker.core.deps.engine.findCommit(channelId, epoch)
    : undefined;
  if (found === undefined || found.sequence > end) return { epoch: state.epoch };
  const { sequence, commitHash, sender, timeMs } = found;
  return { epoch: state.epoch, commit: { sequence, commitHash, sender, timeMs } };
}
