/**
 * Acting as one of the agents of this user: with the user's own key, or, as a guest, with the pass
 * of a link.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { ConnectOptions, StaticError } from "../sdk/mod.ts";
import {
  type AgentFolder,
  agentName,
  badgeFileOf,
  findPlace,
  noteSpent,
  openPlace,
} from "./agent_record.ts";
import type { Context, FlagSpec } from "./command.ts";
import { authorityAdvice, isUnknownAuthority, keyAdvice } from "./service/api.ts";
import { Failure } from "./failure.ts";
import { type AgentRequest, type CommandAgent, openAgent, usesHost } from "./agent_access.ts";
import { findRelay } from "./service/discovery.ts";
import { readSettings, requireKey, requireRelay, trustOf } from "./service/settings.ts";

export const agentFlag: FlagSpec = {
  name: "agent",
  value: "NAME",
  summary: 'the agent to act as (or STATIC_AGENT; then "default")',
};

/**
 * Acts as the chosen agent, and lets go of it whatever happens. As a guest with the pass of
 * `given`, or of the link that it came by; `act` gets that link.
 */
export async function withAgent<T>(
  context: Context,
  act: (agent: CommandAgent, link: string | undefined) => Promise<T>,
  given?: string,
): Promise<T> {
  const link = given ?? (await findPlace(context))?.guest?.link;
  const agent = await connectAgent(context, link);
  try {
    return await act(agent, link);
  } catch (error) {
    throw await afterRefusal(context, error, link);
  } finally {
    await agent.close();
  }
}

/** The chosen agent, to be closed by the caller. */
export async function connectAgent(context: Context, given?: string): Promise<CommandAgent> {
  const known = await findPlace(context);
  const link = given ?? known?.guest?.link;
  const wanted = known === undefined || link === undefined
    ? await asUser(context)
    : asGuest(context, known, link);
  return await connecting(context, openAgent(context, wanted), link !== undefined);
}

/**
 * Notes a pass that has no messages left, so that a new link may replace it. Returns the error in
 * the words for a guest.
 */
export async function afterRefusal(
  context: Context,
  error: unknown,
  link: string | undefined,
): Promise<unknown> {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  if (!(error instanceof Error) || code !== "quota_exceeded" || link === undefined) return error;
  // The message was refused, whether the note can be written or not.
  await noteSpent(context, link).catch(() => {});
  return new Failure(code, error.message, { advice: guestAdvice(code), cause: error });
}

async function asUser(context: Context): Promise<AgentRequest> {
  const given = await readSettings(context);
  const key = requireKey(given);
  const { dataDir, receipts } = await openPlace(context);
  const { apiUrl, relayUrl = "", caFile = "" } = given;
  return {
    dataDir,
    settings: markOf([apiUrl, relayUrl, caFile, key, receipts]),
    options: () => connectOptions(context),
  };
}

/**
 * Uses the link's settings alone: it is for another service than the user's, or for somebody
 * without an account.
 */
function asGuest(
  context: Context,
  { dataDir, identity, guest, receipts }: AgentFolder,
  link: string,
): AgentRequest {
  const { platform } = context;
  const passphrase = platform.variable("STATIC_PASSPHRASE");
  const options = async (): Promise<ConnectOptions> => {
    // A program that runs for long may have to start another host after the agent got a new pass.
    const present = guest?.link === link ? (await findPlace(context))?.guest?.link : undefined;
    return {
      link: present ?? link,
      trust: platform.folders.trustFile,
      badge: badgeFileOf(context),
      receipts,
      dataDir,
      identity,
      passphrase,
      signal: platform.interrupted,
    };
  };
  return { dataDir, settings: markOf([link, receipts]), options };
}

function markOf(parts: readonly string[]): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(parts)))).slice(0, 16);
}

export async function connectOptions(context: Context): Promise<ConnectOptions> {
  const given = await readSettings(context);
  const apiKey = requireKey(given);
  const { dataDir, identity, receipts } = await openPlace(context);
  const settings = await findRelay(context, given);
  const endpoint = requireRelay(settings);
  const passphrase = context.platform.variable("STATIC_PASSPHRASE");
  return {
    passphrase,
    endpoint,
    apiKey,
    apiUrl: settings.apiUrl,
    trust: context.platform.folders.trustFile,
    badge: badgeFileOf(context),
    receipts,
    dataDir,
    identity,
    tls: trustOf(settings),
    signal: context.platform.interrupted,
  };
}

async function connecting<T>(
  context: Context,
  connection: Promise<T>,
  asGuest: boolean,
): Promise<T> {
  try {
    return await context.output.progress("connecting to the relay", connection);
  } catch (error) {
    throw explained(error, context, asGuest);
  }
}

/** The SDK says how a program goes on that has this channel already, which is no help here. */
export function inChannelAlready(error: unknown, context: Context): Failure | undefined {
  const channel: unknown = error instanceof Error ? Reflect.get(error, "channel") : undefined;
  if (typeof channel !== "string") return undefined;
  return new Failure(
    "name_taken",
    `Agent "${agentName(context)}" is in channel "${channel}" already`,
    {
      advice:
        `Use it, as in {} channel members ${channel}, or act as another agent with --agent NAME`,
      cause: error,
    },
  );
}

/** Returns the SDK's error about a connection in the words of this program. */
export function explained(error: unknown, context: Context, asGuest = false): unknown {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  if (!(error instanceof Error) || typeof code !== "string") return error;
  if (code === "store_locked") {
    return new Failure(
      code,
      `Agent "${agentName(context)}" is in use by another process, perhaps in another terminal`,
      {
        advice: usesHost(context)
          ? 'End that program, or connect it with host: "auto", so that both can use the agent; or choose another with --agent'
          : "End that program, or unset STATIC_HOST, so that commands share the agent; or choose another with --agent",
        cause: error,
      },
    );
  }
  const { unreachable } = error as Partial<StaticError>; // cast: an error with a code is the SDK's
  if (unreachable?.service === "api") {
    return new Failure(code, `Cannot reach the API at ${unreachable.url}`, {
      advice: adviceUnreachable(error),
      cause: error,
    });
  }
  // A guest has no key to replace, and no service of its own to look at.
  const advice = asGuest ? guestAdvice(code) : adviceFor(code);
  return new Failure(code, error.message, { advice, cause: error });
}

function adviceUnreachable(error: Error): string {
  const what = isUnknownAuthority(error) ? `${authorityAdvice}.` : "Is it running ({start})?";
  return `${what} To find out more: {} doctor`;
}

/**
 * For a link, `invalid_request` means one thing only: it is for another service than the agent's.
 */
function guestAdvice(code: string): string {
  if (code === "invalid_request") return "Join as a new agent: --agent NAME";
  return "Ask for a new link, and join again with: {} channel join";
}

function adviceFor(code: string): string {
  if (code === "auth_key_invalid") return keyAdvice;
  if (code === "passphrase_wrong") return "Set STATIC_PASSPHRASE to the agent's passphrase";
  if (code === "store_full") return "Free space, then run the command again";
  if (code === "store_failed") return "Mend that, or set XDG_DATA_HOME to another place";
  if (code === "store_corrupt") return "See what is damaged with: {} agent verify";
  return "To find out more: {} doctor";
}
