/**
 * The joiner's side: the request with its KeyPackage and proof of the invite's secret, and the wait
 * for the Welcome. The KeyPackage is remembered with the invite, so that a second attempt after a
 * timeout is the same request and no second use.
 */
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import {
  equalBytes,
  type Invite,
  inviteIdOf,
  joinMac,
  type JoinRequestId,
  limits,
  nobodyKnown,
  parseChannelName,
  parseInviteToken,
  parseJoinLink,
  readWelcomeHeader,
} from "../../proto/mod.ts";
import type { Agent } from "../channel/agent.ts";
import {
  checkDemands,
  checkOpened,
  type WelcomeDemands,
} from "../channel/group/welcome_demands.ts";
import type { ChannelRunner } from "../channel/runner/channel_runner.ts";
import { latestEpoch } from "../channel/runner/entrances.ts";
import type { Welcome } from "../channel/runner/welcomes.ts";
import { createDeferred } from "../base/deferred.ts";
import { createError, isCode, type StaticError, TransportError } from "../base/errors.ts";
import { toStaticError, translating } from "../channel/faults.ts";
import { inAlready } from "../channel/runner/name_refusals.ts";
import type { OwnKeyPackage } from "../mls/key_package.ts";
import { decodeFields, encodeFields } from "../store/mod.ts";

const kind = "joining";
/** The most rejections in one attempt; each request is refused once. */
const maxRejections = 1000;
/**
 * A request that was lost with the relay's memory, or had to make room there, is made again this
 * often.
 */
const repeatMs = 5_000;
const passing: ReadonlySet<string> = new Set(["join_timeout", "overloaded"]);

export async function joinWithToken(
  agent: Agent,
  text: string,
  { token, ...use }: JoinUse & { readonly token: string },
): Promise<ChannelRunner> {
  return await translating("Cannot join with the invite token", async () => {
    return await joinByInvite(agent, inviteInto(text, token), use);
  });
}

/**
 * Opens the token's channel when this agent is in it, else joins it. An agent that is in it stays,
 * also while it is out of step or the channel is stopped: the token may be an old one, with which
 * it could not come back.
 */
export async function joinOrOpen(
  agent: Agent,
  text: string,
  { token, ...use }: JoinUse & { readonly token: string },
): Promise<ChannelRunner> {
  return await translating("Cannot join or open the channel", async () => {
    const invite = inviteInto(text, token);
    const isKnown = agent.isIn(invite);
    try {
      return await joinByInvite(agent, invite, { ...use, staysStuck: true });
    } catch (error) {
      // By its keys it is in it: when the relay says so too, or cannot be asked.
      const isIn = isCode(error, "name_taken") ||
        (error instanceof TransportError && !isCode(error, "join_timeout"));
      if (isIn && agent.isIn(invite)) return await openHere(agent, invite, use);
      if (isCode(error, "join_rejected") && isKnown) throw wasIn(invite, error);
      throw error;
    }
  });
}

function inviteInto(text: string, token: string): Invite {
  const name = parseChannelName(text);
  const invite = parseInviteToken(token);
  if (invite.name === name) return invite;
  throw createError(
    "channel_error",
    `The invite token is for channel "${invite.name}", not for "${name}"`,
  );
}

/**
 * Opens the channel when this agent is in it already, so that a program is the same on its first
 * run and on every other.
 */
export async function joinByLink(
  agent: Agent,
  text: string,
  use: JoinUse,
): Promise<ChannelRunner> {
  return await translating("Cannot join by the link", async () => {
    const { invite, apiUrl, expiresAtMs } = parseJoinLink(text);
    const { service } = agent.parts.session;
    if (service !== undefined && service.apiUrl !== apiUrl) {
      const elsewhere =
        `This link is for ${apiUrl}, and this agent uses ${service.apiUrl}; connect another agent with the link`;
      throw createError("invalid_request", elsewhere);
    }
    try {
      return await joinByInvite(agent, invite, { ...use, expiresAtMs });
    } catch (error) {
      if (!isCode(error, "name_taken") || !agent.isIn(invite)) throw error;
      return await openHere(agent, invite, use);
    }
  });
}

async function openHere(
  agent: Agent,
  invite: Invite,
  demands: WelcomeDemands,
): Promise<ChannelRunner> {
  const channel = await agent.open(invite.name);
  const { membership } = channel.rooms;
  checkOpened(membership.group, invite.inviter, demands, agent.clocks.recogniser);
  return channel;
}

