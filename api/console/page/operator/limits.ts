/** Plans and how many messages a month each has. Limits of one account are on its own page. */
import { Action, Fault, Field, Form, useForm, useReading } from "../elements.ts";
import { html, useCallback, type VNode } from "../ui.ts";
import { count } from "./account_parts.ts";
import { useOperator } from "./context.ts";

interface MonthlyPlan {
  readonly name: string;
  readonly limit: number | null;
}

export function LimitsPage(): VNode {
  const { service } = useOperator();
  const { value, error, again } = useReading(
    useCallback(() => service.view<{ plans: MonthlyPlan[] }>({ view: "plans" }), [service]),
  );
  return html`
    <h1>Limits</h1>
    <p class="quiet">They hold from the next lease on: relays keep what they were granted.</p>
    <${Fault} error=${error} />
    <div class="cards">
      ${value?.plans.map((plan) =>
        html`<${PlanCard} key=${plan.name} plan=${plan} again=${again} />`
      )}
    </div>
  `;
}

function PlanCard(
  { plan: { name, limit }, again }: { plan: MonthlyPlan; again: () => Promise<void> },
): VNode {
  const { service, say } = useOperator();
  const set = useCallback(async (text: string) => {
    say(await service.run("set-limit", name, text));
    await again();
  }, [service, say, again, name]);
  const form = useForm(useCallback((fields) => set((fields["limit"] ?? "").trim()), [set]));
  return html`
    <section class="card" aria-labelledby=${`plan-${name}`}>
      <h2 id=${`plan-${name}`}>${name}</h2>
      <p><strong>${limit === null ? "Any number of" : count(limit)}</strong> messages a month</p>
      <${Form} state=${form} submit=${`Set the limit of ${name}`}>
        <${Field} label=${`Messages a month of ${name}`} name="limit" id=${`limit-${name}`} inputmode="numeric"
          autocomplete="off" required />
        <//>
          ${limit !== null && html`
            <p>
              <${Action} label=${`No limit for ${name}`} work=${() =>
                set("unlimited")}>No limit<//></p>
          `}
    </section>
  `;
}
