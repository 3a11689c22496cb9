/** Account: address, password, sessions, what happened, and the end. */
import { useConsole } from "./context.ts";
import {
  Action,
  Ask,
  Dialog,
  Fault,
  Field,
  Form,
  type LoadedValue,
  Time,
  useForm,
  useReading,
} from "./elements.ts";
import { html, useCallback, useState, type VNode } from "./ui.ts";

interface SignedInAccount {
  readonly id: string;
  readonly email: string | null;
  readonly email_verified: boolean;
  readonly pending_email: string | null;
  readonly plan: string;
  readonly created_at: string;
  readonly notices: readonly string[];
}

interface ConsoleSession {
  readonly id: string;
  readonly created_at: string;
  readonly expires_at: string;
  readonly current: boolean;
}

interface AccountEvent {
  readonly at: string;
  readonly event: string;
  readonly actor: string;
  readonly subject: string | null;
}

export function AccountPage(): VNode {
  const { service } = useConsole();
  const account = useReading(
    useCallback(() => service.get<SignedInAccount>("/v1/account"), [service]),
  );
  return html`
    <h1>Account</h1>
    <${Fault} error=${account.error} />
    ${account.value && html`<${Address} account=${account.value} again=${account.again} />`}
    <${Password} />
    <${Sessions} />
    <${Events} />
    <${Deletion} />
  `;
}

function Address(
  { account, again }: { account: SignedInAccount; again: () => Promise<void> },
): VNode {
  const { email, email_verified, pending_email, plan, created_at, notices } = account;
  return html`
    <section class="card" aria-labelledby="address-title">
      <h2 id="address-title">E-mail</h2>
      ${notices.includes("address_claimed") &&
        html`<p class="fault">Somebody else has proved to own the address that this
        account had. Give it another one.</p>`}
      <p><strong class="text">${email ?? "No address"}</strong> ${email !== null &&
        (email_verified ? html`<span class="good">verified</span>` : "not verified")}</p>
      <p class="quiet">Plan ${plan}. Made <${Time} at=${created_at} />. Account <code>${account
        .id}</code></p>
      ${(pending_email !== null || (email !== null && !email_verified)) && html`
        <${Verification} pending=${pending_email} again=${again} />
      `}
      <${NewAddress} again=${again} />
    </section>
  `;
}

function Verification(
  { pending, again }: { pending: string | null; again: () => Promise<void> },
): VNode {
  const { service, say } = useConsole();
  const form = useForm(useCallback(async (fields) => {
    await service.send("POST", "/v1/account/verification/confirm", { code: fields["code"] ?? "" });
    say("The address is verified.");
    if (pending !== null) await service.checkSession();
    await again();
  }, [service, say, again, pending]));
  const sendAgain = async (): Promise<void> => {
    await service.send("POST", "/v1/account/verification");
    say("A new code is on its way.");
  };
  return html`
    <${Form} state=${form} submit="Confirm">
      <${Field} label=${pending === null
        ? "Code from the mail"
        : `Code from the mail to ${pending}`} name="code"
        autocomplete="one-time-code" required error=${form.error} />
    <//>
    ${pending === null && html`
      <p>
        <${Action} work=${sendAgain}>Send another code<//></p>
    `}
  `;
}

function NewAddress({ again }: { again: () => Promise<void> }): VNode {
  const { service, say } = useConsole();
  const form = useForm(useCallback(async (fields) => {
    const { email = "", password = "" } = fields;
    await service.send("PATCH", "/v1/account", { email, password });
    say(`A code is on its way to ${email}.`);
    await again();
  }, [service, say, again]));
  return html`
    <details>
      <summary>Change the address</summary>
      <${Form} state=${form} submit="Send a code to the new address">
        <${Field} label="New e-mail" name="email" type="email" autocomplete="email" required
          error=${form.error} />
        <${Field} label="Password" name="password" type="password" autocomplete="current-password"
          required
          error=${form.error} />
        <//>
        </details>
  `;
}

function Password(): VNode {
  const { service, say } = useConsole();
  const form = useForm(useCallback(async (fields) => {
    const { password = "", new_password = "" } = fields;
    const revoke_keys = fields["revoke_keys"] !== undefined;
    const ended = await service.send<{ keys_revoked: number }>("POST", "/v1/account/password", {
      password,
      new_password,
      revoke_keys,
    });
    say(
      `The password is changed and all sessions have ended.${
        revoke_keys ? ` Keys revoked: ${ended.keys_revoked}.` : ""
      }`,
    );
    await service.checkSession();
  }, [service, say]));
  return html`
    <section class="card" aria-labelledby="password-title">
      <h2 id="password-title">Password</h2>
      <${Form} state=${form} submit="Change the password">
        <p class="quiet">All sessions end, this one too.</p>
        <${Field} label="Present password" name="password" type="password"
          autocomplete="current-password" required
          id="present-password" error=${form.error} />
        <${Field} label="New password" name="new_password" type="password"
          autocomplete="new-password" required
          error=${form.error} hint="At least 8 characters." />
        <p><label class="check"><input type="checkbox" name="revoke_keys" /> Revoke all keys too</label></p>
        <//>
        </section>
  `;
}

