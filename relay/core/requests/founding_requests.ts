/**
 * A new generation of a channel, for when nobody can follow its last commit. The relay cannot tell
 * a bad commit from a good one; it takes an owner's word, once for each generation, and members
 * judge it. The epoch of the log does not matter, so that nobody can starve a founding by commits
 * of its own: one that an entry overtakes is checked again here, without its sender.
 */
import {
  type AgentId,
  agentIdOf,
  commitStatement,
  encodeBase64url,
  equalBytes,
  foundingEpoch,
  foundingHash,
  foundingStatement,
  generationOf,
  limits,
  readWelcomeHeader,
  type ReplyBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import type { Entry, NewEntry } from "../../engine/engine.ts";
import { sentBy } from "../session/agent.ts";
import type { LoadedChannel } from "../channel/channel.ts";
import type { ChannelState } from "../channel/channel_state.ts";
import { decodeCommitBody, encodeFoundingBody } from "../channel/entry_body.ts";
import { inviteChanges } from "./invite_records.ts";
import { epochConflict, logSilent, Refusal } from "../refusal.ts";
import type { AgentAsker } from "./request_handler.ts";
import { type AppendAnswer, appendSettled, mayStand, roomIn } from "./append.ts";
import { checkOwner, openAsFounder } from "./channel_access.ts";
import { payHandshake, payLostAttempt, settling, takeReserve } from "./handshake_payment.ts";
import { rejectRequestsOf } from "./join_requests.ts";
import { claimKeyPackage, repeatClaim } from "./key_package_claims.ts";

type FoundingRequest = RequestBody<"FoundGeneration">;

export async function claimForFounding(
  asker: AgentAsker,
  { channelId, agentIds, nonce }: RequestBody<"ClaimForFounding">,
): Promise<ReplyBody<"ClaimForFounding">> {
  const { core, agent } = asker;
  const channel = await openAsFounder(asker, channelId);
  checkOwner(channel, agent.agentId);
  const { state } = channel;
  if (new Set(agentIds).size < agentIds.length) {
    throw new Refusal("invalid_request", "An agent is named twice");
  }
  const keyPackages: { agentId: AgentId; keyPackage: Uint8Array }[] = [];
  let retryAfterMs: number | undefined;
  for (const agentId of agentIds) {
    const member = state.members.get(agentId);
    if (!state.isActive(agentId) || member === undefined) continue;
    const hasJoined = (channel.cursor(agentId) ?? 0) >= member.joinedSequence;
    const claim = { channelId, agentId, nonce, hasJoined };
    let claimed = await repeatClaim(asker, claim);
    if (claimed === undefined) {
      // Each member is claimed once for each time that the relay lets an owner begin anew.
      const waitMs = core.limits.rates.foundings.take(`${channelId} ${agentId}`, core.deps.nowMs());
      retryAfterMs ??= waitMs;
      const anew = waitMs === undefined ? await claimKeyPackage(asker, claim) : undefined;
      claimed = anew !== undefined && "keyPackage" in anew ? anew : undefined;
    }
    // Members without one are absent at first: a founding for some is better than none.
    if (claimed !== undefined) keyPackages.push({ agentId, keyPackage: claimed.keyPackage });
  }
  if (keyPackages.length === 0 && retryAfterMs !== undefined) {
    throw new Refusal("rate_limited", "This channel was begun anew too often; try later", {
      retryAfterMs,
    });
  }
  return { keyPackages };
}

export function foundGeneration(
  asker: AgentAsker,
  body: FoundingRequest,
): Promise<ReplyBody<"FoundGeneration">> {
  return asker.session.inOrder(async (release) => {
    const { core, agent } = asker;
    const { channelId, founding } = body;
    const channel = await openAsFounder(asker, channelId);
    const hash = foundingHash({ channelId, ...founding });
    const key = `founding:${encodeBase64url(hash)}`;
    const original = await core.deps.engine.findKey(channelId, key);
    if (original !== undefined) return { ...answer(original), duplicate: true };
    checkLists(body);
    checkSignatures(asker, body);
    await checkBadCommit(asker, channel.state.epoch, body);
    checkTurn(asker, channel, body);
    const entryBody = encodeFoundingBody(body);
    const room = await roomIn(core, channel, agent.account);
    core.limits.storage.refuseRemoval();
    const exemption = takeReserve(asker, channelId, entryBody.body.length);
    if (exemption === undefined) core.limits.storage.refuseChange();
    const out = [founding.blamed, ...founding.without];
    const invites = await inviteChanges(core, channel, { added: [], removed: out, answers: [] });
    const payment = await payHandshake(asker, entryBody.body.length, exemption);
    const appending = settling(
      payment,
      appendJudged(asker, channel, body, {
        ...entryBody,
        key,
        commitHash: hash,
        records: invites.edits,
        ...(payment.charge && { charge: payment.charge }),
        ...(exemption === undefined && { room }),
      }),
    );
    release();
    const settled = await appending;
    if (!settled.duplicate) {
      core.deps.meter.commitsAccepted++;
      count(asker, channel);
      rejectRequestsOf(
        core,
        channelId,
        invites.ended,
        "The invite is over: the channel was begun anew without an agent; ask for a new one",
      );
      for (const { requestId, kind } of core.joins.ofChannel(channelId)) {
        if (kind === "rejoin") core.joins.remove(requestId);
      }
    }
    return { ...answer(settled), duplicate: settled.duplicate };
  });
}

const maxAttempts = 5;

/**
 * The engine refuses it behind a change that came after it was checked: that may have removed or
 * demoted its sender, or let a member leave. Then it is checked again. Each attempt is a command of
 * the log, so one that was lost is paid for and counted, and another one is made only within the
 * reserve or the allowance.
 */
async function appendJudged(
  asker: AgentAsker,
  channel: LoadedChannel,
  body: FoundingRequest,
  entry: Pick<
    NewEntry,
    "bodyVersion" | "body" | "key" | "commitHash" | "records" | "charge" | "room"
  >,
): Promise<AppendAnswer> {
  const { core, agent } = asker;
  const { generation, members } = body.founding;
  // When its turn has come: the check is as new as it can be.
  const makeEntry = (): NewEntry => {
    checkTurn(asker, channel, body);
    return {
      ...entry,
      kind: "founding",
      epoch: foundingEpoch(generation),
      fromEpoch: foundingEpoch(generation - 1),
      judgedAt: channel.state.sequence,
      sender: agent.agentId,
      timeMs: core.deps.nowMs(),
      ...sentBy(agent),
      added: [],
      removed: [...channel.state.members.keys()].filter((agentId) => !members.includes(agentId)),
    };
  };
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    refuseTooMany(asker, channel);
    let judgedAt: number | undefined;
    try {
      return await appendSettled(core, channel, () => {
        const made = makeEntry();
        judgedAt = made.judgedAt;
        return made;
      });
    } catch (error) {
      if (
        judgedAt === undefined || !(error instanceof Refusal) || error.code !== "epoch_conflict"
      ) throw error;
    }
    const isPaid = payLostAttempt(asker, channel.channelId, entry.body.length);
    // The founding does not stand in the log: nobody need wonder.
    try {
      if (await overtakerOf(asker, channel, judgedAt) !== body.founding.blamed) {
        count(asker, channel);
      }
      if (!isPaid) break;
      await core.deps.cluster?.catchUp();
    } catch (error) {
      throw mayStand(error) ? logSilent() : error;
    }
  }
  throw new Refusal("overloaded", "The channel changes too fast for this now; try again", {
    retryAfterMs: 100,
  });
}

