/** Keys: what there is, what each may do, and making, replacing and revoking them. */
import { useConsole } from "./context.ts";
import { Action, Ask, Fault, SecretOnce, Time, useReading } from "./elements.ts";
import { type ConsoleKey, type Key, NewKey } from "./new_key.ts";
import { html, useCallback, useState, type VNode } from "./ui.ts";

const daySeconds = 24 * 3600;

export function KeysPage(): VNode {
  const { service, say } = useConsole();
  const { value, error, again } = useReading(
    useCallback(() => service.get<{ keys: Key[] }>("/v1/keys"), [service]),
  );
  const [made, setMade] = useState<ConsoleKey | undefined>(undefined);
  const [ending, setEnding] = useState<Key | undefined>(undefined);
  const onMade = useCallback(async (key: ConsoleKey) => {
    setMade(key);
    await again();
  }, [again]);
  const rotate = async (key: Key): Promise<void> => {
    await onMade(
      await service.send<ConsoleKey>("POST", `/v1/keys/${key.id}/rotate`, {
        overlap_seconds: daySeconds,
      }),
    );
    say(`${key.name} has a successor. The old key works for one more day.`);
  };
  const revoke = async (key: Key): Promise<void> => {
    await service.send("DELETE", `/v1/keys/${key.id}`);
    say(`${key.name} is revoked. Tokens that were made with it live out their hour.`);
    await again();
  };
  return html`
    <h1>Keys</h1>
    <section class="card" aria-labelledby="new-title">
      <h2 id="new-title">New key</h2>
      ${made === undefined ? html`<${NewKey} onMade=${onMade} />` : html`
        <${SecretOnce} key=${made.id} secret=${made.key}
          what=${`This is the key "${made.name}"`} onDone=${() => setMade(undefined)} />
      `}
    </section>
    <section class="card" aria-labelledby="list-title">
      <h2 id="list-title">Active keys</h2>
      <${Fault} error=${error} />
      ${value?.keys.length === 0 && html`<p class="quiet">There is none.</p>`}
      <ul class="items">
        ${value?.keys.map((key) =>
          html`<${KeyItem} key=${key.id} of=${key} rotate=${rotate} onEnd=${setEnding} />`
        )}
      </ul>
    </section>
    ${ending && html`
      <${Ask} title=${`Revoke ${ending.name}?`} yes="Revoke it" onClose=${() =>
        setEnding(undefined)}
        text=${`${ending.key_prefix}… stops working at once, everywhere. Nothing brings it back.`}
        work=${() => revoke(ending)} />
    `}
  `;
}

function KeyItem(
  { of: key, rotate, onEnd }: {
    of: Key;
    rotate: (key: Key) => Promise<void>;
    onEnd: (key: Key) => void;
  },
): VNode {
  const powers = [
    key.kind ?? "secret",
    ...(key.scopes === undefined ? [] : [`may use ${key.scopes.join(", ")}`]),
    ...(key.channels ?? []).map(({ pattern, allow }) => `${pattern}: ${allow.join(", ")}`),
    ...(key.channel_id === undefined ? [] : [`channel ${key.channel_id}`]),
    ...(key.message_limit === undefined ? [] : [`${key.message_limit} messages a month`]),
  ];
  return html`
    <li>
      <div class="grow">
        <p><strong class="text">${key.name}</strong> <code>${key.key_prefix}…</code></p>
        <p class="quiet">${powers.join(" · ")}</p>
        <p
          class="quiet">Made <${Time} at=${key.created_at} />, used <${Time} at=${key
            .last_used_at} />${key.expires_at &&
            html`, expires <${Time} at=${key.expires_at} />`}</p>
      </div>
      <div class="row">
        <${Action} label=${`Rotate ${key.name} ${key.key_prefix}`} work=${() =>
          rotate(key)}>Rotate<//>
        <button type="button" class="danger" aria-label=${`Revoke ${key.name} ${key.key_prefix}`}
          onClick=${() => onEnd(key)}>Revoke</button>
      </div>
    </li>
  `;
}
