/**
 * The agents of this user. Each has a name that the user knows it by, a folder of its own with its encrypted state, and an
 * identity that is the name with some letters of chance, because two agents of one channel must not be called the same.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { ConnectOptions, StaticError } from "../sdk/mod.ts";
import type { Context, FlagSpec } from "./command.ts";
import { keyAdvice } from "./service/api.ts";
import { reasonOf } from "./service/credentials.ts";
import { badInput, Failure } from "./failure.ts";
import { type Agent, openAgent } from "./hosting.ts";
import { findRelay } from "./service/discovery.ts";
import { readSettings, requireKey, requireRelay, trustOf } from "./service/settings.ts";

export const agentFlag: FlagSpec = {
  name: "agent",
  value: "NAME",
  summary: 'which agent of this user to act as (STATIC_AGENT, "default")',
};

export interface AgentPlace {
  readonly name: string;
  readonly identity: string;
  readonly dataDir: string;
}

const nameForm = /^[a-z0-9][a-z0-9._-]{0,31}$/;
const letters = "abcdefghjkmnpqrstuvwxyz23456789";
const chanceLetters = 4;

/** Acts as the chosen agent, and lets go of it whatever happens. */
export async function withAgent<T>(context: Context, act: (agent: Agent) => Promise<T>): Promise<T> {
  const given = await readSettings(context);
  const key = requireKey(given);
  const place = await openPlace(context);
  const { apiUrl, relayUrl = "", caFile = "" } = given;
  const settings = bytesToHex(sha256(utf8ToBytes(JSON.stringify([apiUrl, relayUrl, caFile, key])))).slice(0, 16);
  const options = (): Promise<ConnectOptions> => connectOptions(context);
  const agent = await connecting(context, openAgent(context, { dataDir: place.dataDir, settings, options }));
  try {
    return await act(agent);
  } finally {
    await agent.close();
  }
}

export async function connectOptions(context: Context): Promise<ConnectOptions> {
  const given = await readSettings(context);
  const apiKey = requireKey(given);
  const { dataDir, identity } = await openPlace(context);
  const settings = await findRelay(context, given);
  const endpoint = requireRelay(settings);
  const passphrase = context.platform.variable("STATIC_PASSPHRASE");
  return {
    ...(passphrase !== undefined && { passphrase }),
    endpoint,
    apiKey,
    apiUrl: settings.apiUrl,
    dataDir,
    identity,
    tls: trustOf(settings),
    signal: context.platform.interrupted,
  };
}

export function agentName({ given, platform }: Pick<Context, "given" | "platform">): string {
  const name = given.value("agent") ?? platform.variable("STATIC_AGENT") ?? "default";
  if (nameForm.test(name)) return name;
  throw badInput(`"${name}" cannot be an agent's name`, "Use up to 32 of a-z, 0-9, dot, dash and underscore");
}

/** The folder of an agent that exists. Throws when there is none of this name. */
export async function agentPlace(context: Context): Promise<AgentPlace> {
  const { files, folders } = context.platform;
  const name = agentName(context);
  const folder = files.join(folders.agents, name);
  const identity = identityIn(await files.read(files.join(folder, "agent.json")));
  if (identity !== undefined) return { name, identity, dataDir: files.join(folder, "state") };
  throw new Failure("not_found", `This user has no agent "${name}"`, {
    advice: "Act as another agent with --agent NAME",
  });
}

/** The agent's folder; a new agent gets its identity here. */
async function openPlace(context: Context): Promise<AgentPlace> {
  const { files, folders } = context.platform;
  const name = agentName(context);
  const folder = files.join(folders.agents, name);
  const record = files.join(folder, "agent.json");
  try {
    const known = identityIn(await files.read(record));
    const identity = known ?? `${name}-${chance(context)}`;
    if (known === undefined) {
      await files.makePrivateFolder(folder);
      await files.writePrivate(record, `${JSON.stringify({ identity })}\n`);
    }
    return { name, identity, dataDir: files.join(folder, "state") };
  } catch (cause) {
    throw new Failure("store_corrupt", `Cannot use the agent's folder ${folder}: ${reasonOf(cause)}`, {
      advice: "Make it writable, or set XDG_DATA_HOME to another place",
      exit: "unexpected",
      cause,
    });
  }
}

function identityIn(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const parsed: unknown = JSON.parse(text);
  const identity: unknown = typeof parsed === "object" && parsed !== null ? Reflect.get(parsed, "identity") : undefined;
  if (typeof identity === "string" && identity !== "") return identity;
  throw new TypeError("agent.json names no identity");
}

function chance({ platform }: Context): string {
  return Array.from(platform.randomBytes(chanceLetters), (byte) => letters[byte % letters.length]).join("");
}

async function connecting<T>(context: Context, connection: Promise<T>): Promise<T> {
  try {
    return await context.output.progress("connecting to the relay", connection);
  } catch (error) {
    throw explained(error, context);
  }
}

/** The SDK says how a program goes on that has this channel already, which is no help here. */
export function inChannelAlready(error: unknown, context: Context): Failure | undefined {
  const channel: unknown = error instanceof Error ? Reflect.get(error, "channel") : undefined;
  if (typeof channel !== "string") return undefined;
  return new Failure("name_taken", `Agent "${agentName(context)}" is in channel "${channel}" already`, {
    advice: `Use it, as in {} channel members ${channel}, or act as another agent with --agent NAME`,
    cause: error,
  });
}

/** What the SDK says of a connection, in the words of this program. */
export function explained(error: unknown, context: Context): unknown {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  if (!(error instanceof Error) || typeof code !== "string") return error;
  if (code === "store_locked") {
    return new Failure(
      code,
      `Agent "${agentName(context)}" is in use by another process, perhaps in another terminal`,
      {
        advice:
          "End that one (STATIC_HOST=off and programs with the SDK hold an agent alone), or act as another with --agent",
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
  const advice = adviceFor(code);
  return new Failure(code, error.message, { advice, cause: error });
}

/** A service that shows a certificate is running, whatever else is wrong. */
function adviceUnreachable(error: Error): string {
  const isUnknown = /UnknownIssuer|unable to (get|verify)|self.signed|certificate/i.test(reasons(error));
  return isUnknown
    ? "It shows a certificate of an unknown authority: give it with --ca-file. To find out more: {} doctor"
    : "Is it running ({start})? To find out more: {} doctor";
}

function reasons(error: Error): string {
  return `${error.message} ${error.cause instanceof Error ? reasons(error.cause) : ""}`;
}

function adviceFor(code: string): string {
  if (code === "auth_key_invalid") return keyAdvice;
  if (code === "passphrase_wrong") return "Set STATIC_PASSPHRASE to the agent's passphrase";
  if (code === "store_corrupt") return "See what is damaged with: {} agent verify";
  return "To find out more: {} doctor";
}
