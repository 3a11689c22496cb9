/** Accounts: found by address or by use, and one of them in full. */
import { Fault, Field, Form, Time, useForm, useReading } from "../elements.ts";
import { html, useCallback, useState, type VNode } from "../ui.ts";
import { AccountView } from "./account.ts";
import { count, type OperatorAccount, State } from "./account_parts.ts";
import { useOperator } from "./context.ts";

interface Query {
  readonly by: "age" | "usage";
  readonly search?: string;
}

const orders = [["age", "Newest first"], ["usage", "Most messages first"]] as const;

export function AccountsPage(): VNode {
  const { service } = useOperator();
  const [query, setQuery] = useState<Query>({ by: "age" });
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const { value, error, again } = useReading(useCallback(
    () =>
      service.view<{ accounts: OperatorAccount[]; complete: boolean }>({
        view: "accounts",
        ...query,
      }),
    [service, query],
  ));
  const find = useForm(useCallback((fields) => {
    const { by, search = "" } = fields;
    setQuery({
      by: by === "usage" ? "usage" : "age",
      ...(search.trim() !== "" && { search: search.trim() }),
    });
    return Promise.resolve();
  }, []));
  if (chosen !== undefined) {
    return html`<${AccountView} id=${chosen} onBack=${() => {
      setChosen(undefined);
      void again();
    }} />`;
  }
  return html`
    <h1>Accounts</h1>
    <section class="card" aria-labelledby="find-title">
      <h2 id="find-title">Find</h2>
      <${Form} state=${find} submit="Show">
        <div class="row">
          <${Field} label="Part of the address" name="search" autocomplete="off" />
          <p class="field"><label for="order">Order</label>
            <select id="order" name="by">${orders.map(([by, text]) =>
              html`<option key=${by} value=${by}>${text}</option>`
            )}
            </select></p>
        </div>
        <//>
        </section>
        <section class="card" aria-labelledby="accounts-title">
      <h2 id="accounts-title">${query.search === undefined
        ? "All accounts"
        : `Accounts with “${query.search}”`}</h2>
      <${Fault} error=${error} />
      ${value?.accounts.length === 0 && html`<p class="quiet">There is none.</p>`}
      ${value && value.accounts.length > 0 &&
        html`<${Table} accounts=${value.accounts} onChoose=${setChosen} />`}
      ${value?.complete === false &&
        html`<p class="quiet">There are more. Search for a part of the address.</p>`}
        </section>
  `;
}

function Table(
  { accounts, onChoose }: { accounts: readonly OperatorAccount[]; onChoose: (id: string) => void },
): VNode {
  return html`
    <div class="scroll" tabindex="0" role="region" aria-labelledby="accounts-title">
      <table>
        <thead>
          <tr>
            <th scope="col">Address</th>
            <th scope="col">State</th>
            <th scope="col">Plan</th>
            <th scope="col" class="number">Messages this month</th>
            <th scope="col" class="number">Keys</th>
            <th scope="col" class="number">Sessions</th>
            <th scope="col">Made</th>
          </tr>
        </thead>
        <tbody>${accounts.map((account) =>
          html`
            <tr key=${account.id}>
              <td class="text"><button type="button" class="link" onClick=${() =>
                onChoose(account.id)}>${account.email ?? account.id}</button></td>
              <td>
                <${State} of=${account.state} />
              </td>
              <td>${account.plan}${account.limit === null
                ? ""
                : `, at most ${count(account.limit)}`}</td>
              <td class="number">${count(account.messages)}</td>
              <td class="number">${account.keys}</td>
              <td class="number">${account.sessions}</td>
              <td>
                <${Time} at=${account.created_at} />
              </td>
            </tr>
          `
        )}</tbody>
      </table>
    </div>
  `;
}
