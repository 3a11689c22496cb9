/** Links on the command line: which agent joins, and under which name. */
import { parseJoinLink } from "../../proto/mod.ts";
import { agentName, findPlace, openPlace, writePlace } from "../agent_record.ts";
import type { Context } from "../command.ts";
import { badInput, Failure } from "../failure.ts";
import { readSettings } from "../service/settings.ts";

/** The parts of a link that a command needs; the SDK reads the rest. */
export interface Link {
  readonly text: string;
  readonly channel: string;
  readonly channelId: string;
  readonly apiUrl: string;
  readonly hasPass: boolean;
}

/** Throws for what is no link, without showing any of it. */
export function readLink(text: string): Link {
  try {
    const { invite, apiUrl, pass } = parseJoinLink(text);
    return { text, channel: invite.name, channelId: invite.channelId, apiUrl, hasPass: pass !== undefined };
  } catch (cause) {
    const code: unknown = cause instanceof Error ? Reflect.get(cause, "code") : undefined;
    if (code === "unsupported_version") throw new Failure(code, messageOf(cause));
    throw new Failure("link_invalid", messageOf(cause), { advice: "If that does not help, ask for a new link" });
  }
}

/** One way in by a link. */
export interface Way {
  /** The link whose pass the agent connects with; undefined for the user's own key. */
  readonly pass: string | undefined;
  /** To be called when it is in. */
  readonly joined: () => Promise<void>;
}

const asBefore = (): Promise<void> => Promise.resolve();

/**
 * Makes ready to join, and returns the ways to try, each when the pass of the one before is no longer good. A user with a key for
 * the link's own address joins with it; otherwise the agent becomes a guest, which has the link's pass and nothing else. A guest
 * that is in its channel keeps its pass for as long as it is good: anybody can make a link that names this channel.
 */
export async function prepareToJoin(context: Context, link: Link): Promise<readonly Way[]> {
  const known = await findPlace(context);
  if (known?.guest === undefined && await hasOwnKey(context, link.apiUrl)) {
    return [{ pass: undefined, joined: asBefore }];
  }
  if (!link.hasPass) {
    throw new Failure("auth_failed", `The link has no guest pass, and you have no key for ${link.apiUrl}`, {
      advice:
        `Create an account there with: {} signup --api-url ${link.apiUrl}; or ask for a link with a pass (--guest)`,
    });
  }
  if (known !== undefined && !mayTakeOver(known.guest, link)) {
    const whose = known.guest === undefined ? "uses your account" : "is a guest with another link";
    throw badInput(`Agent "${agentName(context)}" ${whose}`, "Join as a new agent: --agent NAME");
  }
  const place = await openPlace(context);
  const guest = { link: link.text, joined: false };
  const way = { pass: link.text, joined: () => writePlace(context, { ...place, guest: { ...guest, joined: true } }) };
  if (known?.guest?.joined === true) return [{ pass: known.guest.link, joined: asBefore }, way];
  await writePlace(context, { ...place, guest });
  return [way];
}

/** A link that led nowhere gives way to any other; one that is in use, to a new one for the same channel. */
function mayTakeOver(guest: { readonly link: string; readonly joined: boolean } | undefined, link: Link): boolean {
  if (guest === undefined) return false;
  if (!guest.joined) return true;
  const { channelId, apiUrl } = readLink(guest.link);
  return channelId === link.channelId && apiUrl === link.apiUrl;
}

async function hasOwnKey(context: Context, apiUrl: string): Promise<boolean> {
  const settings = await readSettings(context);
  return settings.key !== undefined && settings.apiUrl === apiUrl;
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
