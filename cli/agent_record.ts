/**
 * The agents of this user, each with a folder of its own. `agent.json` in it says how others see
 * the agent, and of a guest the link that it came by: its pass is what the agent uses the service
 * with.
 */
import type { Context } from "./command.ts";
import { diskCodeOf, reasonOf } from "./disk.ts";
import { badInput, Failure } from "./failure.ts";

export interface AgentFolder {
  readonly name: string;
  readonly identity: string;
  readonly dataDir: string;
  readonly guest: Guest | undefined;
  /** Whether senders that ask learn what becomes of their messages. */
  readonly receipts: Receipts;
}

export const receiptsSettings = ["addressed", "off"] as const;
export type Receipts = typeof receiptsSettings[number];

/** An agent without an account of its own. */
export interface Guest {
  readonly link: string;
  /** Whether it has led into its channel: until then another may take its place. */
  readonly joined: boolean;
  /**
   * The UTC month in which the service refused a message because the pass has none left, as in
   * 2026-11.
   */
  readonly spentIn?: string;
}

const nameForm = /^[a-z0-9][a-z0-9._-]{0,31}$/;
const letters = "abcdefghjkmnpqrstuvwxyz23456789";
const chanceLetters = 4;

export function agentName({ given, platform }: Pick<Context, "given" | "platform">): string {
  const name = given.value("agent") ?? platform.variable("STATIC_AGENT") ?? "default";
  if (nameForm.test(name)) return name;
  throw badInput(
    `"${name}" cannot be an agent's name`,
    "Use up to 32 of a-z, 0-9, dot, dash and underscore",
  );
}

/** The folder of an agent that exists. Throws when there is none of this name. */
export async function agentPlace(context: Context): Promise<AgentFolder> {
  const place = await findPlace(context);
  if (place !== undefined) return place;
  throw new Failure("not_found", `This user has no agent "${agentName(context)}"`, {
    advice: "Act as another agent with --agent NAME",
  });
}

/** The same; undefined when there is none. */
export async function findPlace(context: Context): Promise<AgentFolder | undefined> {
  const { name, folder, record, dataDir } = pathsOf(context);
  const text = await context.platform.files.read(record).catch((cause) => {
    throw unusable(folder, cause);
  });
  if (text === undefined) return undefined;
  try {
    return { name, dataDir, ...parse(text) };
  } catch (cause) {
    throw unusable(folder, cause);
  }
}

/** The badges that the agent shows, as text; there may be none. */
export function badgeFileOf(context: Context): string {
  return pathsOf(context).badges;
}

/** A new agent gets its identity here. */
export async function openPlace(context: Context): Promise<AgentFolder> {
  const { name, dataDir } = pathsOf(context);
  const known = await findPlace(context);
  if (known !== undefined) return known;
  const identity = `${name}-${chance(context)}`;
  const place: AgentFolder = { name, dataDir, identity, guest: undefined, receipts: "addressed" };
  await writePlace(context, place);
  return place;
}

/** Fields that this version does not know stay: a later one may have written them. */
export async function writePlace(
  context: Context,
  { identity, guest, receipts }: AgentFolder,
): Promise<void> {
  const { folder, record } = pathsOf(context);
  const { files } = context.platform;
  const fields = { identity, guest, ...(receipts !== "addressed" && { receipts }) };
  try {
    await files.makePrivateFolder(folder);
    const { receipts: _, ...before } = Object(JSON.parse(await files.read(record) ?? "{}"));
    await files.writePrivate(record, `${JSON.stringify({ ...before, ...fields })}\n`);
  } catch (cause) {
    throw unusable(folder, cause);
  }
}

/** Whether the pass has no messages left. They are counted by the month. */
export function isSpent({ spentIn }: Guest, { platform }: Pick<Context, "platform">): boolean {
  return spentIn === monthOf(platform.nowMs());
}

/**
 * Notes that the pass of this link has no messages left, unless the agent has another link by now.
 */
export async function noteSpent(context: Context, link: string): Promise<void> {
  const place = await findPlace(context);
  if (place?.guest?.link !== link) return;
  await writePlace(context, {
    ...place,
    guest: { ...place.guest, spentIn: monthOf(context.platform.nowMs()) },
  });
}

function monthOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, "2026-11".length);
}

function pathsOf(
  context: Context,
): Record<"name" | "folder" | "record" | "dataDir" | "badges", string> {
  const { files, folders } = context.platform;
  const name = agentName(context);
  const folder = files.join(folders.agents, name);
  return {
    name,
    folder,
    record: files.join(folder, "agent.json"),
    dataDir: files.join(folder, "state"),
    badges: files.join(folder, "badges.txt"),
  };
}

function parse(text: string): Pick<AgentFolder, "identity" | "guest" | "receipts"> {
  const parsed: unknown = JSON.parse(text);
  const [identity, guest, given] = ["identity", "guest", "receipts"].map((name) =>
    fieldOf(parsed, name)
  );
  if (typeof identity !== "string" || identity === "") {
    throw new TypeError("agent.json names no identity");
  }
  // A word that this version does not know is no leave to tell.
  const receipts = given === undefined || given === "addressed" ? "addressed" : "off";
  return { identity, guest: guestOf(guest), receipts };
}

function guestOf(guest: unknown): Guest | undefined {
  const [link, spentIn] = [fieldOf(guest, "link"), fieldOf(guest, "spentIn")];
  if (typeof link !== "string") return undefined;
  return {
    link,
    joined: fieldOf(guest, "joined") === true,
    ...(typeof spentIn === "string" && { spentIn }),
  };
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** Two agents of one channel must not be called the same. */
function chance({ platform }: Context): string {
  return Array.from(platform.randomBytes(chanceLetters), (byte) => letters[byte % letters.length])
    .join("");
}

function unusable(folder: string, cause: unknown): Failure {
  const code = diskCodeOf(cause) ?? "store_corrupt";
  return new Failure(code, `Cannot use the agent's folder ${folder}: ${reasonOf(cause)}`, {
    advice: code === "store_full"
      ? "Free space, then run the command again"
      : "Make it writable, or set XDG_DATA_HOME to another place",
    exit: "unexpected",
    cause,
  });
}
