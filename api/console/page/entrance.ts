/** Before somebody is signed in: sign in, sign up, a new password by mail. */
import { useConsole } from "./context.ts";
import { Brand } from "./cells.ts";
import { Field, Form, SecretOnce, useForm } from "./elements.ts";
import { html, useCallback, useEffect, useRef, useState, type VNode } from "./ui.ts";

/** Stands above the key that comes with a new account. */
export const firstKeyText = "This is your first API key";

type EntranceForm = "in" | "up" | "reset" | "code";

/** `notice`: why somebody is here. */
export function Entrance(
  { onKey, notice }: { onKey: (key: string) => void; notice?: string },
): VNode {
  const [way, setWay] = useState<EntranceForm>("in");
  const [email, setEmail] = useState("");
  const [said, setSaid] = useState("");
  // There is one here while the sign-in after a sign-up fails.
  const { firstKey } = useConsole();
  const ref = useFirstField(way);
  const link = (to: EntranceForm, text: string): VNode =>
    html`<button type="button" class="link" onClick=${() => {
      setWay(to);
      setSaid("");
    }}>${text}</button>`;
  const asked = useCallback((address: string) => {
    setEmail(address);
    setWay("code");
  }, []);
  const changed = useCallback(() => {
    setWay("in");
    setSaid("The password is changed. Sign in with it.");
  }, []);
  return html`
    <main class="alone" id="main" tabindex="-1" ref=${ref}>
      <h1><${Brand} /></h1>
      <p class="quiet">End-to-end encrypted channels for software agents.</p>
      ${notice && html`<p class="text">${notice}</p>`}
      <p role="status">${said}</p>
      ${firstKey && html`<${SecretOnce} secret=${firstKey} what=${firstKeyText} />`}
      ${way === "in" && html`
        <${LogIn} />
        <p>${link("up", "Make an account")} ${link("reset", "Forgot the password?")}</p>
      `}
      ${way === "up" && html`
        <${SignUp} onKey=${onKey} />
        <p>${link("in", "I have an account")}</p>
      `}
      ${way === "reset" && html`
        <${Reset} onAsked=${asked} />
        <p>${link("in", "Back")}</p>
      `}
      ${way === "code" && html`
        <${NewPassword} email=${email} onDone=${changed} />
        <p>${link("in", "Back")}</p>
      `}
    </main>
  `;
}

/**
 * Another form takes the focus with it: the button that led there is gone. The first one leaves it
 * where it is.
 */
function useFirstField(way: EntranceForm): { current: HTMLElement | null } {
  const ref = useRef<HTMLElement>(null);
  const shown = useRef(way);
  useEffect(() => {
    if (shown.current !== way) ref.current?.querySelector("input")?.focus();
    shown.current = way;
  }, [way]);
  return ref;
}

/** `email` is given when a session has ended, so that the page goes on for the same person. */
export function LogIn({ email }: { email?: string | undefined }): VNode {
  const { service } = useConsole();
  const form = useForm(useCallback(
    (fields) => service.logIn(fields["email"] ?? "", fields["password"] ?? ""),
    [service],
  ));
  return html`
    <${Form} state=${form} submit="Sign in">
      <${Field} label="E-mail" name="email" type="email" autocomplete="username" required
        defaultValue=${email}
        error=${form.error} />
      <${Field} label="Password" name="password" type="password" autocomplete="current-password"
        required
        error=${form.error} />
      <//>
  `;
}

interface SignUpAnswer {
  readonly api_key: string;
}

function SignUp({ onKey }: { onKey: (key: string) => void }): VNode {
  const { service } = useConsole();
  const made = useRef("");
  const form = useForm(useCallback(async (fields) => {
    const { email = "", password = "" } = fields;
    // After an account was made and the sign-in failed, the next press only signs in.
    if (made.current !== email) {
      const { api_key } = await service.open<SignUpAnswer>("/v1/accounts", { email, password });
      made.current = email;
      onKey(api_key);
    }
    await service.logIn(email, password);
  }, [service, onKey]));
  return html`
    <${Form} state=${form} submit="Make the account">
      <${Field} label="E-mail" name="email" type="email" autocomplete="username" required
        error=${form.error} />
      <${Field} label="Password" name="password" type="password" autocomplete="new-password" required
        hint="At least 8 characters." error=${form.error} />
      <//>
  `;
}

function Reset({ onAsked }: { onAsked: (email: string) => void }): VNode {
  const { service } = useConsole();
  const form = useForm(useCallback(async (fields) => {
    const { email = "" } = fields;
    await service.open("/v1/accounts/reset", { email });
    onAsked(email);
  }, [service, onAsked]));
  return html`
    <${Form} state=${form} submit="Send a code">
      <p>A verified address gets a code by mail. With it you choose a new password.</p>
      <${Field} label="E-mail" name="email" type="email" autocomplete="username" required
        error=${form.error} />
      <//>
  `;
}

function NewPassword({ email, onDone }: { email: string; onDone: () => void }): VNode {
  const { service } = useConsole();
  const form = useForm(useCallback(async (fields) => {
    const { code = "", new_password = "" } = fields;
    await service.open("/v1/accounts/reset/confirm", { email, code, new_password });
    onDone();
  }, [service, email, onDone]));
  return html`
    <${Form} state=${form} submit="Change the password">
      <p>If ${email} belongs to a verified account, a code is on its way. It is good for 60 minutes.</p>
      <${Field} label="Code" name="code" autocomplete="one-time-code" required error=${form
        .error} />
      <${Field} label="New password" name="new_password" type="password" autocomplete="new-password"
        required
        hint="At least 8 characters." error=${form.error} />
      <//>
  `;
}
