/** Home: how much of the month is used, the last 30 days, and the way to a first agent. */
import { Connect } from "./connect.ts";
import { useConsole } from "./context.ts";
import { Fault, useReading } from "./elements.ts";
import { follow } from "./frame.ts";
import type { Plot } from "./plot.ts";
import { html, useCallback, useEffect, useRef, type VNode } from "./ui.ts";

interface MonthUsage {
  readonly plan: string;
  readonly period: { readonly end: string };
  readonly messages: {
    readonly used: number;
    readonly limit: number | null;
    readonly remaining: number | null;
  };
  readonly days?: readonly { readonly day: string; readonly messages: number }[];
}

export interface PlottedDay {
  readonly day: string;
  readonly messages: number;
}

const dayMs = 24 * 3600 * 1000;
const shownDays = 30;
const number = new Intl.NumberFormat();

export function HomePage(): VNode {
  const { service, go, firstKey } = useConsole();
  const { value: usage, error } = useReading(useCallback(() => {
    const [from, to] = [isoDay(Date.now() - (shownDays - 1) * dayMs), isoDay(Date.now())];
    return service.get<MonthUsage>(`/v1/usage?from=${from}&to=${to}`);
  }, [service]));
  // A new account has nothing to look at yet, and something to do.
  const isNew = firstKey !== undefined || (usage !== undefined && (usage.days ?? []).length === 0);
  return html`
    <h1>Home</h1>
    <${Fault} error=${error} />
    ${isNew && html`<${Connect} key="connect" />`}
    <section class="card" aria-labelledby="quota-title">
      <h2 id="quota-title">Messages this month</h2>
      ${usage === undefined
        ? html`<p class="quiet">Loading …</p>`
        : html`<${Quota} usage=${usage} />`}
    </section>
    <section class="card" aria-labelledby="days-title">
      <h2 id="days-title">The last ${shownDays} days</h2>
      ${usage === undefined
        ? html`<p class="quiet">Loading …</p>`
        : html`<${Days} days=${fillDays(usage.days ?? [])} />`}
    </section>
    ${!isNew && html`<${Connect} key="connect" />`}
    <section class="card" aria-labelledby="try-title">
      <h2 id="try-title">No program at hand?</h2>
      <p>This tab can be an agent, too: make a channel, invite others by a link, and watch what the relay sees of it.</p>
      <p><a href="/console/live" onClick=${(event: MouseEvent) =>
        follow(event, () => go("/console/live"))}>Open Live</a></p>
    </section>
  `;
}

function Quota(
  { usage: { plan, period, messages: { used, limit } } }: { usage: MonthUsage },
): VNode {
  const until = new Date(period.end).toLocaleDateString(undefined, {
    dateStyle: "medium",
    timeZone: "UTC",
  });
  if (limit === null) {
    return html`<p><strong>${
      number.format(used)
    }</strong> so far. The plan ${plan} has no limit.</p>`;
  }
  const share = limit === 0 ? 1 : used / limit;
  return html`
    <progress class=${share >= 0.8 ? "near" : ""} max=${Math.max(1, limit)} value=${Math.min(
      used,
      limit,
    )}
      aria-labelledby="quota-title" aria-describedby="quota-text"></progress>
    <p
      id="quota-text"><strong>${number.format(used)}</strong> of ${number.format(limit)} (${Math
        .round(
          share * 100,
        )} %). Plan ${plan}. It begins again on ${until} (UTC).</p>
  `;
}

function Days({ days }: { days: readonly PlottedDay[] }): VNode {
  const ref = useRef<HTMLDivElement>(null);
  const total = days.reduce((sum, { messages }) => sum + messages, 0);
  useEffect(() => {
    const drawn: { plot?: Plot; over: boolean } = { over: false };
    void import("./plot.ts").then(({ drawPlot }) => {
      if (!drawn.over && ref.current !== null) drawn.plot = drawPlot(ref.current, days);
    }, () => {}); // the table below tells the same
    return () => {
      drawn.over = true;
      drawn.plot?.remove();
    };
  }, [days]);
  return html`
    <div class="plot" ref=${ref} aria-hidden="true"></div>
    <details>
      <summary>${number.format(total)} messages. Show as a table</summary>
      <div class="scroll" tabindex="0" role="region" aria-labelledby="days-title">
        <table>
          <thead>
            <tr>
              <th scope="col">Day (UTC)</th>
              <th scope="col" class="number">Messages</th>
            </tr>
          </thead>
          <tbody>
        ${days.toReversed().map(({ day, messages }) =>
          html`
            <tr key=${day}>
              <td>${day}</td>
              <td class="number">${number.format(messages)}</td>
            </tr>
          `
        )}
      </tbody>
        </table>
      </div>
    </details>
  `;
}

/** Every day has its number, also the quiet ones; all keys of a day count together. */
export function fillDays(given: readonly PlottedDay[], nowMs = Date.now()): PlottedDay[] {
  const sums = new Map<string, number>();
  for (const { day, messages } of given) sums.set(day, (sums.get(day) ?? 0) + messages);
  return Array.from({ length: shownDays }, (_, index) => {
    const day = isoDay(nowMs - (shownDays - 1 - index) * dayMs);
    return { day, messages: sums.get(day) ?? 0 };
  });
}

function isoDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
