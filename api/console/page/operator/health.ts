/** Health of this API, of its database and of the relays that clients are told of. */
import { Fault, Time, useReading } from "../elements.ts";
import { html, useCallback, type VNode } from "../ui.ts";
import { useOperator } from "./context.ts";

interface PartReport {
  readonly ok: boolean;
  readonly ms: number;
  readonly problem?: string;
}

interface HealthReport {
  readonly version: string;
  readonly started_at: string;
  readonly database: PartReport;
  readonly waiting_hashes: number;
  readonly waiting_mail: number;
  readonly relays: readonly (PartReport & { readonly url: string })[];
}

export function HealthPage(): VNode {
  const { service } = useOperator();
  const { value, error, again } = useReading(
    useCallback(() => service.view<HealthReport>({ view: "health" }), [service]),
  );
  return html`
    <h1>Health</h1>
    <${Fault} error=${error} />
    ${value && html`
      <section class="card" aria-labelledby="api-title">
        <h2 id="api-title">API</h2>
        <ul class="items">
          <li><span class="grow">Version</span><span>${value.version}</span></li>
          <li><span class="grow">Running since</span><${Time} at=${value.started_at} /></li>
          <li><span class="grow">Database</span><${Mark} standing=${value.database} /></li>
          <li><span class="grow">Passwords and keys that wait to be hashed</span><span>${value
            .waiting_hashes}</span></li>
          <li><span class="grow">Mail that waits</span><span>${value.waiting_mail}</span></li>
        </ul>
      </section>
      <section class="card" aria-labelledby="relays-title">
        <h2 id="relays-title">Relays</h2>
        ${value.relays.length === 0 &&
          html`<p class="quiet">Clients are told of none (STATIC_RELAY_URL).</p>`}
        <ul class="items">
          ${value.relays.map((relay) =>
            html`<li key=${relay.url}><code class="grow">${relay.url}</code><${Mark} standing=${relay} /></li>`
          )}
        </ul>
      </section>
    `}
    <p><button type="button" onClick=${() => void again()}>Look again</button></p>
  `;
}

function Mark({ standing: { ok, ms, problem } }: { standing: PartReport }): VNode {
  return ok
    ? html`<span class="good">answers (${ms} ms)</span>`
    : html`<span class="problem">does not answer: ${problem}</span>`;
}
