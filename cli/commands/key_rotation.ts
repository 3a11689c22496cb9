/** `keys rotate`: the key that this CLI uses, or another one of the account. */
import {
  createApiKey,
  listApiKeys,
  type ListedKey,
  revokeApiKey,
  rotateApiKey,
} from "../../proto/mod.ts";
import { parseDurationMs } from "../arguments/values.ts";
import type { Command, Context } from "../command.ts";
import { badInput, Failure } from "../failure.ts";
import { type ApiCaller, callerOf } from "../service/caller.ts";
import { writeCredentials } from "../service/credentials.ts";
import { utc } from "../texts/amounts.ts";
import { describeTraits } from "./key_traits.ts";
import { findKey, prefixLength, showOnce } from "./keys.ts";

const dayMs = 24 * 3_600_000;

export const rotateKey: Command = {
  path: "keys rotate",
  summary: "replace the saved key, or another key whose successor is printed once",
  details: [
    "The old key stays valid for --overlap. Without it, the saved key ends at once and any other key after a day.",
    "The successor has the same scopes, channels, limit and expiry. A key can be rotated only once.",
  ],
  arguments: [{
    name: "KEY",
    summary: "its id, prefix or name; the saved key when not given",
    optional: true,
  }],
  flags: [
    {
      name: "overlap",
      value: "DURATION",
      summary: "how long the old key stays valid, as in 1h or 7d",
    },
    { name: "name", value: "NAME", summary: "name of the new key; the old name when not given" },
  ],
  examples: [
    { command: "keys rotate", what: "the saved key" },
    {
      command: "keys rotate ci --overlap 7d",
      what: "another key; its users have 7 days to change over",
    },
  ],
  run: async (context) => {
    const { given, output } = context;
    const overlap = given.value("overlap");
    const overlapMs = overlap === undefined ? undefined : parseDurationMs("overlap", overlap);
    const caller = await callerOf(context);
    const keys = await output.progress(
      "asking the API",
      caller.ask((api) => listApiKeys(api, caller.apiKey)),
    );
    const named = given.value("KEY");
    if (named !== undefined) {
      return await rotateOther(context, caller, findKey(keys, named), overlapMs ?? dayMs);
    }
    if (caller.settings.key?.from !== "file") {
      const advice = "Name a key: {} keys rotate KEY; its successor is printed";
      throw badInput(
        "The key does not come from the saved credentials, so there is nothing to update",
        advice,
      );
    }
    const old = findKey(keys, caller.apiKey.slice(0, prefixLength));
    const isPlain = describeTraits(old.traits) === undefined;
    if (isPlain && overlapMs === undefined) await replaceSaved(context, caller, old);
    else await rotateSaved(context, caller, old, overlapMs ?? 0);
  },
};

async function rotateOther(
  context: Context,
  caller: ApiCaller,
  old: ListedKey,
  overlapMs: number,
): Promise<void> {
  const { ask, apiKey } = caller;
  const order = { apiKey, id: old.id, overlapSeconds: overlapMs / 1000 };
  const key = await context.output.progress(
    "rotating the key",
    ask((api) => rotateApiKey(api, order)),
  );
  const replaces = { id: old.id, expires_at: new Date(key.oldExpiresAtMs).toISOString() };
  await showOnce(context, key, { replaces });
  await context.output.note(`${old.prefix}… works until ${utc(key.oldExpiresAtMs)}`);
}

/** The old key ends with the answer, so the file must be one that can be written. */
async function rotateSaved(
  context: Context,
  caller: ApiCaller,
  old: ListedKey,
  overlapMs: number,
): Promise<void> {
  const { platform, output } = context;
  const { ask, apiKey, settings } = caller;
  await writeCredentials(platform, settings.saved);
  const order = { apiKey, id: old.id, overlapSeconds: overlapMs / 1000 };
  const key = await output.progress("rotating the key", ask((api) => rotateApiKey(api, order)));
  await writeCredentials(platform, { ...settings.saved, api_key: key.apiKey });
  await output.result({ id: key.id, key_prefix: key.prefix, replaced: old.id }, [
    `${output.paint("green", "✓")} Key ${key.prefix}… is saved, ${old.prefix}… works until ${
      utc(key.oldExpiresAtMs)
    }`,
  ]);
}

/** A plain key is made and saved before the old one ends, so that nothing can go wrong between. */
async function replaceSaved(context: Context, caller: ApiCaller, old: ListedKey): Promise<void> {
  const { given, platform, output } = context;
  const { ask, apiKey, settings } = caller;
  const name = given.value("name") ?? old.name;
  const created = await output.progress(
    "creating the key",
    ask((api) => createApiKey(api, { apiKey, name })),
  );
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
}
