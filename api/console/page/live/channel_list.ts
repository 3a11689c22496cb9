/**
 * The channels of this tab's agent, the ways into another one, and the account's channels that it
 * is not in.
 */
import { Action, Ask, Field, Form, Time, useForm } from "../elements.ts";
import { html, useCallback, useState, type VNode } from "../ui.ts";
import type { AccountChannel } from "./account_channels.ts";
import type { Pane } from "./pane.ts";
import type { ChatRoom } from "./room.ts";
import type { TabAgent } from "./tab_agent.ts";

export function ChannelList({ agent, shown, onRoom, onEnter, onPane }: {
  agent: TabAgent;
  shown: ChatRoom | undefined;
  onRoom: (room: ChatRoom) => void;
  onEnter: () => void;
  onPane: (pane: Pane) => void;
}): VNode {
  return html`
    <nav class="live-channels" tabindex="-1" aria-label="Channels">
      <div class="bar">
        <h2>Channels</h2>
        <button type="button" class="narrow" onClick=${() => onPane("talk")}>Back</button>
        ${shown &&
          html`<button type="button" onClick=${onEnter} aria-label="Enter a channel">New</button>`}
      </div>
      <ul class="channels">
        ${agent.rooms.map((room) =>
          html`<li key=${room.name}><button type="button" aria-current=${
            room === shown ? "true" : undefined
          }
            onClick=${() => onRoom(room)}><span class="text">${room.name}</span>${
            room.conversation.unread > 0 && room !== shown &&
            html`<span class="badge">${room.conversation.unread}<span class="unseen"> unread</span></span>`
          }<small class="line">${lastWords(room)}</small></button></li>`
        )}
      </ul>
      ${agent.state === "on" && html`<${OtherChannels} agent=${agent} />`}
    </nav>
  `;
}

function lastWords({ conversation }: ChatRoom): string {
  return conversation.entries.at(-1)?.text ?? "Nothing was said yet";
}

/** A channel of one's own, or one by a link. */
export function Doors(
  { agent, onRoom }: { agent: TabAgent; onRoom: (room: ChatRoom) => void },
): VNode {
  const create = useForm(
    useCallback(async (fields) => onRoom(await agent.create(fields["channel"] ?? "")), [
      agent,
      onRoom,
    ]),
  );
  const join = useForm(
    useCallback(async (fields) => onRoom(await agent.join(fields["link"] ?? "")), [agent, onRoom]),
  );
  return html`
    <h3>Make one of your own</h3>
    <${Form} state=${create} submit="Open or make it">
      <${Field} label="Name" name="channel" placeholder="acme/ops/hello" autocomplete="off"
        error=${create.error}
        hint="Three parts with slashes between them. Lowercase letters, digits and hyphens." />
      <//>
      <h3>Or join by a link that you were given</h3>
      <${Form} state=${join} submit="Join">
        <${Field} label="Link" name="link" type="password" autocomplete="off"
          hint="As secret as a password: it is not shown and not kept." error=${join.error} />
        <//>
  `;
}

/** The relay is asked when somebody wants to know: it is a connection of its own, without cover. */
function OtherChannels({ agent }: { agent: TabAgent }): VNode {
  const [found, setFound] = useState<readonly AccountChannel[] | undefined>(undefined);
  const [ending, setEnding] = useState<string | undefined>(undefined);
  const look = async (): Promise<void> => setFound(await agent.otherChannels());
  const close = async (name: string): Promise<void> => {
    await agent.close(name);
    await look();
  };
  return html`
    <details>
      <summary>Other channels of this account</summary>
      <small>Made by other agents of yours. The relay knows their names and how many members they have; who is in them, only
        members are told. Asking takes a connection of its own, without cover.</small>
      ${found?.length === 0 && html`<p>There is none.</p>`}
      <ul class="items">
        ${found?.map(({ id, name, members, createdAt }) =>
          html`<li key=${id}><span class="grow text"><strong>${name}</strong><br />
            <small>${members} ${
            members === 1 ? "member" : "members"
          }, made <${Time} at=${createdAt} /></small></span>
            <button type="button" class="danger" aria-label=${`Close ${name}`} onClick=${() =>
            setEnding(name)}>Close</button></li>`
        )}
      </ul>
      <p>
        <${Action} work=${look}>${found === undefined
          ? "Ask the relay"
          : "Ask the relay again"}<//></p>
      ${ending !== undefined && html`
        <${Ask} title=${`Close ${ending}?`}
          text="The channel ends for all its members, and its name is free again."
          yes="Close it" onClose=${() => setEnding(undefined)} work=${() => close(ending)} />
      `}
    </details>
  `;
}
