/**
 * The privacy meter: cells a second each way, real against cover, and what the relay sees of each
 * message.
 */
import { html, useEffect, useState, type VNode } from "../ui.ts";
import {
  type CellRates,
  type Counts,
  coverChoices,
  type Direction,
  megabytesADay,
} from "./meter.ts";
import type { PostQuantum } from "static-sdk";
import type { ChatRoom } from "./room.ts";
import type { TabAgent } from "./tab_agent.ts";

const sampleMs = 1_000;
const rate = new Intl.NumberFormat(undefined, {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
const number = new Intl.NumberFormat();
const names: Readonly<Record<Direction, string>> = { sent: "Up", received: "Down" };

export function MeterView({ agent, room }: { agent: TabAgent; room: ChatRoom | undefined }): VNode {
  const { meter } = agent;
  const [rates, setRates] = useState<CellRates>(() => meter.sample(performance.now()));
  useEffect(() => {
    const timer = setInterval(() => setRates(meter.sample(performance.now())), sampleMs);
    return () => clearInterval(timer);
  }, [meter]);
  return html`
    <section aria-labelledby="meter-title">
      <h2 id="meter-title">Privacy meter</h2>
      ${room?.channel &&
        html`<p class="recordings">${recordings(room.channel.health().postQuantum)}</p>`}
      <${Cover} agent=${agent} />
      <div class="scroll" tabindex="0" role="region" aria-labelledby="meter-title">
        <table class="meter">
          <thead>
            <tr>
              <th scope="col">Cells</th>
              <th scope="col" class="number">a second</th>
              <th scope="col" class="number real">real</th>
              <th scope="col" class="number cover">cover</th>
            </tr>
          </thead>
          <tbody>
          ${(["sent", "received"] as const).map((direction) =>
            html`
              <${Row} key=${direction} name=${names[direction]} rates=${rates[
                direction
              ]} totals=${meter.totals(
                direction,
              )}
                direction=${direction} />
            `
          )}
        </tbody>
        </table>
      </div>
      <p
        class="quiet">Every cell has the same size. On the wire nobody can tell real ones from cover: only this tab and the relay
        know, and the relay sees no more than this of each message:</p>
      <div class="log sights" tabindex="0" role="region" aria-label="What the relay sees">
        <ul class="items">
        ${meter.sights.length === 0 && html`<li class="quiet">Nothing yet.</li>`}
        ${meter.sights.map(({ number, text, bytes }) =>
          html`<li key=${number}><span class="text">${text}</span>${
            bytes && html`
              <code>… ${bytes}</code>
            `
          }</li>`
        )}
      </ul>
      </div>
    </section>
  `;
}

function recordings(postQuantum: PostQuantum): string {
  const { state } = postQuantum;
  const open = "A later quantum computer may open recordings of this channel";
  if (state === "none") return `${open}.`;
  const isOlderOpen = postQuantum.since > 0;
  if (state === "partly") {
    const from =
      `${open} from epoch ${postQuantum.until} on, when an agent without post-quantum keys was let in`;
    return isOlderOpen ? `${from}, and those from before epoch ${postQuantum.since}.` : `${from}.`;
  }
  const which = isOlderOpen ? `from epoch ${postQuantum.since} on ` : "";
  return `Recordings of this channel ${which}stay closed to outsiders, also for a later quantum computer.`;
}

/** Every choice tells its price. Another one takes a new connection. */
function Cover({ agent }: { agent: TabAgent }): VNode {
  const { options, state } = agent;
  const change = ({ currentTarget: { value } }: { currentTarget: HTMLSelectElement }): void => {
    const chosen = coverChoices.find(({ profile }) => profile === value);
    if (chosen !== undefined) void agent.start({ ...options, cover: chosen.profile });
  };
  return html`
    <p class="field"><label for="cover">Cover traffic</label>
      <select id="cover" disabled=${state === "starting"} value=${options.cover} onChange=${change}>
        ${coverChoices.map((choice) =>
          html`<option key=${choice.profile} value=${choice.profile}>${choice.text} (${
            number.format(Math.round(megabytesADay(choice)))
          } MB a day)</option>`
        )}
      </select>
      <small>${price(options.cover)}</small></p>
  `;
}

/** On a phone the choice itself has no room for it. */
function price(cover: string): string {
  const chosen = coverChoices.find(({ profile }) => profile === cover);
  const megabytes = chosen === undefined ? 0 : megabytesADay(chosen);
  return `Cover costs ${number.format(Math.round(megabytes))} MB a day, both ways together.`;
}

function Row(
  { name, rates, totals, direction }: {
    name: string;
    rates: Counts;
    totals: Counts;
    direction: Direction;
  },
): VNode {
  const all = totals.real + totals.cover;
  return html`
    <tr data-direction=${direction}>
      <th scope="row">${name}</th>
      <td class="number">${rate.format(rates.real + rates.cover)}</td>
      <td class="number" data-real=${totals.real}>${number.format(totals.real)}</td>
      <td class="number" data-cover=${totals.cover}>${number.format(totals.cover)}</td>
    </tr>
    <tr class="mix-row">
      <td colspan="4">
        ${all > 0 && html`
          <div class="mix" role="meter" aria-label=${`${name}: real cells among all`} aria-valuemin="0"
            aria-valuemax=${all} aria-valuenow=${totals.real}>
            <div style=${{ width: `${100 * totals.real / all}%` }}></div>
          </div>
        `}
      </td>
    </tr>
  `;
}
