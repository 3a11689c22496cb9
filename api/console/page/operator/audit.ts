/** The audit of the whole service, newest first, and the check of its chain. */
import { Action, Fault, useReading } from "../elements.ts";
import { html, useCallback, useState, type VNode } from "../ui.ts";
import { useOperator } from "./context.ts";
import { type AuditEvent, EventTable } from "./event_table.ts";

export function AuditPage(): VNode {
  const { service } = useOperator();
  const [before, setBefore] = useState<number | undefined>(undefined);
  const [verdict, setVerdict] = useState("");
  const { value, error } = useReading(useCallback(
    () =>
      service.view<{ events: AuditEvent[] }>({
        view: "audit",
        ...(before !== undefined && { before }),
      }),
    [service, before],
  ));
  const verify = async (): Promise<void> => setVerdict(await service.run("audit", "verify"));
  const oldest = value?.events.at(-1)?.seq ?? 1;
  return html`
    <h1>Audit</h1>
    <section class="card" aria-labelledby="chain-title">
      <h2 id="chain-title">The chain</h2>
      <p>Each event has the hash of the one before it. Write down number and hash now and then: what was cut off at the end
        shows only against them.</p>
      <p>
        <${Action} work=${verify}>Check the chain<//></p>
      <p role="status" class="text">${verdict}</p>
    </section>
    <section class="card" aria-labelledby="audit-title">
      <h2 id="audit-title">What happened</h2>
      <${Fault} error=${error} />
      <${EventTable} events=${value?.events ?? []} titled="audit-title" />
      <p class="row"><button type="button" disabled=${before === undefined} onClick=${() =>
        setBefore(undefined)}>Newest</button>
        <button type="button" disabled=${oldest <= 1} onClick=${() =>
          setBefore(oldest)}>Older</button></p>
    </section>
  `;
}
