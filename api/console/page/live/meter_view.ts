/** The privacy meter: cells a second each way, real against cover, and what the relay sees of each message. */
import { html, useEffect, useState, type VNode } from "../ui.ts";
import type { Counts, Direction, Rates } from "./meter.ts";
import type { TabAgent } from "./tab_agent.ts";

const sampleMs = 1_000;
const rate = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const number = new Intl.NumberFormat();
const names: Readonly<Record<Direction, string>> = { sent: "Up", received: "Down" };

export function MeterView({ agent: { meter } }: { agent: TabAgent }): VNode {
  const [rates, setRates] = useState<Rates>(() => meter.sample(performance.now()));
  useEffect(() => {
    const timer = setInterval(() => setRates(meter.sample(performance.now())), sampleMs);
    return () => clearInterval(timer);
  }, [meter]);
  return html`
    <section class="card" aria-labelledby="meter-title">
      <h2 id="meter-title">Privacy meter</h2>
      <div class="scroll" tabindex="0" role="region" aria-labelledby="meter-title">
        <table class="meter">
          <thead>
            <tr>
              <th scope="col">Cells</th>
              <th scope="col" class="number">a second</th>
              <th scope="col" class="number real">real</th>
              <th scope="col" class="number cover">cover</th>
              <th scope="col">real against cover</th>
            </tr>
          </thead>
          <tbody>
          ${(["sent", "received"] as const).map((direction) =>
            html`
              <${Row} key=${direction} name=${names[direction]} rates=${rates[direction]} totals=${meter.totals(
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

function Row(
  { name, rates, totals, direction }: { name: string; rates: Counts; totals: Counts; direction: Direction },
): VNode {
  const all = totals.real + totals.cover;
  return html`
    <tr data-direction=${direction}>
      <th scope="row">${name}</th>
      <td class="number">${rate.format(rates.real + rates.cover)}</td>
      <td class="number" data-real=${totals.real}>${number.format(totals.real)}</td>
      <td class="number" data-cover=${totals.cover}>${number.format(totals.cover)}</td>
      <td>${all > 0 && html`
        <meter min="0" max=${all} value=${totals.real}
          aria-label=${`${name}: share of real cells`}></meter>
      `}</td>
    </tr>
  `;
}
