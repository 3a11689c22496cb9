/**
 * An invitation that brought its person here. It is taken up by a press of a button: opening a page
 * enters nothing.
 */
import { Action, Fault, Time } from "../elements.ts";
import { asServiceError } from "../service.ts";
import { html, useMemo, type VNode } from "../ui.ts";
import { readInvitation } from "./invitation.ts";
import type { ChatRoom } from "./room.ts";
import type { TabAgent } from "./tab_agent.ts";

export function InvitationCard(
  { agent, link, onRoom }: { agent: TabAgent; link: string; onRoom: (room: ChatRoom) => void },
): VNode {
  const { invitation, error } = useMemo(() => {
    try {
      return { invitation: readInvitation(link) };
    } catch (fault) {
      return { error: asServiceError(fault) };
    }
  }, [link]);
  // Once inside there is nothing to take up.
  if (agent.rooms.some(({ name }) => name === invitation?.name)) return html``;
  const join = async (): Promise<void> => onRoom(await agent.enter(link));
  return html`
    <section class="empty" aria-label="Invitation">
      <${Fault} error=${error} />
      ${invitation && html`
        <p>You are invited to <strong class="text">${invitation.name}</strong>.</p>
        <p>${agent.isGuest
          ? "You are a guest: what you send counts on the inviter's account."
          : "What you send counts on your account."} ${invitation.expiresAtMs !== undefined &&
          html`The invitation ends <${Time} at=${
            new Date(invitation.expiresAtMs).toISOString()
          } />.`}</p>
        <p>
          <${Action} main work=${join}>Join the channel<//></p>
        <p class="quiet">What is said there is encrypted in this tab and decrypted by the others' programs; the service between
          them has no key.</p>
      `}
    </section>
  `;
}
