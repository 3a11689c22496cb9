/** API keys: `keys create`, `keys list`, `keys revoke`, `keys rotate`. */
import { createApiKey, listApiKeys, type ListedKey, revokeApiKey } from "../../proto/mod.ts";
import { type AskApi, openApi } from "../service/api.ts";
import type { Command, Context } from "../command.ts";
import { writeCredentials } from "../service/credentials.ts";
import { badInput, Failure } from "../failure.ts";
import { printable, table } from "../output.ts";
import { confirm } from "../prompt.ts";
import { readSettings, requireKey, type Settings } from "../service/settings.ts";
import { ago, isoTime } from "../texts/amounts.ts";

const prefixLength = 16;

interface Caller {
  readonly ask: AskApi;
  readonly apiKey: string;
  readonly settings: Settings;
}

async function callerOf(context: Context): Promise<Caller> {
  const settings = await readSettings(context);
  return { ask: openApi(context.platform, settings), apiKey: requireKey(settings), settings };
}

export const createKey: Command = {
  path: "keys create",
  summary: "create an API key and print it, once",
  details: ["Only the key itself goes to standard output, so that it can be piped into a secret store."],
  flags: [{ name: "name", value: "NAME", summary: 'what it is for; "default" when not given' }],
  examples: [
    { command: "keys create --name ci", what: "a key of its own for each place" },
    { command: "keys create --name ci | gh secret set STATIC_API_KEY", what: "straight into a secret store" },
  ],
  run: async (context) => {
    const { given, output } = context;
    const { ask, apiKey } = await callerOf(context);
    const key = await output.progress(
      "creating the key",
      ask((api) => createApiKey(api, { apiKey, name: given.value("name") })),
    );
    await output.note(`Key "${printable(key.name)}" (${key.id}) is shown this one time:`);
    await output.result({ id: key.id, key_prefix: key.prefix, name: key.name, key: key.apiKey }, [key.apiKey]);
  },
};

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
    }));
    await output.result({ keys: value }, [
      ...table([
        ["", "PREFIX", "NAME", "CREATED", "LAST USED", "ID"].map((title) => output.paint("dim", title)),
        ...keys.map((key) => [
          current(key) ? output.paint("green", "*") : "",
          key.prefix,
          printable(key.name),
          ago(key.createdAtMs, nowMs),
          key.lastUsedAtMs === undefined ? "never" : ago(key.lastUsedAtMs, nowMs),
          key.id,
        ]),
      ]),
    ]);
  },
};

export const revokeKey: Command = {
  path: "keys revoke",
  summary: "revoke a key: it stops working at once, everywhere",
  arguments: [{ name: "KEY", summary: "its id, prefix or name, as keys list shows them" }],
  flags: [{ name: "yes", summary: "do not ask, also when it is the key that this CLI uses" }],
  examples: [{ command: "keys revoke ci", what: "by its name, if only one has it" }],
  run: async (context) => {
    const { given, platform, output } = context;
    const { ask, apiKey, settings } = await callerOf(context);
    const keys = await output.progress("asking the API", ask((api) => listApiKeys(api, apiKey)));
    const key = findKey(keys, given.value("KEY") ?? "");
    const isOwn = key.prefix === apiKey.slice(0, prefixLength);
    if (isOwn) await confirm(context, `${key.prefix}… is the key that this CLI uses. Revoke it?`);
    await output.progress("revoking the key", ask((api) => revokeApiKey(api, { apiKey, id: key.id })));
    if (isOwn && settings.key?.from === "file") {
      const { api_key: _, ...rest } = settings.saved;
      await writeCredentials(platform, rest);
      await output.note(`It is gone from the saved credentials; sign in again with: ${platform.program} login`);
    }
    await output.result({ id: key.id, key_prefix: key.prefix, revoked: true }, [
      `${output.paint("green", "✓")} Key ${key.prefix}… "${printable(key.name)}" is revoked`,
    ]);
    await output.note("  Tokens that were made with it stay valid for up to one hour");
  },
};

export const rotateKey: Command = {
  path: "keys rotate",
  summary: "replace the saved key: create a new one, save it, revoke the old one",
  flags: [{ name: "name", value: "NAME", summary: "what the new key is called; the old one's name when not given" }],
  examples: [{ command: "keys rotate", what: "" }],
  run: async (context) => {
    const { given, platform, output } = context;
    const { ask, apiKey, settings } = await callerOf(context);
    if (settings.key?.from !== "file") {
      const advice = "Use {} keys create, put the new key where the old one is, then {} keys revoke";
      throw badInput("The key does not come from the saved credentials, so there is nothing to update", advice);
    }
    const keys = await output.progress("asking the API", ask((api) => listApiKeys(api, apiKey)));
    const old = findKey(keys, apiKey.slice(0, prefixLength));
    const name = given.value("name") ?? old.name;
    const created = await output.progress("creating the key", ask((api) => createApiKey(api, { apiKey, name })));
    try {
      await writeCredentials(platform, { ...settings.saved, api_key: created.apiKey });
    } catch (error) {
      // Nobody has the new key, so it must not stay.
      await ask((api) => revokeApiKey(api, { apiKey, id: created.id }));
      throw error;
    }
    const revoked = ask((api) => revokeApiKey(api, { apiKey: created.apiKey, id: old.id }));
    await output.progress("revoking the old key", revoked).catch((cause) => {
      throw new Failure(
        "connection_error",
        `The new key is saved, but the old one (${old.prefix}…) is not revoked yet`,
        {
          advice: `Finish with: {} keys revoke ${old.id}`,
          cause,
        },
      );
    });
    await output.result({ id: created.id, key_prefix: created.prefix, revoked: old.id }, [
      `${output.paint("green", "✓")} Key ${created.prefix}… is saved, ${old.prefix}… is revoked`,
    ]);
  },
};

function findKey(keys: readonly ListedKey[], wanted: string): ListedKey {
  const found = keys.filter(({ id, prefix, name }) => [id, prefix, name].includes(wanted.replace(/…$/, "")));
  const [key, another] = found;
  if (key === undefined) {
    throw new Failure("not_found", `There is no active key "${wanted}"`, { advice: "See them with: {} keys list" });
  }
  if (another === undefined) return key;
  throw badInput(
    `${found.length} keys are called "${wanted}"`,
    `Say which by its id: ${found.map(({ id }) => id).join(", ")}`,
  );
}
