/** Becoming somebody: `signup`, `login`, `logout`, `whoami`. */
import {
  createAccount,
  createKeyByPassword,
  type Credentials,
  isSameApi,
  type KnownPlace,
  shown,
} from "../../proto/mod.ts";
import { issueToken, openApi } from "../service/api.ts";
import type { Command, Context, FlagSpec } from "../command.ts";
import { findRelay, findService } from "../service/discovery.ts";
import { removeCredentials, writeCredentials } from "../service/credentials.ts";
import { table } from "../output.ts";
import { ask as askUser, askEmail, askPassword, confirm } from "../prompt.ts";
import { checkKey, readSettings, requireKey, type Settings } from "../service/settings.ts";

export const email: FlagSpec = {
  name: "email",
  value: "ADDRESS",
  summary: "the e-mail address; asked for when not given",
};
export const yes: FlagSpec = { name: "yes", summary: "do not ask for confirmation" };

export const signup: Command = {
  path: "signup",
  summary: "create an account and save its first API key for this user",
  details: [
    "Asks for e-mail and password; the password is not shown. Both can be piped in, one per line.",
    "Saves the key in a file that only you can read. Agents on this machine find it there.",
  ],
  flags: [email, yes],
  examples: [
    { command: "signup", what: "asks for everything" },
    { command: "signup --email you@example.org < password.txt", what: "the password from a file" },
  ],
  run: async (context) => {
    const { platform, output } = context;
    const settings = await readSettings(context);
    await keepOrReplace(context, settings);
    const login = {
      email: await askEmail(context),
      password: await askPassword(context, { again: true }),
    };
    // Before there is a key to lose: an authority that has changed ends it here.
    const found = await findService(context, settings);
    const created = openApi(platform, settings)((api) => createAccount(api, login));
    const { accountId, plan, key, device } = await output.progress("creating the account", created);
    await save(context, found, { api_key: key.apiKey, email: login.email, device });
    await output.result(
      {
        account_id: accountId,
        email: login.email,
        plan,
        key_prefix: key.prefix,
        file: platform.folders.credentialsFile,
      },
      [
        `${output.paint("green", "✓")} Account ${shown(login.email)} created, plan ${plan}`,
        `  Its key ${key.prefix}… is saved in ${platform.folders.credentialsFile}`,
      ],
    );
    if (found.mailFolder !== undefined) {
      await output.note(
        `  This service writes its mail to ${
          shown(found.mailFolder)
        }; the code for your address is there`,
      );
    }
    await nextStep(context, "channel create acme/ops/deploy");
  },
};

export const login: Command = {
  path: "login",
  summary: "get a new API key with e-mail and password, and save it",
  details: [
    "Use it when every key is lost. Older keys stay valid.",
    "With --with-key it checks and saves a key that you have, typed when asked or piped in.",
  ],
  flags: [
    email,
    { name: "name", value: "NAME", summary: 'name of the new key; "cli" when not given' },
    { name: "with-key", summary: "save an existing key" },
    yes,
  ],
  examples: [
    { command: "login", what: "asks for e-mail and password" },
    { command: "login --with-key < key.txt", what: "a key from a file" },
  ],
  run: async (context) => {
    const { given, platform, output } = context;
    const settings = await readSettings(context);
    await keepOrReplace(context, settings);
    const ask = openApi(platform, settings);
    if (given.has("with-key")) {
      const apiKey = checkKey((await askUser(context, "API key", { hidden: true })).trim());
      const found = await findService(context, settings);
      await output.progress("checking the key", issueToken(ask, apiKey));
      await save(context, found, { api_key: apiKey });
      return await signedIn(context, { prefix: apiKey.slice(0, 16) });
    }
    const login = {
      email: await askEmail(context),
      password: await askPassword(context, { again: false }),
    };
    const name = given.value("name") ?? "cli";
    const found = await findService(context, settings);
    const wanted = { ...login, name, device: settings.device };
    const key = await output.progress("signing in", ask((api) => createKeyByPassword(api, wanted)));
    await save(context, found, { api_key: key.apiKey, email: login.email, device: key.device });
    await signedIn(context, key);
  },
};