function rateKey({ agent }: AgentAsker, { channelId }: LoadedChannel): string {
  return `${channelId} by ${agent.agentId}`;
}

/** Counts a founding for the hourly limit. */
function count(asker: AgentAsker, channel: LoadedChannel): void {
  asker.core.limits.rates.foundings.take(rateKey(asker, channel), asker.core.deps.nowMs());
}

/**
 * Throws `Refusal` when the sender's foundings of this channel, lost attempts included, were too
 * many in this hour.
 */
function refuseTooMany(asker: AgentAsker, channel: LoadedChannel): void {
  const { core } = asker;
  const retryAfterMs = core.limits.rates.foundings.waitMs(
    rateKey(asker, channel),
    core.deps.nowMs(),
  );
  if (retryAfterMs === undefined) return;
  throw new Refusal("rate_limited", "This channel was begun anew too often; try later", {
    retryAfterMs,
  });
}

const overtakerBytes = 256 * 1024;

/**
 * Returns the sender of the first change behind a position. The blamed agent must not use up its
 * founder's limit.
 */
async function overtakerOf(
  { core }: AgentAsker,
  { channelId }: LoadedChannel,
  after: number,
): Promise<AgentId | undefined> {
  const items = await core.deps.engine.read(channelId, { after, maxBytes: overtakerBytes });
  return items.flatMap((item) => item.kind !== "gap" && isChange(item) ? [item.sender] : [])[0];
}

function isChange(entry: Entry): boolean {
  if (entry.kind !== "commit") return entry.kind !== "message" && entry.kind !== "welcome";
  const { added, removed, owners } = decodeCommitBody(entry);
  return added.length + removed.length > 0 || owners !== undefined;
}

/** Whether its sender may begin the next generation now, and with these members. */
function checkTurn({ agent }: AgentAsker, channel: LoadedChannel, body: FoundingRequest): void {
  const { epoch } = channel.state;
  checkOwner(channel, agent.agentId);
  checkNobodyLeft(channel.state, body);
  if (generationOf(epoch) !== body.founding.generation - 1) {
    throw epochConflict(epoch, "another generation has begun");
  }
}

