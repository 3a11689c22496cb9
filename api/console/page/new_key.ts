/** The form for a new key: plain unless it is narrowed. */
import { useConsole } from "./context.ts";
import { Field, Form, useForm } from "./elements.ts";
import { ServiceError } from "./service.ts";
import { html, useCallback, useState, type VNode } from "./ui.ts";

export interface Key {
  readonly id: string;
  readonly key_prefix: string;
  readonly name: string;
  readonly last_used_at: string | null;
  readonly created_at: string;
  readonly kind?: string;
  readonly expires_at?: string;
  readonly scopes?: readonly string[];
  readonly channels?: readonly { readonly pattern: string; readonly allow: readonly string[] }[];
  readonly channel_id?: string;
  readonly message_limit?: number;
}

export interface ConsoleKey {
  readonly id: string;
  readonly name: string;
  readonly key: string;
}

const scopes: readonly (readonly [string, string])[] = [
  ["tokens", "connect agents"],
  ["keys:read", "see keys"],
  ["keys:write", "make and revoke keys"],
  ["usage:read", "see usage"],
  ["badges", "get badges for its agents"],
  ["account", "change the account"],
];
const dayMs = 24 * 3600 * 1000;
type KeyChoice = "plain" | "scoped" | "publishable";

export function NewKey({ onMade }: { onMade: (key: ConsoleKey) => Promise<void> }): VNode {
  const { service } = useConsole();
  const [kind, setKind] = useState<KeyChoice>("plain");
  const form = useForm(useCallback(async (fields) => {
    const made = await service.send<ConsoleKey>("POST", "/v1/keys", keyOf(fields));
    setKind("plain");
    await onMade(made);
  }, [service, onMade]));
  return html`
    <${Form} state=${form} submit="Make the key">
      <${Field} label="Name" name="name" placeholder="default" maxlength="64" error=${form.error} />
      <p class="field"><label for="field-kind">What may it do?</label>
        <select id="field-kind" name="kind" value=${kind}
          onChange=${(event: { currentTarget: HTMLSelectElement }) =>
            setKind(kindOf(event.currentTarget.value))}>
          <option value="plain">Everything</option>
          <option value="scoped">Only some things</option>
          <option value="publishable">Only connect agents, and be public</option>
        </select></p>
      ${kind === "scoped" && html`<${Scopes} error=${form.error} />`}
      ${kind !== "plain" && html`
        <${Field} label="Channels" name="channels" placeholder="acme/ops/*"
          required=${kind === "publishable"} error=${form.error}
          hint=${`Patterns, with spaces between them. Agents with this key may ${
            kind === "publishable" ? "send and receive" : "send, receive, create and invite"
          } there.`} />
      `}
      <div class="row">
        <${Field} label="Expires after days" name="days" type="number" min="1" max="3650" placeholder="never" error=${form
          .error} />
        <${Field} label="Messages a month" name="message_limit" type="number" min="1" placeholder=${kind ===
            "publishable"
          ? "1000"
          : "the account's"} error=${form
          .error} />
      </div>
    <//>
  `;
}

function Scopes({ error }: { error: ServiceError | undefined }): VNode {
  const problem = error?.details.find(({ field }) => field === "scopes")?.problem;
  return html`
    <fieldset name="scopes"><legend>It may</legend>
      ${scopes.map(([scope, text]) =>
        html`<label key=${scope} class="check"><input type="checkbox" name=${`scope ${scope}`}
          defaultChecked=${scope === "tokens"} /> ${text} <code>${scope}</code></label>`
      )}
      ${problem && html`<small class="problem">${problem}</small>`}
    </fieldset>
  `;
}

function kindOf(text: string): KeyChoice {
  return text === "scoped" || text === "publishable" ? text : "plain";
}

/** Throws when nothing is chosen: the service would make a plain key of it. */
export function keyOf(fields: Readonly<Record<string, string>>, nowMs = Date.now()): object {
  const kind = kindOf(fields["kind"] ?? "");
  const chosen = scopes.map(([scope]) => scope).filter((scope) =>
    fields[`scope ${scope}`] !== undefined
  );
  if (kind === "scoped" && chosen.length === 0) {
    const details = [{ field: "scopes", problem: "Choose at least one." }];
    throw new ServiceError("A key that may do nothing is of no use", 0, "invalid_request", details);
  }
  const patterns = (fields["channels"] ?? "").split(/[\s,]+/).filter((pattern) => pattern !== "");
  // A key that strangers have lets nobody in and makes no channels.
  const allow = kind === "publishable"
    ? ["send", "receive"]
    : ["send", "receive", "create", "invite"];
  const channels = patterns.map((pattern) => ({ pattern, allow }));
  const [days, limit] = [fields["days"] ?? "", fields["message_limit"] ?? ""];
  const name = (fields["name"] ?? "").trim();
  return {
    ...(name !== "" && { name }),
    ...(kind === "scoped" && { scopes: chosen }),
    ...(kind === "publishable" && { kind }),
    ...(kind !== "plain" && channels.length > 0 && { channels }),
    ...(days !== "" && { expires_at: new Date(nowMs + Number(days) * dayMs).toISOString() }),
    ...(limit !== "" && { message_limit: Number(limit) }),
  };
}
