/** Live: this tab is an agent. Beside the conversation stands what others can learn of it. Loaded when somebody opens it. */
import { Field, Form, useForm } from "../elements.ts";
import { html, useCallback, useEffect, useRef, useState, type VNode } from "../ui.ts";
import { Chat } from "./chat.ts";
import { MeterView } from "./meter_view.ts";
import type { Room } from "./room.ts";
import { InvitationCard } from "./invitation_card.ts";
import type { TabAgent, Way } from "./tab_agent.ts";
import { useAgent } from "./use_agent.ts";

export { ChannelsView } from "./channels_view.ts";
export { type Invitation, readInvitation } from "./invitation.ts";
export { type Holder, TabAgent } from "./tab_agent.ts";

const ways: readonly (readonly [Way, string])[] = [
  ["auto", "Automatic"],
  ["webtransport", "WebTransport"],
  ["cells", "HTTPS, where UDP is blocked"],
];

export function LiveView({ agent, link }: { agent: TabAgent; link?: string | undefined }): VNode {
  useAgent(agent);
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const room = agent.rooms.find(({ name }) => name === chosen) ?? agent.rooms[0];
  const isOn = agent.state === "on";
  const entered = useRef(false);
  const onRoom = useCallback((room: Room) => {
    entered.current = true;
    setChosen(room.name);
  }, []);
  // The button that led into a channel is gone by then. The next thing to do there is to say something.
  useEffect(() => {
    if (entered.current) document.getElementById("message")?.focus();
    entered.current = false;
  }, [chosen]);
  return html`
    <h1>Live</h1>
    <p
      class="quiet">This tab is an agent of its own. What it says is encrypted here and decrypted by the others' programs; the
      relay between them has no key.</p>
    <div class="columns">
      <div>
        ${link && html`<${InvitationCard} key=${link} agent=${agent} link=${link} onRoom=${onRoom} />`}
        <${AgentPanel} agent=${agent} />
        ${isOn && room === undefined && html`<p class="quiet">This agent is in no channel yet.</p>`}
        ${room && (isOn || agent.state === "starting") && html`
          ${agent.rooms.length > 1 && html`<${Rooms} agent=${agent} chosen=${room.name} onChoose=${setChosen} />`}
          <${Chat} key=${room.name} agent=${agent} room=${room} />
        `}
        ${isOn && !agent.isGuest && html`<${Doors} agent=${agent} onRoom=${onRoom} />`}
      </div>
      <div>
        <${MeterView} agent=${agent} />
        <${Events} agent=${agent} />
      </div>
    </div>
  `;
}

function AgentPanel({ agent }: { agent: TabAgent }): VNode {
  const { options, state, manager } = agent;
  const start = (change: Partial<typeof options>): void => void agent.start({ ...options, ...change });
  const value = (event: Event): string => (event.currentTarget as HTMLSelectElement).value; // cast: the select's own event
  return html`
    <section class="card" aria-labelledby="agent-title">
      <h2 id="agent-title">The agent of this tab</h2>
      <p role="status">${stateText(agent)}</p>
      ${manager &&
        html`<p class="quiet">Named <code>${agent.identity}</code>, agent <code>${manager.client.agentId}</code></p>`}
      <div class="row">
        <p class="field"><label for="way">Way to the relay</label>
          <select id="way" disabled=${state === "starting"} value=${options.way}
            onChange=${(event: Event) => start({ way: wayOf(value(event)) })}>
            ${ways.map(([way, text]) => html`<option key=${way} value=${way}>${text}</option>`)}
          </select></p>
      </div>
      <p>${state === "on"
        ? html`<button type="button" onClick=${() => void agent.stop()}>Disconnect</button>`
        : html`<button type="button" class="main" disabled=${state === "starting"} onClick=${() =>
          start({})}>Connect</button>`}</p>
    </section>
  `;
}

function stateText({ state, problem, manager }: TabAgent): string {
  switch (state) {
    case "off":
      return "Not connected.";
    case "starting":
      return "Connecting …";
    case "failed":
      return `It did not connect: ${problem ?? "no reason was told"}`;
    case "on":
      return manager?.client.transport === undefined
        ? "The connection is lost. The agent tries again by itself."
        : `Connected over ${manager.client.transport}.`;
  }
}

function wayOf(text: string): Way {
  return ways.find(([way]) => way === text)?.[0] ?? "auto";
}

function Doors({ agent, onRoom }: { agent: TabAgent; onRoom: (room: Room) => void }): VNode {
  const create = useForm(
    useCallback(async (fields) => onRoom(await agent.create(fields["channel"] ?? "")), [agent, onRoom]),
  );
  const join = useForm(useCallback(async (fields) => onRoom(await agent.join(fields["link"] ?? "")), [agent, onRoom]));
  return html`
    <section class="card" aria-labelledby="doors-title">
      <h2 id="doors-title">${agent.rooms.length === 0 ? "Enter a channel" : "Enter another channel"}</h2>
      <h3>Make one of your own</h3>
      <${Form} state=${create} submit="Open or make it">
        <${Field} label="Name" name="channel" placeholder="acme/ops/hello" autocomplete="off" error=${create.error}
          hint="Three parts with slashes between them. Lowercase letters, digits and hyphens." />
        <//>
        <h3>Or join by a link that you were given</h3>
        <${Form} state=${join} submit="Join">
          <${Field} label="Link" name="link" type="password" autocomplete="off"
            hint="As secret as a password: it is not shown and not kept." error=${join.error} />
          <//>
          </section>
  `;
}

function Rooms(
  { agent, chosen, onChoose }: { agent: TabAgent; chosen: string; onChoose: (name: string) => void },
): VNode {
  return html`
    <fieldset class="segments"><legend>Channel</legend>
      ${agent.rooms.map(({ name }) =>
        html`<label key=${name}><input type="radio" name="room" value=${name} checked=${name === chosen}
          onChange=${() => onChoose(name)} /><span class="text">${name}</span></label>`
      )}
    </fieldset>
  `;
}

function Events({ agent }: { agent: TabAgent }): VNode {
  return html`
    <section class="card" aria-labelledby="live-events-title">
      <h2 id="live-events-title">What happens</h2>
      <div class="log" tabindex="0" role="region" aria-labelledby="live-events-title">
        <ul class="items">
        ${agent.events.length === 0 && html`<li class="quiet">Nothing yet.</li>`}
        ${agent.events.map(({ id, atMs, text }) =>
          html`<li key=${id}><span class="quiet">${
            new Date(atMs).toLocaleTimeString()
          }</span> <span class="text">${text}</span></li>`
        )}
      </ul>
      </div>
    </section>
  `;
}
