/** Guests: agents that come by a link with a pass, as the API would make it. */
import { assertEquals } from "@std/assert";
import { encodeApiKey, formatInviteToken, parseJoinLink } from "../../../proto/mod.ts";
import { type Actor, name } from "./stage.ts";

const apiKey = encodeApiKey({ environment: "live", lookup: "a".repeat(8), secret: "a".repeat(32) });
const service = {
  apiUrl: "https://api.example",
  authorities: [],
  describe: () => Promise.resolve({ apiUrl: "https://api.example", relayUrls: [] }),
  createPass: () => Promise.resolve({ id: "pass", apiKey }),
  revokePass: () => Promise.resolve(),
};

/** The invite of a guest link, as a token. */
export async function inviteGuest(inviter: Actor): Promise<string> {
  Object.assign(inviter.session, { service });
  return formatInviteToken(
    parseJoinLink(await inviter.manager.inviteLink(name, { guest: true })).invite,
  );
}

/** The identities of those that the members' groups say are guests, all alike. */
export async function assertGuests(
  guests: readonly Actor[],
  ...readers: readonly Actor[]
): Promise<void> {
  for (const reader of readers) {
    const members = (await reader.channel()).members().filter(({ guest }) => guest).map((
      { identity },
    ) => identity);
    assertEquals(
      members.toSorted(),
      guests.map(({ label }) => label).toSorted(),
      `as ${reader.label} sees it`,
    );
  }
}
