/** Opening, renewing and ending a session. */
import {
  type AgentId,
  agentIdOf,
  authenticationStatement,
  equalBytes,
  limits,
  protocolVersion,
  type ReplyBody,
  type RequestBody,
  sessionFeatures,
} from "../../../proto/mod.ts";
import { networkOf } from "../../../server/limits/mod.ts";
import type { LogMoment } from "../cluster.ts";
import type { VerifiedToken } from "../deps.ts";
import type { EndReason } from "../client_link.ts";
import { planOf } from "../limits/plans.ts";
import { Refusal } from "../refusal.ts";
import type { AgentAsker, Asker } from "./request_handler.ts";
import type { ConnectedAgent } from "../session/agent.ts";
import type { Session } from "../session/session.ts";
import { isReplaced } from "../session/sessions.ts";

const nonceBytes = 32;

const notAuthenticated: EndReason = {
  code: "auth_failed",
  message: "The connection did not authenticate in time",
};

export function getChallenge(
  { core, session }: Asker,
  { versions, features }: RequestBody<"GetChallenge">,
): ReplyBody<"GetChallenge"> {
  if (!versions.includes(protocolVersion)) {
    const spoken = `This relay speaks version ${protocolVersion} of its protocol, the client ${
      versions.join(", ")
    }`;
    throw new Refusal("unsupported_version", `${spoken}; update the older one`);
  }
  const nonce = core.deps.randomBytes(nonceBytes);
  const nowMs = core.deps.nowMs();
  // Once: a client that only asks for challenges does not stay.
  if (!session.challenged) session.expireAfter(limits.challengeMs, notAuthenticated);
  const shared = core.config.features.filter((feature) => features.includes(feature));
  session.challenge = {
    nonce,
    untilMs: nowMs + limits.challengeMs,
    since: core.deps.cluster?.moment(),
    features: shared,
  };
  return {
    version: protocolVersion,
    nonce,
    expiresInMs: limits.challengeMs,
    relayTimeMs: nowMs,
    cellBytes: core.config.cellBytes,
    features: shared,
  };
}

export async function authenticate(
  { core, session }: Asker,
  body: RequestBody<"Authenticate">,
): Promise<ReplyBody<"Authenticate">> {
  refuseSecondAgent(session);
  const { nowMs, engine } = core.deps;
  const { since, features } = spendChallenge(session, body.relayNonce, nowMs());
  if (!core.config.origins.includes(body.origin)) {
    throw new Refusal(
      "auth_failed",
      "The signed origin is not one of this relay's; check the configured endpoint",
    );
  }
  const agentId = agentIdOf(body.publicKey, body.identity);
  if (!core.deps.verifySignature(body.publicKey, statementOf(body, agentId), body.signature)) {
    throw new Refusal("auth_failed", "The signature of the authentication statement is wrong");
  }
  const token = await verifyToken(core.deps.tokens.verify(body.token));
  const { logins } = core.limits;
  const isMember = logins.isScarce
    ? await engine.isListed(agentId)
    : await core.sessions.isMember(agentId);
  const retryAfterMs = logins.take({ agentId, account: token.account, isMember });
  if (retryAfterMs !== undefined) {
    core.deps.meter.sessionsRefused++;
    const text = "Too many agents log in at once; come back when it is your turn";
    throw new Refusal("overloaded", text, { retryAfterMs });
  }
  // Behind it, everything that this agent was told by another relay is known here, and what it left
  // there is void.
  const number = await beginInLog({ core, session, quiet: false }, agentId, since);
  try {
    adopt({ core, session, quiet: false }, {
      agentId,
      publicKey: body.publicKey,
      token,
      number,
      isMember,
      knowsReturns: features.includes(sessionFeatures.returns),
    });
  } finally {
    // Also when there was no place for it, or it has ended meanwhile.
    if (number !== undefined && session.agent === undefined) {
      core.deps.cluster?.endSession(agentId, number);
    }
  }
  const { keyPackages, hasLastResort } = await engine.keyPackages.count(agentId, nowMs());
  return {
    agentId,
    expiresAtMs: token.expiresAtMs,
    relayTimeMs: nowMs(),
    sessionToken: new Uint8Array(0),
    keyPackages,
    limits: core.config.limits,
    hasLastResort,
    returnWithinMs: returnTime(core, session),
  };
}

/**
 * Where relays share a log. Counted from the challenge: a relay that stood still since then, or
 * verified the token for long, may find the agent gone to another one.
 */
async function beginInLog(
  { core, session }: Asker,
  agentId: AgentId,
  since: LogMoment | undefined,
): Promise<number | undefined> {
  const { cluster } = core.deps;
  if (cluster === undefined) return undefined;
  return await cluster.beginSession(agentId, {
    since: since ?? cluster.moment(),
    isWanted: () => !session.isEnded,
  });
}