function Sessions(): VNode {
  const { service, say } = useConsole();
  const { value, error, again } = useReading(
    useCallback(() => service.get<{ sessions: ConsoleSession[] }>("/v1/account/sessions"), [
      service,
    ]),
  );
  const [all, setAll] = useState(false);
  const end = async (id: string): Promise<void> => {
    await service.send("DELETE", `/v1/account/sessions/${id}`);
    say("The session has ended.");
    await again();
  };
  const endAll = async (): Promise<void> => {
    await service.send("DELETE", "/v1/account/sessions");
    await service.checkSession();
  };
  return html`
    <section class="card" aria-labelledby="sessions-title">
      <h2 id="sessions-title">Sessions</h2>
      <${Fault} error=${error} />
      <ul class="items">
        ${value?.sessions.map(({ id, created_at, expires_at, current }) =>
          html`
            <li
              key=${id}><div class="grow"><p>Begun <${Time} at=${created_at} />, ends <${Time} at=${expires_at} /> ${current
                ? html`<span class="good">this one</span>`
                : ""}</p></div>
                      ${!current &&
                        html`<${Action} label=${`End the session begun ${created_at}`} work=${() =>
                          end(id)}>End<//>`}</li>
          `
        )}
      </ul>
      <p><button type="button" onClick=${() => setAll(true)}>End all sessions</button></p>
      ${all && html`
        <${Ask} title="End all sessions?"
          text="Everybody who is signed in to this account is signed out, you too."
          yes="End all" work=${endAll} onClose=${() => setAll(false)} />
      `}
    </section>
  `;
}

function Events(): VNode {
  const { service } = useConsole();
  const [before, setBefore] = useState<string | undefined>(undefined);
  const reading: LoadedValue<{ events: AccountEvent[] }> = useReading(useCallback(() => {
    const query = before === undefined ? "" : `?before=${encodeURIComponent(before)}`;
    return service.get<{ events: AccountEvent[] }>(`/v1/account/events${query}`);
  }, [service, before]));
  const events = reading.value?.events ?? [];
  return html`
    <section class="card" aria-labelledby="events-title">
      <h2 id="events-title">What happened</h2>
      <${Fault} error=${reading.error} />
      <div class="scroll" tabindex="0" role="region" aria-labelledby="events-title">
        <table>
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">What</th>
              <th scope="col">By</th>
              <th scope="col">About</th>
            </tr>
          </thead>
          <tbody>${events.map(({ at, event, actor, subject }, index) =>
            html`
              <tr key=${`${at}${index}`}>
                <td>
                  <${Time} at=${at} />
                </td>
                <td>${event}</td>
                <td><code>${actor}</code></td>
                <td><code>${subject ?? ""}</code></td>
              </tr>
            `
          )}</tbody>
        </table>
      </div>
      <p class="row"><button type="button" disabled=${before === undefined} onClick=${() =>
        setBefore(undefined)}>Newest</button>
        <button type="button" disabled=${events.length < 100} onClick=${() =>
          setBefore(events.at(-1)?.at)}>Older</button></p>
    </section>
  `;
}

function Deletion(): VNode {
  const { service } = useConsole();
  const [asked, setAsked] = useState(false);
  const form = useForm(useCallback(async (fields) => {
    await service.send("DELETE", "/v1/account", { password: fields["password"] ?? "" });
    service.forget();
  }, [service]));
  return html`
    <section class="card" aria-labelledby="delete-title">
      <h2 id="delete-title">Delete the account</h2>
      <p>Keys and sessions end at once, and its channels are closed. Nothing brings the account back.</p>
      <p><button type="button" class="danger" onClick=${() =>
        setAsked(true)}>Delete the account …</button></p>
      ${asked && html`
        <${Dialog} title="Delete the account?" onClose=${() => setAsked(false)}>
          <${Form} state=${form} submit="Delete it for ever" danger>
            <${Field} label="Your password" name="password" id="delete-password" type="password"
              autocomplete="current-password" required error=${form.error} />
            <//>
            <p><button type="button" onClick=${() => setAsked(false)}>Keep it</button></p>
            <//>
      `}
    </section>
  `;
}
