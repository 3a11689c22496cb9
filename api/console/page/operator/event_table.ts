/** Rows of the audit as a table. */
import { Time } from "../elements.ts";
import { html, type VNode } from "../ui.ts";

export interface AuditEvent {
  readonly seq?: number;
  readonly at: string;
  readonly event: string;
  readonly actor: string;
  readonly account_id?: string | null;
  readonly subject: string | null;
  readonly details?: unknown;
}

/** `titled` is the id of its heading. */
export function EventTable(
  { events, titled = "events-title" }: { events: readonly AuditEvent[]; titled?: string },
): VNode {
  const isWhole = events.some(({ seq }) => seq !== undefined);
  return html`
    <div class="scroll" tabindex="0" role="region" aria-labelledby=${titled}>
      <table>
        <thead>
          <tr>
            ${isWhole && html`<th scope="col" class="number">No.</th>`}
            <th scope="col">When</th>
            <th scope="col">What</th>
            <th scope="col">By</th>
            ${isWhole && html`<th scope="col">Account</th>`}
            <th scope="col">About</th>
          </tr>
        </thead>
        <tbody>${events.map((event, index) =>
          html`
            <tr key=${event.seq ?? index}>
              ${isWhole && html`<td class="number">${event.seq}</td>`}
              <td><${Time} at=${event.at} /></td>
              <td>${event.event}</td>
              <td><code>${event.actor}</code></td>
              ${isWhole && html`<td><code>${event.account_id ?? ""}</code></td>`}
              <td><code>${[event.subject ?? "", event.details ? JSON.stringify(event.details) : ""]
                .join(" ")
                .trim()}</code></td>
            </tr>
          `
        )}</tbody>
      </table>
    </div>
  `;
}
