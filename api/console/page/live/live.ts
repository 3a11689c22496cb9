/**
 * Live: this tab is an agent, and this is its chat. Channels stand at the left, the conversation in
 * the middle, members and the privacy meter at the right. Where there is no room for all, the
 * conversation is alone and the others are one press away. Loaded when somebody opens it.
 */
import { Dialog } from "../elements.ts";
import { html, useCallback, useEffect, useRef, useState, type VNode } from "../ui.ts";
import { ChannelList, Doors } from "./channel_list.ts";
import { Chat } from "./chat.ts";
import { Details } from "./details.ts";
import type { Pane } from "./pane.ts";
import type { ChatRoom } from "./room.ts";
import type { TabAgent } from "./tab_agent.ts";
import { useAgent } from "./use_agent.ts";

export { type Invitation, readInvitation } from "./invitation.ts";
export { type AgentAccount, TabAgent } from "./tab_agent.ts";

export function LiveView({ agent, link }: { agent: TabAgent; link?: string | undefined }): VNode {
  useAgent(agent);
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const [pane, setPane] = useState<Pane>("talk");
  const [isEntering, setEntering] = useState(false);
  const room = agent.rooms.find(({ name }) => name === chosen) ?? agent.rooms[0];
  const entered = useRef(false);
  const onRoom = useCallback(({ name }: Pick<ChatRoom, "name">) => {
    entered.current = true;
    setChosen(name);
    setPane("talk");
    setEntering(false);
  }, []);
  const before = useRef(pane);
  // The button that led here may be gone by then. In a channel that was entered the next thing to
  // do is to say something.
  useEffect(() => {
    if (entered.current) document.getElementById("message")?.focus();
    else if (before.current !== pane) document.querySelector<HTMLElement>(`.live-${pane}`)?.focus();
    entered.current = false;
    before.current = pane;
  }, [chosen, pane, isEntering]);
  useEffect(() => room?.read());
  return html`
    <h1 class="unseen">Live</h1>
    <div class=${agent.isGuest ? "live guest" : "live"} data-pane=${pane}>
      ${!agent.isGuest &&
        html`
          <${ChannelList} agent=${agent} shown=${room} onRoom=${onRoom} onEnter=${() =>
            setEntering(true)}
            onPane=${setPane} />
        `}
      <${Chat} agent=${agent} room=${room} link=${link} onRoom=${onRoom} onPane=${setPane} />
      ${(room !== undefined || !agent.isGuest) &&
        html`<${Details} agent=${agent} room=${room} onPane=${setPane} />`}
    </div>
    ${isEntering && html`
      <${Dialog} title="Enter a channel" onClose=${() => setEntering(false)}>
        <${Doors} agent=${agent} onRoom=${onRoom} />
        <p><button type="button" onClick=${() => setEntering(false)}>Not now</button></p>
        <//>
    `}
  `;
}