/** How the caller wants to join. */
export interface JoinUse extends WelcomeDemands {
  readonly timeoutMs: number;
}

interface InviteUse extends JoinUse {
  readonly expiresAtMs?: number | undefined;
  /** A channel in which this agent cannot go on now is not left for the invite. */
  readonly staysStuck?: boolean;
}

/**
 * Two calls for one channel, one after the other: for the second, the agent is in it. Its time
 * begins with the call.
 */
async function joinByInvite(agent: Agent, invite: Invite, use: InviteUse): Promise<ChannelRunner> {
  const { runtime, trust = nobodyKnown } = agent.parts;
  checkDemands(use, trust);
  const { timeoutMs } = use;
  const deadlineMs = runtime.nowMs() + timeoutMs;
  const late = createDeferred<never>();
  let isLate = false;
  const cancel = runtime.after(timeoutMs, () => {
    isLate = true;
    late.reject(unanswered(agent, timeoutMs));
  });
  const turn = agent.joining.run(invite.channelId, async () => {
    cancel();
    return isLate ? await late.promise : await joinInTurn(agent, invite, { ...use, deadlineMs });
  });
  return await Promise.race([turn, late.promise]);
}

async function joinInTurn(
  agent: Agent,
  invite: Invite,
  use: InviteUse & { readonly deadlineMs: number },
): Promise<ChannelRunner> {
  const { timeoutMs, deadlineMs, expiresAtMs = Infinity, staysStuck = false } = use;
  const { channelId, name, inviter } = invite;
  const { before, stuck } = await agent.check(name);
  if (stuck !== undefined && staysStuck) throw inAlready(name);
  if (expiresAtMs < agent.relayNowMs) {
    const text = `It has expired at ${new Date(expiresAtMs).toISOString()}; ask for a new one`;
    throw createError("join_rejected", text);
  }
  const formerly = await latestEpoch(channelId, agent.parts);
  if (stuck !== undefined) await leaveFor(invite, stuck, agent);
  const own = await keyPackageFor(agent, invite);
  const welcome = await new JoinAttempt(agent, invite, own).run({ timeoutMs, deadlineMs });
  const forget = (): Promise<void> => agent.parts.store.delete(kind, inviteIdOf(invite.secret));
  const expected = { channelId, name, inviter, formerly, demands: use };
  try {
    const channel = await agent.joinInvited(welcome.welcome, expected, before);
    await forget();
    return channel;
  } catch (error) {
    // The agent has left again: a member that was let in once is not let in by the same KeyPackage.
    if (isCode(error, "not_attested")) await forget();
    throw error;
  }
}

/**
 * The relay takes no request to join from a member. One that leaves keeps nothing, so somebody must
 * be there to let it in.
 */
async function leaveFor({ inviter }: Invite, stuck: ChannelRunner, agent: Agent): Promise<void> {
  const { members } = await agent.parts.session.call("ListMembers", { channelId: stuck.channelId });
  if (!members.some(({ agentId, online, leaving }) => agentId === inviter && online && !leaving)) {
    const text =
      "The inviter is not connected, or not in the channel any more. This agent keeps its place in it; try again " +
      "when the inviter runs";
    throw createError("join_timeout", text);
  }
  await agent.leave(stuck);
}

/** The one of an earlier attempt with this invite, or a new one. */
async function keyPackageFor(agent: Agent, { secret }: Invite): Promise<OwnKeyPackage> {
  const { store } = agent.parts;
  const inviteId = inviteIdOf(secret);
  const stored = await store.get(kind, inviteId);
  const known = stored &&
    await agent.keyPackages.find(hexToBytes(decodeFields(stored, kind).text(0)));
  if (known !== undefined) return known;
  const own = await agent.keyPackages.create();
  await store.put(kind, inviteId, encodeFields([bytesToHex(own.reference)]));
  return own;
}

class JoinAttempt {
  readonly #agent: Agent;
  readonly #invite: Invite;
  readonly #own: OwnKeyPackage;
  readonly #answer = createDeferred<Welcome>();
  #requestId: JoinRequestId | undefined;
  /** A quick inviter's no may arrive before the relay's answer that says which request is ours. */
  readonly #rejections = new Map<JoinRequestId, StaticError>();
  #deadlineMs = 0;
  #cancelRepeat: () => void = () => {};

  constructor(agent: Agent, invite: Invite, own: OwnKeyPackage) {
    this.#agent = agent;
    this.#invite = invite;
    this.#own = own;
  }

