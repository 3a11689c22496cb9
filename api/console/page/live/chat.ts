/** The middle of Live: a channel's conversation, or the next thing to do where there is none. */
import { html, type VNode } from "../ui.ts";
import { Doors } from "./channel_list.ts";
import { ConnectionButton } from "./connection.ts";
import { InvitationCard } from "./invitation_card.ts";
import type { Pane } from "./pane.ts";
import type { ChatRoom } from "./room.ts";
import { Said } from "./conversation_lines.ts";
import { Say } from "./say.ts";
import type { TabAgent } from "./tab_agent.ts";

interface ChatProps {
  readonly agent: TabAgent;
  readonly room: ChatRoom | undefined;
  readonly link: string | undefined;
  readonly onRoom: (room: ChatRoom) => void;
  readonly onPane: (pane: Pane) => void;
}

export function Chat({ agent, room, link, onRoom, onPane }: ChatProps): VNode {
  const unread = agent.rooms.reduce(
    (sum, each) => sum + (each === room ? 0 : each.conversation.unread),
    0,
  );
  const members = room?.channel?.members() ?? [];
  return html`
    <section class="live-talk" tabindex="-1" aria-labelledby="chat-title">
      <div class="bar">
        ${!agent.isGuest &&
          html`<button type="button" class="narrow" aria-label="Channels" onClick=${() =>
            onPane("channels")}>‹${
            unread > 0 &&
            html`<span class="badge">${unread}<span class="unseen"> unread</span></span>`
          }</button>`}
        <h2 id="chat-title" class="text">${room?.name ??
          (link === undefined ? "No channel yet" : "Invitation")}</h2>
        <${ConnectionButton} agent=${agent} />
        ${(room !== undefined || !agent.isGuest) &&
          html`<button type="button" class="narrow details" onClick=${() => onPane("details")}>${
            members.length === 0
              ? "Privacy"
              : members.length === 1
              ? "1 member"
              : `${members.length} members`
          }</button>`}
      </div>
      ${link &&
        html`<${InvitationCard} key=${link} agent=${agent} link=${link} onRoom=${onRoom} />`}
      ${room === undefined
        ? html`<${NoRoom} agent=${agent} isInvited=${link !== undefined} onRoom=${onRoom} />`
        : html`
          <${Said} key=${room.name} agent=${agent} room=${room} />
          <${Say} key=${`say ${room.name}`} room=${room} others=${members.filter(({ self }) =>
            !self
          )} />
        `}
    </section>
  `;
}

/** The next thing to do, where there is no conversation. */
function NoRoom(
  { agent, isInvited, onRoom }: Pick<ChatProps, "agent" | "onRoom"> & { isInvited: boolean },
): VNode {
  if (agent.isGuest || (isInvited && agent.state !== "failed")) return html``;
  switch (agent.state) {
    case "starting":
      return html`<p class="empty">Connecting …</p>`;
    case "off":
    case "failed":
      return html`
        <div class="empty">
          <p class="text">${agent.problem ?? "This tab's agent is not connected."}</p>
          <p><button type="button" class="main" onClick=${() =>
            void agent.start(agent.options)}>Connect</button></p>
        </div>
      `;
    case "on":
      return html`
        <div class="empty">
          <p>This tab is an agent of its own, and it is in no channel yet. What it says is encrypted here and decrypted by the
            others' programs; the relay between them has no key.</p>
          <${Doors} agent=${agent} onRoom=${onRoom} />
        </div>
      `;
  }
}