export const logout: Command = {
  path: "logout",
  summary: "forget the saved API key; the key itself stays valid",
  examples: [{ command: "logout", what: "to revoke the key as well, run keys revoke first" }],
  run: async ({ platform, output }) => {
    await removeCredentials(platform);
    const file = platform.folders.credentialsFile;
    await output.result({ file }, [`${output.paint("green", "✓")} Deleted ${file}`]);
  },
};

export const whoami: Command = {
  path: "whoami",
  summary: "show the account, its plan, and where the key comes from",
  examples: [{ command: "whoami", what: "" }, { command: "whoami --json", what: "for scripts" }],
  run: async (context) => {
    const { platform, output } = context;
    const saved = await readSettings(context);
    const apiKey = requireKey(saved);
    const settings = await findRelay(context, saved);
    const issued = issueToken(openApi(platform, settings), apiKey);
    const { accountId, plan } = await output.progress("asking the API", issued);
    const from = settings.key?.from ?? "file";
    const address = from === "file" ? settings.saved.email : undefined;
    const source = from === "file" ? platform.folders.credentialsFile : "STATIC_API_KEY";
    await output.result(
      {
        account_id: accountId,
        plan,
        email: address,
        key_prefix: apiKey.slice(0, 16),
        key_from: source,
        api_url: settings.apiUrl,
        relay_url: settings.relayUrl,
      },
      table([
        ["Account", accountId],
        ...(address === undefined ? [] : [["E-mail", shown(address)]]),
        ["Plan", plan],
        ["Key", `${apiKey.slice(0, 16)}… from ${source}`],
        ["API", settings.apiUrl],
        ["Relay", settings.relayUrl ?? "not known; give --relay-url"],
      ]),
    );
  },
};

/** A saved key that nobody has elsewhere would be lost. */
export async function keepOrReplace(
  context: Context,
  { saved, apiUrl, keyIsFor }: Settings,
): Promise<void> {
  const { platform } = context;
  if (platform.variable("STATIC_API_KEY") !== undefined && keyIsFor === undefined) {
    await context.output.warn(
      "STATIC_API_KEY is set: commands use it instead of the key that is saved now",
    );
  }
  if (saved.api_key === undefined) return;
  const whose = saved.email ?? saved.api_url ?? apiUrl;
  await confirm(context, `You are signed in already (${shown(whose)}). Replace the saved key?`);
}

/** With the addresses at which the key is good, so that nothing has to be said twice. */
export async function save(
  context: Context,
  settings: Settings,
  { device, ...key }: Pick<Credentials, "api_key" | "email"> & KnownPlace,
): Promise<void> {
  const { relayUrl, caFile, relayCaFile } = settings;
  await writeCredentials(context.platform, {
    ...key,
    device,
    api_url: settings.apiUrl,
    relay_url: relayUrl,
    ca_file: caFile,
    relay_ca_file: relayCaFile,
  });
}

/**
 * A new password ends the tokens that were given before. The new one is kept where the key of this
 * account is kept, or would be. Without an e-mail address it is for the account of the key that was
 * used. Returns everything that is saved then.
 */
export async function saveDevice(
  { platform }: Context,
  { saved, apiUrl, key }: Settings,
  { device, email }: KnownPlace & { readonly email?: string },
): Promise<Credentials> {
  const isSavedAccount = email === undefined
    ? key !== undefined && key.apiKey === saved.api_key
    : saved.email?.toLowerCase() === email.toLowerCase() &&
      isSameApi(saved.api_url ?? apiUrl, apiUrl);
  const isNothingSaved = email !== undefined && saved.api_url === undefined &&
    saved.api_key === undefined;
  if (device === undefined || !(isSavedAccount || isNothingSaved)) return saved;
  const kept = { api_url: apiUrl, email, ...saved, device };
  await writeCredentials(platform, kept);
  return kept;
}

async function signedIn(context: Context, { prefix }: { readonly prefix: string }): Promise<void> {
  const { platform, output } = context;
  const file = platform.folders.credentialsFile;
  await output.result({ key_prefix: prefix, file }, [
    `${output.paint("green", "✓")} Signed in: key ${prefix}… is saved in ${file}`,
  ]);
  await nextStep(context, "whoami");
}

async function nextStep({ platform, output }: Context, command: string): Promise<void> {
  await output.note("", "Next:", `  ${output.command(`${platform.program} ${command}`)}`);
}
