/**
 * One account: what it used, its keys, what happened to it, and what an operator can do about it.
 */
import { Action, Ask, Fault, Field, Form, Time, useForm, useReading } from "../elements.ts";
import { html, useCallback, useState, type VNode } from "../ui.ts";
import { count, type OperatorAccount, State } from "./account_parts.ts";
import { useOperator } from "./context.ts";
import { EventTable } from "./event_table.ts";

interface AccountReport {
  readonly account: OperatorAccount;
  readonly days: readonly { readonly day: string; readonly messages: number }[];
  readonly keys: readonly {
    readonly key_prefix: string;
    readonly kind: string;
    readonly created_at: string;
    readonly last_used_at: string | null;
  }[];
  readonly events: readonly {
    readonly at: string;
    readonly event: string;
    readonly actor: string;
    readonly subject: string | null;
  }[];
}

interface Order {
  readonly command: "suspend" | "revoke-all" | "delete";
  readonly button: string;
  readonly text: string;
}

const orders: readonly Order[] = [
  {
    command: "suspend",
    button: "Suspend",
    text:
      "Its keys and tokens stop working, and relays end its sessions within 10 s. Resuming it brings all back.",
  },
  {
    command: "revoke-all",
    button: "Revoke all keys",
    text: "All its keys and sessions end. Nothing brings them back.",
  },
  {
    command: "delete",
    button: "Delete",
    text: "The account and its channels end. Nothing brings it back.",
  },
];
const plans = ["free", "dev", "team", "enterprise"];

export function AccountView({ id, onBack }: { id: string; onBack: () => void }): VNode {
  const { service, say } = useOperator();
  const { value, error, again } = useReading(
    useCallback(() => service.view<AccountReport>({ view: "account", id }), [service, id]),
  );
  const order = useCallback(async (...args: string[]) => {
    say(await service.run(...args));
    await again();
  }, [service, say, again]);
  return html`
    <p><button type="button" class="link" onClick=${onBack}>All accounts</button></p>
    <h1 class="text">${value === undefined
      ? "Account"
      : value.account.email ?? "An account without an address"}</h1>
    <${Fault} error=${error} />
    ${value && html`
      <${Standing} account=${value.account} order=${order} />
      ${value.account.state !== "deleted" &&
        html`<${Limits} account=${value.account} order=${order} />`}
      <${Keys} keys=${value.keys} />
      <${Usage} days=${value.days} />
      <section class="card" aria-labelledby="events-title">
        <h2 id="events-title">What happened</h2>
        <${EventTable} events=${value.events} />
      </section>
    `}
  `;
}

type CommandRunner = (...args: string[]) => Promise<void>;

function Standing({ account, order }: { account: OperatorAccount; order: CommandRunner }): VNode {
  const [asked, setAsked] = useState<Order | undefined>(undefined);
  const { id, email, state, email_verified, messages, sessions } = account;
  const possible = orders.filter(({ command }) => command !== "suspend" || state === "active");
  const resume = (): void => void order("resume", id);
  return html`
    <section class="card" aria-labelledby="standing-title">
      <h2 id="standing-title">Standing</h2>
      <p><${State} of=${state} /> ${email !== null &&
        (email_verified ? "address verified" : "address not verified")}</p>
      <p>${count(messages)} messages this month, ${sessions} ${sessions === 1
        ? "session"
        : "sessions"} of the console open.
        Made <${Time} at=${account.created_at} />.</p>
      <p class="quiet">Account <code>${id}</code></p>
      ${state !== "deleted" && html`
        <p class="row">
          ${state === "suspended" &&
            html`<button type="button" class="main" onClick=${resume}>Resume</button>`}
          ${possible.map((each) =>
            html`<button key=${each.command} type="button" class="danger" onClick=${() =>
              setAsked(each)}>${each.button} …</button>`
          )}
        </p>
      `}
      ${asked && html`
        <${Ask} title=${`${asked.button}: ${email ?? id}?`} text=${asked.text} yes=${asked.button}
          work=${() => order(asked.command, id)} onClose=${() => setAsked(undefined)} />
      `}
    </section>
  `;
}

function Limits({ account, order }: { account: OperatorAccount; order: CommandRunner }): VNode {
  const plan = useForm(
    useCallback((fields) => order("set-plan", account.id, fields["plan"] ?? ""), [
      order,
      account.id,
    ]),
  );
  const limit = useForm(useCallback(
    (fields) => order("set-limit", account.id, (fields["limit"] ?? "").trim()),
    [order, account.id],
  ));
  return html`
    <section class="card" aria-labelledby="limit-title">
      <h2 id="limit-title">Plan and limit</h2>
      <${Form} state=${plan} submit="Set the plan">
        <p class="field"><label for="plan">Plan</label>
          <select id="plan" name="plan" key=${account.plan}>
            ${plans.map((each) =>
              html`<option key=${each} value=${each} selected=${
                each === account.plan
              }>${each}</option>`
            )}
          </select></p>
        <//>
        <${Form} state=${limit} submit="Set the limit">
          <${Field} label="Messages a month" name="limit" inputmode="numeric" autocomplete="off" required
          hint=${account.limit === null
            ? "As its plan says, now."
            : `${count(account.limit)} now.`} />
      <//>
      ${account.limit !== null && html`
        <p>
          <${Action} work=${() => order("set-limit", account.id, "plan")}>As its plan says<//></p>
      `}
    </section>
  `;
}

function Keys({ keys }: { keys: AccountReport["keys"] }): VNode {
  return html`
    <section class="card" aria-labelledby="keys-title">
      <h2 id="keys-title">Active keys</h2>
      ${keys.length === 0 && html`<p class="quiet">There is none.</p>`}
      <ul class="items">
        ${keys.map(({ key_prefix, kind, created_at, last_used_at }) =>
          html`<li key=${key_prefix}><code class="grow">${key_prefix}…</code><span>${kind}</span>
            <span class="quiet">made <${Time} at=${created_at} />, used <${Time} at=${last_used_at} /></span></li>`
        )}
      </ul>
    </section>
  `;
}

function Usage({ days }: { days: AccountReport["days"] }): VNode {
  const sums = new Map<string, number>();
  for (const { day, messages } of days) sums.set(day, (sums.get(day) ?? 0) + messages);
  const most = Math.max(1, ...sums.values());
  return html`
    <section class="card" aria-labelledby="usage-title">
      <h2 id="usage-title">The last 30 days</h2>
      ${sums.size === 0 && html`<p class="quiet">No messages were counted.</p>`}
      <ul class="items">
        ${[...sums].toReversed().map(([day, messages]) =>
          html`<li key=${day}><span>${day}</span><progress class="grow" max=${most} value=${messages}
            aria-label=${`Messages on ${day}`}></progress><span class="number">${
            count(messages)
          }</span></li>`
        )}
      </ul>
    </section>
  `;
}