interface AuthenticatedAgent {
  readonly agentId: AgentId;
  readonly publicKey: Uint8Array;
  readonly token: VerifiedToken;
  readonly number: number | undefined;
  readonly isMember: boolean;
  readonly knowsReturns: boolean;
}

function adopt(
  { core, session }: Asker,
  { agentId, publicKey, token, number, isMember, knowsReturns }: AuthenticatedAgent,
): void {
  if (session.isEnded) throw new Refusal("transport_error", "The session has ended");
  // Again: the answer to a second challenge may have been faster.
  refuseSecondAgent(session);
  const { account, issuedAtMs, expiresAtMs, grant } = token;
  const suspension = core.sessions.suspension(account);
  if (suspension !== undefined) throw new Refusal(suspension.code, suspension.message);
  const plan = planOf(token.plan);
  const visitor = grant?.isPublic ? networkOf(session.link.remoteAddress) : undefined;
  const agent: ConnectedAgent = {
    agentId,
    publicKey,
    account,
    plan,
    issuedAtMs,
    expiresAtMs,
    grant,
    visitor,
    session: number,
    knowsReturns,
  };
  core.sessions.adopt(session, agent, isMember);
  if (number !== undefined && core.deps.cluster?.isNewest(agentId, number) === false) {
    session.end(isReplaced);
  }
}

export async function renewToken(
  { core, session, agent }: AgentAsker,
  { token }: RequestBody<"RenewToken">,
): Promise<ReplyBody<"RenewToken">> {
  const { account, plan, issuedAtMs, expiresAtMs, grant } = await verifyToken(
    core.deps.tokens.verify(token),
  );
  if (account !== agent.account) {
    throw new Refusal("auth_failed", "The token is of another account; open a new session for it");
  }
  // Open subscriptions were judged by the first token's scopes.
  if (JSON.stringify(grant) !== JSON.stringify(agent.grant)) {
    throw new Refusal(
      "auth_failed",
      "The token has other scopes, or is of another key; open a new session for it",
    );
  }
  if (expiresAtMs > agent.expiresAtMs) {
    agent.expiresAtMs = expiresAtMs;
    agent.plan = planOf(plan);
    agent.issuedAtMs = issuedAtMs;
    core.sessions.learnToken(session, agent);
  }
  return { expiresAtMs: agent.expiresAtMs };
}

export function ping({ core, session }: Asker): ReplyBody<"Ping"> {
  return { relayTimeMs: core.deps.nowMs(), returnWithinMs: returnTime(core, session) };
}

/** Older clients refuse a field that they do not know. */
function returnTime({ sessions }: Asker["core"], { agent }: Session): number | undefined {
  return agent?.knowsReturns === true ? sessions.returnWithinMs : undefined;
}

/** The session ends once the reply is on its way. */
export function endSession(): ReplyBody<"EndSession"> {
  return {};
}

export function configureCover(
  { session }: Asker,
  { mode, intervalMs }: RequestBody<"ConfigureCover">,
): ReplyBody<"ConfigureCover"> {
  if (mode !== "off" && intervalMs < limits.minCoverIntervalMs) {
    throw new Refusal(
      "invalid_request",
      `Cover traffic needs an interval of at least ${limits.minCoverIntervalMs} ms`,
    );
  }
  session.configureCover({ mode, intervalMs });
  return { mode, intervalMs };
}

function refuseSecondAgent({ agent }: Session): void {
  if (agent === undefined) return;
  throw new Refusal(
    "invalid_request",
    "This session is authenticated already; RenewToken renews it",
  );
}

/** A nonce is good once, whatever becomes of the attempt. */
function spendChallenge(
  session: Session,
  relayNonce: Uint8Array,
  nowMs: number,
): NonNullable<Session["challenge"]> {
  const { challenge } = session;
  session.challenge = undefined;
  if (challenge === undefined || !equalBytes(challenge.nonce, relayNonce)) {
    throw new Refusal(
      "auth_failed",
      "The challenge is not the one of this session, or was used; ask for a new one",
    );
  }
  if (nowMs > challenge.untilMs) {
    throw new Refusal("auth_failed", "The challenge has expired; ask for a new one");
  }
  return challenge;
}

function statementOf(body: RequestBody<"Authenticate">, agentId: AgentId): Uint8Array {
  const { origin, relayNonce, clientNonce, token } = body;
  return authenticationStatement({ origin, relayNonce, clientNonce, token, agentId });
}

async function verifyToken(
  verifying: Promise<VerifiedToken | { readonly refused: string }>,
): Promise<VerifiedToken> {
  const verified = await verifying.catch(() => {
    throw new Refusal("overloaded", "Tokens cannot be verified at the moment; try again", {
      retryAfterMs: 1_000,
    });
  });
  if ("refused" in verified) throw new Refusal("auth_failed", verified.refused);
  return verified;
}
