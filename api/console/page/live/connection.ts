/**
 * How this tab's agent reaches the relay: one button that tells its state, and the settings behind
 * it.
 */
import { Dialog } from "../elements.ts";
import { html, useState, type VNode } from "../ui.ts";
import type { TabAgent, TransportPreference } from "./tab_agent.ts";

const ways: readonly (readonly [TransportPreference, string])[] = [
  ["auto", "Automatic"],
  ["webtransport", "WebTransport"],
  ["cells", "HTTPS, where UDP is blocked"],
];

export function ConnectionButton({ agent }: { agent: TabAgent }): VNode {
  const [isOpen, setOpen] = useState(false);
  return html`
    <button type="button" class="connection" data-state=${stateOf(agent)} aria-label="Connection"
      onClick=${() =>
        setOpen(true)}><span class="lamp" aria-hidden="true"></span><span class="roomy">${words[
          stateOf(agent)
        ]}</span></button>
    <span role="status" class="unseen">${stateText(agent)}</span>
    ${isOpen && html`
      <${Dialog} title="Connection" onClose=${() => setOpen(false)}>
        <${Settings} agent=${agent} />
        <p class="row"><button type="button" onClick=${() => setOpen(false)}>Done</button></p>
        <//>
    `}
  `;
}

function Settings({ agent }: { agent: TabAgent }): VNode {
  const { options, state, manager } = agent;
  const start = (change: Partial<typeof options>): void =>
    void agent.start({ ...options, ...change });
  // cast: the select's own event
  const value = (event: Event): string => (event.currentTarget as HTMLSelectElement).value;
  return html`
    <p class="text">${stateText(agent)}</p>
    ${manager && html`
      <p class="quiet">This tab's agent calls itself <code id="own-name">${agent
        .identity}</code>.</p>
      <p class="quiet">Its id is <code id="own-id">${manager.client.agentId}</code>.</p>
    `}
    <p class="field"><label for="way">Way to the relay</label>
      <select id="way" disabled=${state === "starting"} value=${options.way}
        onChange=${(event: Event) => start({ way: wayOf(value(event)) })}>
        ${ways.map(([way, text]) => html`<option key=${way} value=${way}>${text}</option>`)}
      </select></p>
    <p>${state === "on"
      ? html`<button type="button" onClick=${() => void agent.stop()}>Disconnect</button>`
      : html`<button type="button" class="main" disabled=${state === "starting"} onClick=${() =>
        start({})}>Connect</button>`}</p>
    <h3>What happened</h3>
    <div class="log" tabindex="0" role="region" aria-label="What happened to the connection">
      <ul class="items">
        ${agent.events.length === 0 && html`<li class="quiet">Nothing yet.</li>`}
        ${agent.events.map(({ id, atMs, text }) =>
          html`
            <li
              key=${id}><span class="quiet">${new Date(atMs)
                .toLocaleTimeString()}</span> <span class="text">${text}</span></li>
          `
        )}
      </ul>
    </div>
  `;
}

type ConnectionStatus = TabAgent["state"] | "lost";

function stateOf({ state, manager }: TabAgent): ConnectionStatus {
  return state === "on" && manager?.client.transport === undefined ? "lost" : state;
}

const words: Readonly<Record<ConnectionStatus, string>> = {
  off: "Off",
  starting: "Connecting",
  failed: "Failed",
  lost: "Lost",
  on: "Connected",
};

function stateText(agent: TabAgent): string {
  switch (stateOf(agent)) {
    case "off":
      return "Not connected.";
    case "starting":
      return "Connecting …";
    case "failed":
      return `It did not connect: ${agent.problem ?? "no reason was told"}`;
    case "lost":
      return "The connection is lost. The agent tries again by itself.";
    case "on":
      return `Connected over ${agent.manager?.client.transport}.`;
  }
}

function wayOf(text: string): TransportPreference {
  return ways.find(([way]) => way === text)?.[0] ?? "auto";
}
