/** API keys: `keys create`, `keys list`, `keys revoke`. */
import {
  createApiKey,
  type CreatedKey,
  listApiKeys,
  type ListedKey,
  revokeApiKey,
  shown,
} from "../../proto/mod.ts";
import { callerOf } from "../service/caller.ts";
import type { Command, Context } from "../command.ts";
import { forgetKey } from "../service/credentials.ts";
import { badInput, Failure } from "../failure.ts";
import { table } from "../output.ts";
import { confirm } from "../prompt.ts";
import { ago, isoTime } from "../texts/amounts.ts";
import { describeTraits, readTraits, traitFlags } from "./key_traits.ts";

export const prefixLength = 16;

export const createKey: Command = {
  path: "keys create",
  summary: "create an API key and print it, once",
  details: [
    "Prints only the key on standard output, so that you can pipe it into a secret store.",
    "Without further flags the key has all rights. Scopes: tokens, badges, keys:read, keys:write, usage:read, account.",
    "Rights in channels: send, receive, create, invite. A guest pass needs --channel-id, --expires and --limit.",
  ],
  flags: [
    { name: "name", value: "NAME", summary: 'name of the key; "default" when not given' },
    ...traitFlags,
  ],
  examples: [
    { command: "keys create --name ci", what: "one key for each place" },
    {
      command: "keys create --name bill --scope usage:read --expires 30d",
      what: "few rights, for a limited time",
    },
    {
      command: 'keys create --kind publishable --channels "acme/web/*:send,receive"',
      what: "a key for browsers",
    },
    {
      command: "keys create --name ci | gh secret set STATIC_API_KEY",
      what: "straight into a secret store",
    },
  ],
  run: async (context) => {
    const { given, platform, output } = context;
    const traits = readTraits(given, platform.nowMs());
    const { ask, apiKey } = await callerOf(context);
    const created = ask((api) => createApiKey(api, { apiKey, name: given.value("name"), traits }));
    await showOnce(context, await output.progress("creating the key", created));
  },
};

export async function showOnce(
  { output }: Context,
  key: CreatedKey,
  more: object = {},
): Promise<void> {
  await output.note(`Key "${shown(key.name)}" (${key.id}) is shown this one time:`);
  await output.result({
    id: key.id,
    key_prefix: key.prefix,
    name: key.name,
    key: key.apiKey,
    ...more,
  }, [key.apiKey]);
}

export const listKeys: Command = {
  path: "keys list",
  summary: "list the account's active keys, newest first",
  examples: [{ command: "keys list", what: "* marks the key that this CLI uses" }],
  run: async (context) => {
    const { platform, output } = context;
    const { ask, apiKey } = await callerOf(context);
    const keys = await output.progress("asking the API", ask((api) => listApiKeys(api, apiKey)));
    const current = (key: ListedKey): boolean => key.prefix === apiKey.slice(0, prefixLength);
    const nowMs = platform.nowMs();
    const value = keys.map((key) => ({
      id: key.id,
      key_prefix: key.prefix,
      name: key.name,
      last_used_at: key.lastUsedAtMs === undefined ? null : isoTime(key.lastUsedAtMs),
      created_at: isoTime(key.createdAtMs),
      current: current(key),
      ...key.traits,
    }));
    // A column for what a key may only where one is not plain.
    const may = keys.map(({ traits }) => describeTraits(traits));
    const isAllPlain = may.every((text) => text === undefined);
    const titles = [
      "",
      "PREFIX",
      "NAME",
      "CREATED",
      "LAST USED",
      "ID",
      ...(isAllPlain ? [] : ["MAY"]),
    ];
    await output.result({ keys: value }, [
      ...table([
        titles.map((title) => output.paint("dim", title)),
        ...keys.map((key, index) => [
          current(key) ? output.paint("green", "*") : "",
          key.prefix,
          shown(key.name),
          ago(key.createdAtMs, nowMs),
          key.lastUsedAtMs === undefined ? "never" : ago(key.lastUsedAtMs, nowMs),
          key.id,
          ...(isAllPlain ? [] : [shown(may[index] ?? "everything")]),
        ]),
      ]),
    ]);
  },
};

export const revokeKey: Command = {
  path: "keys revoke",
  summary: "revoke a key: it stops working at once, everywhere",
  arguments: [{ name: "KEY", summary: "id, prefix or name of the key, as shown by keys list" }],
  flags: [{
    name: "yes",
    summary: "do not ask for confirmation, even for the key that this CLI uses",
  }],
  examples: [{ command: "keys revoke ci", what: "by its name, if only one key has it" }],
  run: async (context) => {
    const { given, platform, output } = context;
    const { ask, apiKey, settings } = await callerOf(context);
    const keys = await output.progress("asking the API", ask((api) => listApiKeys(api, apiKey)));
    const key = findKey(keys, given.value("KEY") ?? "");
    const isOwn = key.prefix === apiKey.slice(0, prefixLength);
    if (isOwn) await confirm(context, `${key.prefix}… is the key that this CLI uses. Revoke it?`);
    await output.progress(
      "revoking the key",
      ask((api) => revokeApiKey(api, { apiKey, id: key.id })),
    );
    if (isOwn && settings.key?.from === "file") {
      await forgetKey(platform, settings.saved);
      await output.note(
        `It is gone from the saved credentials; sign in again with: ${
          output.command(`${platform.program} login`)
        }`,
      );
    }
    await output.result({ id: key.id, key_prefix: key.prefix, revoked: true }, [
      `${output.paint("green", "✓")} Key ${key.prefix}… "${shown(key.name)}" is revoked`,
    ]);
    await output.note("  Tokens that were made with it stay valid for up to one hour");
  },
};

export function findKey(keys: readonly ListedKey[], wanted: string): ListedKey {
  const found = keys.filter(({ id, prefix, name }) =>
    [id, prefix, name].includes(wanted.replace(/…$/, ""))
  );
  const [key, another] = found;
  if (key === undefined) {
    throw new Failure("not_found", `There is no active key "${wanted}"`, {
      advice: "List the keys with: {} keys list",
    });
  }
  if (another === undefined) return key;
  throw badInput(
    `${found.length} keys are called "${wanted}"`,
    `Use the id: ${found.map(({ id }) => id).join(", ")}`,
  );
}