function answer(
  { sequence, epoch, timeMs }: {
    readonly sequence: number;
    readonly epoch: number;
    readonly timeMs: number;
  },
): Omit<ReplyBody<"FoundGeneration">, "duplicate"> {
  return { sequence, epoch: epoch + 1, timeMs };
}

/**
 * A leaving member signed about its leaf of the generation before: in the new group it would have
 * another leaf, and nobody could remove it.
 */
function checkNobodyLeft({ members }: ChannelState, { welcomes }: FoundingRequest): void {
  const welcomed = welcomes.flatMap(({ recipients }) => recipients);
  const left = welcomed.find((agentId) => members.get(agentId)?.leaving?.reason === "left");
  if (left !== undefined) {
    throw new Refusal("invalid_request", `Agent ${left} has left meanwhile; begin anew without it`);
  }
}

/**
 * Each list ascending and without repetition; everybody is in the group or absent, and the Welcome
 * is for the others. Whom it leaves out beside the blamed is for members to judge.
 */
function checkLists({ founding, absent, welcomes }: FoundingRequest): void {
  const { members, without, owners, blamed } = founding;
  const lists = [members, without, owners, absent, ...welcomes.map(({ recipients }) => recipients)];
  if (lists.some((list) => list.some((agentId, i) => i > 0 && agentId <= (list[i - 1] ?? "")))) {
    throw new Refusal("invalid_request", "Agents of a founding are listed ascending, each once");
  }
  const known = new Set(members);
  const founder = agentIdOf(founding.signatureKey, founding.identity);
  const welcomed = welcomes.flatMap(({ recipients }) => recipients);
  const counted = new Set([founder, ...absent, ...welcomed]);
  const isWhole = counted.size === 1 + absent.length + welcomed.length &&
    counted.size === known.size &&
    [...counted].every((agentId) => known.has(agentId));
  if (
    !isWhole || known.has(blamed) || !owners.includes(founder) ||
    !owners.every((owner) => known.has(owner))
  ) {
    throw new Refusal(
      "invalid_request",
      "The members of a founding are its founder, the welcomed and the absent",
    );
  }
  if (without.includes(blamed) || without.some((agentId) => known.has(agentId))) {
    throw new Refusal(
      "invalid_request",
      "A founding leaves out nobody that is its member or that it blames",
    );
  }
  if (members.length + without.length + 1 > limits.membersPerChannel) {
    throw new Refusal("invalid_request", "A founding names more agents than a channel has members");
  }
}

function checkSignatures({ core, agent }: AgentAsker, body: FoundingRequest): void {
  const { channelId, founding, proof, welcomes } = body;
  const { welcomeBytes } = core.config.limits;
  const isOwn = equalBytes(founding.signatureKey, agent.publicKey) &&
    agentIdOf(founding.signatureKey, founding.identity) === agent.agentId;
  const statement = foundingStatement({ channelId, ...founding });
  if (!isOwn || !core.deps.verifySignature(agent.publicKey, statement, founding.signature)) {
    throw new Refusal("invalid_request", "The signature of the founding statement is wrong");
  }
  const { signatureKey, identity, owners, ...signed } = proof;
  const declared = commitStatement({
    channelId,
    generation: founding.generation - 1,
    epoch: founding.baseEpoch,
    commitHash: founding.badCommit,
    owners: owners?.agentIds,
    ...signed,
  });
  const isBlamed = agentIdOf(signatureKey, identity) === founding.blamed;
  if (!isBlamed || !core.deps.verifySignature(signatureKey, declared, proof.signature)) {
    throw new Refusal(
      "invalid_request",
      "The blamed agent has not signed the commit that the founding names",
    );
  }
  for (const { welcome } of welcomes) {
    if (welcome.length > welcomeBytes) {
      throw new Refusal("payload_too_large", `A Welcome has at most ${welcomeBytes} bytes here`);
    }
    readWelcomeHeader(welcome);
  }
}

/**
 * The log's commit that ended the base is the one that is named, of the one that is blamed. Traces
 * of commits are forgotten one day; then its sender's signature has to do, and members compare with
 * the commit that they have seen.
 */
async function checkBadCommit(
  { core }: AgentAsker,
  epoch: number,
  { channelId, founding }: FoundingRequest,
): Promise<void> {
  const { generation, baseEpoch, badCommit, blamed } = founding;
  if (generationOf(baseEpoch) === generation - 1 && baseEpoch < epoch) {
    const found = await core.deps.engine.findCommit(channelId, baseEpoch);
    if (
      found === undefined || (equalBytes(found.commitHash, badCommit) && found.sender === blamed)
    ) return;
  }
  throw new Refusal(
    "invalid_request",
    "The log holds another commit than the one that the founding names",
  );
}
