/** Links on the command line: which agent joins, and under which name. */
import { parseJoinLink } from "../../proto/mod.ts";
import { withAgent } from "../agent.ts";
import {
  type AgentFolder,
  agentName,
  findPlace,
  type Guest,
  isSpent,
  openPlace,
  writePlace,
} from "../agent_record.ts";
import type { Context } from "../command.ts";
import { badInput, Failure } from "../failure.ts";
import { usesHost } from "../agent_access.ts";
import { readSettings } from "../service/settings.ts";
import { endIdleHost } from "./host.ts";

/** The parts of a link that a command needs; the SDK reads the rest. */
export interface ChannelLink {
  readonly text: string;
  readonly channel: string;
  readonly channelId: string;
  readonly apiUrl: string;
  readonly hasPass: boolean;
}

/** Throws for what is no link, without showing any of it. */
export function readLink(text: string): ChannelLink {
  try {
    const { invite, apiUrl, pass } = parseJoinLink(text);
    return {
      text,
      channel: invite.name,
      channelId: invite.channelId,
      apiUrl,
      hasPass: pass !== undefined,
    };
  } catch (cause) {
    const code: unknown = cause instanceof Error ? Reflect.get(cause, "code") : undefined;
    if (code === "unsupported_version") throw new Failure(code, messageOf(cause));
    throw new Failure("link_invalid", messageOf(cause), {
      advice: "If that does not help, ask for a new link",
    });
  }
}

/** One way in by a link. */
export interface LinkAccess {
  /** The link whose pass the agent connects with; undefined for the user's own key. */
  readonly pass: string | undefined;
  /** To be called when it is in. */
  readonly joined: () => Promise<void>;
  /** The agent keeps an earlier pass, and the link's own is not used. */
  readonly keepsPass?: true;
}

const asBefore = (): Promise<void> => Promise.resolve();

/**
 * Makes ready to join, and returns the ways to try, each when the pass of the one before is no
 * longer good. A user with a key for the link's own address joins with it; otherwise the agent
 * becomes a guest, which has the link's pass and nothing else. A guest that is in its channel keeps
 * its pass for as long as it is good and has messages left: anybody can make a link that names this
 * channel.
 */
export async function prepareToJoin(
  context: Context,
  link: ChannelLink,
): Promise<readonly LinkAccess[]> {
  const known = await findPlace(context);
  if (known?.guest === undefined && await hasOwnKey(context, link.apiUrl)) {
    return [{ pass: undefined, joined: asBefore }];
  }
  if (!link.hasPass) {
    throw new Failure(
      "auth_failed",
      `The link has no guest pass, and you have no key for ${link.apiUrl}`,
      {
        advice:
          `Create an account there with: {} signup --api-url ${link.apiUrl}; or ask for a link with a pass (--guest)`,
      },
    );
  }
  if (known !== undefined && known.guest === undefined) throw isTaken(context, "uses your account");
  const place = known ?? await openPlace(context);
  const way = {
    pass: link.text,
    joined: () => writeGuest(context, place, { link: link.text, joined: true }),
  };
  if (place.guest === undefined || place.guest.link === link.text) {
    await writeGuest(context, place, place.guest ?? { link: link.text, joined: false });
    return [way];
  }
  return await replaceLink(context, { place, guest: place.guest, link, way });
}

interface Replacement {
  readonly place: AgentFolder;
  /** The guest as it was so far. */
  readonly guest: Guest;
  readonly link: ChannelLink;
  readonly way: LinkAccess;
}

/**
 * A link that led nowhere gives way to any other; one that is in use, to a new one for the same
 * channel.
 */
async function replaceLink(
  context: Context,
  { place, guest, link, way }: Replacement,
): Promise<readonly LinkAccess[]> {
  const state = guest.joined ? "in" : await lookWhetherIn(context, guest);
  if (state === "in") {
    if (!guest.joined) await writeGuest(context, place, { ...guest, joined: true });
    const { channelId, apiUrl } = readLink(guest.link);
    if (channelId !== link.channelId || apiUrl !== link.apiUrl) {
      throw isTaken(context, "is a guest with another link");
    }
    if (!isSpent(guest, context)) {
      return [{ pass: guest.link, joined: asBefore, keepsPass: true }, way];
    }
  }
  // A host that other programs use goes on with the earlier pass.
  if (usesHost(context)) await endIdleHost(context);
  if (state === "out") await writeGuest(context, place, { link: link.text, joined: false });
  return [way];
}

/**
 * Whether the agent is in the channel of its link, although the record does not say so: a command
 * that was killed could not write it. A pass that is no longer good counts as `out`. `unclear` when
 * the service cannot be asked: then the record stays until the other link has led into a channel.
 */
async function lookWhetherIn(context: Context, guest: Guest): Promise<"in" | "out" | "unclear"> {
  const { channel, channelId } = readLink(guest.link);
  try {
    const isIn = await withAgent(context, async (agent) => {
      return agent.channels.includes(channel) &&
        (await agent.enter("open", { channel })).id === channelId;
    }, guest.link);
    return isIn ? "in" : "out";
  } catch (error) {
    if (context.platform.interrupted.aborted) throw error;
    const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
    return code === "auth_key_invalid" ? "out" : "unclear";
  }
}

async function writeGuest(context: Context, place: AgentFolder, guest: Guest): Promise<void> {
  await writePlace(context, { ...place, guest });
}

function isTaken(context: Context, why: string): Failure {
  return badInput(`Agent "${agentName(context)}" ${why}`, "Join as a new agent: --agent NAME");
}

async function hasOwnKey(context: Context, apiUrl: string): Promise<boolean> {
  const settings = await readSettings(context);
  return settings.key !== undefined && settings.apiUrl === apiUrl;
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
