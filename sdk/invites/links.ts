/**
 * Making a link: a guest pass if one is wanted, then the invite, then the link. A crash in between
 * leaves a pass that expires.
 */
import { type ChannelId, type ChannelName, formatJoinLink } from "../../proto/mod.ts";
import { createError } from "../base/errors.ts";
import type { AgentService } from "../session/service.ts";
import { checkInviteOptions, type InviteBook } from "./invite_book.ts";
import type { InviteOptions } from "./invite_state.ts";
import type { GuestPass } from "./pass_notes.ts";

/** The rights that a link gives to its holder, and its form. */
export interface LinkOptions extends InviteOptions {
  /** Never in a link, which is passed on and may be opened by anybody: use `invite`. */
  readonly replaces?: never | undefined;
  /** With a pass to use the service on this agent's account, for one agent that has none. */
  readonly guest?: boolean | GuestOptions | undefined;
  /**
   * As an https address of the service, for people without a program; otherwise it begins with
   * `static://`.
   */
  readonly web?: boolean | undefined;
}

/** Limits for a guest of this agent's account. */
export interface GuestOptions {
  /**
   * How long the pass is good: at most 30 days, a week when not given. It may be longer than the
   * link.
   */
  readonly expiresInMs?: number;
  /** How many messages a month the guest may send; 1,000 when not given. */
  readonly messages?: number;
  /**
   * An API key of kind `guest` for this channel, made elsewhere: this agent neither makes one then,
   * nor revokes it.
   */
  readonly pass?: string;
}

const dayMs = 24 * 60 * 60 * 1000;
const [defaultPassMs, maxPassMs, defaultMessages] = [7 * dayMs, 30 * dayMs, 1000];
const maxKeyName = 64;

/** The part of the service that a link needs. */
export type LinkService = Pick<AgentService, "describe" | "createPass" | "revokePass">;

interface LinkDeps {
  readonly service: LinkService | undefined;
  readonly book: InviteBook;
  readonly nowMs: () => number;
}

/** Throws `StaticError`. */
export async function createLink(
  channel: { readonly channelId: ChannelId; readonly name: ChannelName },
  { guest = false, web = false, ...options }: LinkOptions,
  { service, book, nowMs }: LinkDeps,
): Promise<string> {
  if (service === undefined) {
    const text =
      "Cannot make a link: this agent does not know the API's address; connect it with apiUrl";
    throw createError("invalid_request", text);
  }
  if (options.replaces !== undefined) {
    const text =
      "Cannot make a link: a link replaces nobody, because anybody may open it; make an invite token instead";
    throw createError("invalid_request", text);
  }
  const { uses } = checkInviteOptions(options);
  const given = guest === false ? undefined : guest === true ? {} : guest;
  const wanted = given === undefined || given.pass !== undefined ? undefined : checkGuest(given);
  if (given !== undefined && uses !== 1) {
    const text =
      "Cannot make a link: one with a guest pass is for one agent; leave uses out, or make several links";
    throw createError("invalid_request", text);
  }
  const place = await service.describe();
  const expiresAtMs = Math.ceil(nowMs() + (wanted?.expiresInMs ?? 0));
  const made = wanted && await service.createPass({
    name: `guest in ${channel.name}`.slice(0, maxKeyName),
    channelId: channel.channelId,
    expiresAtMs,
    messages: wanted.messages,
  });
  const pass: GuestPass | undefined = made && { id: made.id, expiresAtMs };
  try {
    const invited = await book.create(channel, options, given && { pass });
    const key = made?.apiKey ?? given?.pass;
    const link = { ...invited, ...place, pass: key };
    return formatJoinLink(link, { web });
  } catch (error) {
    if (made !== undefined) await service.revokePass(made.id).catch(() => {}); // it expires
    throw error;
  }
}

function checkGuest(
  { expiresInMs = defaultPassMs, messages = defaultMessages }: GuestOptions,
): Required<Omit<GuestOptions, "pass">> {
  if (!(expiresInMs > 0 && expiresInMs <= maxPassMs)) {
    throw createError(
      "invalid_request",
      "Cannot make a guest pass: expiresInMs is above 0 and at most 30 days",
    );
  }
  if (!Number.isSafeInteger(messages) || messages < 1) {
    throw createError(
      "invalid_request",
      "Cannot make a guest pass: messages is a whole number from 1 up",
    );
  }
  return { expiresInMs, messages };
}
