/** The parts of a link that a page needs. */
import { parseJoinLink } from "../../../../proto/mod.ts";

export interface Invitation {
  readonly channelId: string;
  readonly name: string;
  /** An API key for this channel alone, on the inviter's account. */
  readonly pass: string | undefined;
  readonly expiresAtMs: number | undefined;
}

/** Throws with words that quote nothing of the link's secrets. */
export function readInvitation(link: string): Invitation {
  const { invite, apiUrl, pass, expiresAtMs } = parseJoinLink(link.trim());
  if (apiUrl !== location.origin) {
    throw new Error(
      `This link is for another service. Open it at ${apiUrl}, or use it in a program`,
    );
  }
  return { channelId: invite.channelId, name: invite.name, pass, expiresAtMs };
}
