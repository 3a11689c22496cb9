/** From options to an agent: its store, its identity, its session. */
import { agentIdOf } from "../../proto/mod.ts";
import { createSignatures } from "../mls/crypto/signatures.ts";
import { openIdentity } from "../mls/identity.ts";
import { createError } from "../base/errors.ts";
import { Agent } from "../channel/agent.ts";
import type { AgentParts } from "../channel/agent_parts.ts";
import { translating } from "../channel/faults.ts";
import { OwnBadges } from "../channel/own_badges.ts";
import { badgeSourceOf } from "./badge_source.ts";
import { readLinkOptions } from "./connect_link.ts";
import type { ConnectOptions } from "./connect_options.ts";
import { ServiceBadge } from "./service_badge.ts";
import type { Platform } from "../platform/platform.ts";
import { createEndedSession } from "../session/ended_session.ts";
import {
  type ConnectDeadline,
  firstConnection,
  patienceMs,
  whileBusy,
} from "../session/first_connection.ts";
import { openRelaySession } from "../session/open_session.ts";
import type { RelaySession } from "../session/relay_session.ts";
import { type RecordStore, storeMigrations } from "../store/mod.ts";

/** Parts that only tests give. */
type Internals = Pick<AgentParts, "pace">;

/** Connects an agent with the options. On failure closes everything that was opened. */
export async function connectAgent(
  options: ConnectOptions,
  runtime: Platform,
  internals: Internals = {},
): Promise<Agent> {
  options.signal?.throwIfAborted();
  const store = await translating(
    "Cannot open the data directory",
    () => openStore(options, runtime),
  );
  try {
    return await translating("Cannot connect", () => connectBy(store, options, runtime, internals));
  } catch (error) {
    await store.close();
    options.signal?.throwIfAborted();
    throw error;
  }
}

/** The service is stored once there was a connection to it. */
async function connectBy(
  store: RecordStore,
  given: ConnectOptions,
  runtime: Platform,
  internals: Internals,
): Promise<Agent> {
  const patience = { untilMs: runtime.nowMs() + patienceMs, signal: given.signal };
  const { options, isGuest, remember, explain } = await whileBusy(
    (signal) => readLinkOptions({ ...given, signal }, store, runtime),
    patience,
    runtime,
  );
  try {
    const agent = await connectWith(store, options, runtime, {
      ...internals,
      ...patience,
      isGuest,
    });
    try {
      await agent.parts.ownBadges?.first;
      const { state, service } = agent.parts.session;
      if (state.kind === "online") await remember(service);
      return agent;
    } catch (error) {
      await agent.close();
      throw error;
    }
  } catch (error) {
    throw explain(error);
  }
}

async function connectWith(
  store: RecordStore,
  options: ConnectOptions,
  runtime: Platform,
  { untilMs, signal, isGuest, ...internals }: Internals & ConnectDeadline & {
    readonly isGuest: boolean;
  },
): Promise<Agent> {
  const signatures = await createSignatures(runtime);
  const identity = await openIdentity(store, bytesOf(options.identity), runtime);
  const trust = typeof options.trust === "object"
    ? options.trust
    : runtime.openTrust(options.trust);
  const [fault] = options.damaged === "read" ? store.faults : [];
  if (fault !== undefined) {
    const text = `The data directory is damaged and was opened for reading: ${fault.message}`;
    const agentId = agentIdOf(identity.signatureKey, identity.identity);
    const session = createEndedSession(
      agentId,
      createError("store_corrupt", text, { cause: fault }),
      () => runtime.nowMs(),
    );
    return await Agent.open({ store, session, runtime, signatures, identity, trust });
  }
  const self = {
    identity: identity.identity,
    publicKey: identity.signatureKey,
    sign: (message: Uint8Array) => signatures.sign(identity.signingSeed, message),
    untilMs,
  };
  const session = await whileBusy(
    (ending) => openRelaySession({ ...options, signal: ending }, self, runtime),
    { untilMs, signal },
    runtime,
  );
  try {
    const own = ownBadges(options, { store, session, runtime, isGuest });
    // The agent listens before there is a connection: what the relay pushes first must not be lost.
    const agent = await Agent.open({
      store,
      session,
      runtime,
      signatures,
      identity,
      trust,
      receipts: options.receipts,
      ...own,
      ...internals,
    });
    if (await hasCredential(options, runtime)) await firstConnection(session, signal);
    return agent;
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** They are read while the session connects. */
function ownBadges(
  { badge }: ConnectOptions,
  { store, session, runtime, isGuest }: {
    readonly store: RecordStore;
    readonly session: RelaySession;
    readonly runtime: Platform;
    readonly isGuest: boolean;
  },
): Pick<AgentParts, "ownBadges" | "ownAccount"> {
  if (badge === false) return {};
  const { agentId, service } = session;
  const issued = service?.keyPrefix === undefined || isGuest
    ? undefined
    : new ServiceBadge({ store, service, agentId, runtime });
  const source = badgeSourceOf(badge, issued, runtime);
  return {
    ownBadges: source && new OwnBadges(source, agentId, runtime),
    ownAccount: issued && (() => issued.ownAccount()),
  };
}

async function openStore(
  { dataDir, passphrase, repair, damaged }: ConnectOptions,
  runtime: Platform,
): Promise<RecordStore> {
  if (dataDir === "") {
    throw createError("invalid_request", "Cannot connect: dataDir is empty; name a directory");
  }
  return await runtime.openStore(dataDir, {
    migrations: storeMigrations,
    passphrase,
    repair,
    damaged,
  });
}

/** Without one, what is local works and the rest fails with `auth_failed`. */
async function hasCredential(
  { apiKey, token }: ConnectOptions,
  runtime: Platform,
): Promise<boolean> {
  return apiKey !== undefined || token !== undefined ||
    (await runtime.readSettings()).apiKey !== undefined;
}

function bytesOf(identity: Uint8Array | string): Uint8Array {
  return typeof identity === "string" ? new TextEncoder().encode(identity) : identity;
}