  /** `timeoutMs` is the time that the caller gave, of which some may have passed. */
  async run(
    { timeoutMs, deadlineMs }: { timeoutMs: number; deadlineMs: number },
  ): Promise<Welcome> {
    const { runtime } = this.#agent.parts;
    this.#deadlineMs = deadlineMs;
    const leftMs = Math.max(1, deadlineMs - runtime.nowMs());
    const cancelTimeout = runtime.after(
      leftMs,
      () => this.#answer.reject(unanswered(this.#agent, timeoutMs)),
    );
    const forgetWelcome = this.#agent.welcomes.expect(
      this.#invite.channelId,
      (welcome) => this.#take(welcome),
    );
    const forgetListener = this.#agent.listen({
      onOnline: () => void this.#request(),
      onJoinRejected: ({ requestId, code, message }) => {
        if (passing.has(code) || this.#rejections.size >= maxRejections) return;
        this.#rejections.set(requestId, refusedBy(code, message));
        this.#heed();
      },
    });
    try {
      void this.#request();
      return await this.#answer.promise;
    } finally {
      cancelTimeout();
      this.#cancelRepeat();
      forgetWelcome();
      forgetListener();
    }
  }

  #heed(): void {
    const rejection = this.#requestId && this.#rejections.get(this.#requestId);
    if (rejection !== undefined) this.#answer.reject(rejection);
  }

  #take(welcome: Welcome): boolean {
    try {
      const { recipients } = readWelcomeHeader(welcome.welcome);
      if (!recipients.some((reference) => equalBytes(reference, this.#own.reference))) return false;
    } catch {
      return false;
    }
    this.#answer.resolve(welcome);
    return true;
  }

  async #request(): Promise<void> {
    this.#cancelRepeat();
    const { session, runtime } = this.#agent.parts;
    const { channelId, name, inviter, secret } = this.#invite;
    const keyPackage = this.#own.message;
    const leftMs = Math.max(1, this.#deadlineMs - runtime.nowMs());
    let waitMs = repeatMs;
    try {
      const { requestId } = await session.call("RequestJoin", {
        channelId,
        inviteId: inviteIdOf(secret),
        keyPackage,
        mac: joinMac(secret, { channelId, name, inviter, keyPackage }),
        ttlMs: Math.min(Math.ceil(leftMs), limits.joinRequestMs),
      }, { timeoutMs: leftMs });
      this.#requestId = requestId;
      this.#heed();
    } catch (fault) {
      const error = toStaticError(fault, "Cannot request to join");
      const over = overError(this.#agent);
      if (over !== undefined) return this.#answer.reject(over);
      // Added by an answer to an earlier attempt: its Welcome is on its way.
      const wait = error instanceof TransportError || isCode(error, "already_member");
      if (!wait) return this.#answer.reject(explain(error));
      waitMs = Math.max(repeatMs, error.retryAfterMs ?? 0);
    }
    this.#cancelRepeat();
    this.#cancelRepeat = runtime.after(waitMs, () => void this.#request());
  }
}

/**
 * An inviter may give any reason. The one that this agent can do something about keeps its code.
 */
function refusedBy(code: string, message: string): StaticError {
  if (code === "identity_present" || code === "not_attested") {
    return createError(code, `Cannot join: the inviter refused: ${message}`);
  }
  return createError("join_rejected", `The inviter refused (${code}): ${message}`);
}

function explain(error: StaticError): StaticError {
  if (!isCode(error, "not_found")) return error;
  const text =
    "The invite is not known: it was revoked, has expired or was never given out; ask for a new one";
  return createError("join_rejected", text, { cause: error });
}

function wasIn({ name }: Invite, cause: StaticError): StaticError {
  const text =
    `This agent was in channel "${name}" and is not any more, as the relay says: it was removed, or the ` +
    "channel was closed. The token does not let it in again; ask for a new one";
  return createError("join_rejected", text, { cause });
}

/** Why no answer can come any more: the session is over, which is nobody's silence. */
function overError({ parts: { session: { state } } }: Agent): StaticError | undefined {
  if (state.kind !== "ended") return undefined;
  return state.error ??
    createError("transport_error", "Cannot join: the client was closed; connect again");
}

/** The time that the caller gave is over. */
function unanswered(agent: Agent, timeoutMs: number): StaticError {
  const over = overError(agent);
  if (over !== undefined) return over;
  const text =
    `Cannot join: nobody answered within ${timeoutMs} ms. The inviter must be running with an API key; then try ` +
    "again with the same token";
  return createError("join_timeout", text);
}
