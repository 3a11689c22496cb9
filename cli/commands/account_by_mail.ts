/** For somebody with a mailbox and no key: `account reset` and `account claim`. */
import { askForCode, claimAddress, resetPassword, shown } from "../../proto/mod.ts";
import type { Command, Context } from "../command.ts";
import { askPassword, askSavedEmail } from "../prompt.ts";
import { openApi } from "../service/api.ts";
import { findService } from "../service/discovery.ts";
import { readSettings, type Settings } from "../service/settings.ts";
import { email, keepOrReplace, save, saveDevice, yes } from "./account.ts";
import { revokeKeys, tellCode } from "./own_account.ts";

const code = {
  name: "CODE",
  summary: "the code from the mail; without it one is sent",
  optional: true,
};

export const reset: Command = {
  path: "account reset",
  summary: "set a new password with a code sent to the account's verified address",
  details: [
    "Without a code it sends one, if an account has verified the address. Ends all console sessions.",
    "Asks for the password, or reads it from a pipe.",
  ],
  arguments: [code],
  flags: [email, revokeKeys],
  examples: [
    { command: "account reset --email you@example.org", what: "sends a code" },
    {
      command: "account reset 7K3M-9Q2T-XW4B --email you@example.org",
      what: "asks for the new password",
    },
  ],
  run: async (context) => {
    const { given, platform, output } = context;
    const settings = await readSettings(context);
    const address = await askSavedEmail(context, settings.saved.email);
    const proof = given.value("CODE");
    if (proof === undefined) return await send(context, settings, { purpose: "reset", address });
    const newPassword = await askPassword(context, { again: true, question: "New password" });
    const change = {
      email: address,
      code: proof,
      newPassword,
      revokeKeys: given.has("revoke-keys"),
    };
    const ask = openApi(platform, settings);
    const ended = await output.progress("asking the API", ask((api) => resetPassword(api, change)));
    await saveDevice(context, settings, { device: ended.device, email: address });
    await output.result({ sessions_ended: ended.sessionsEnded, keys_revoked: ended.keysRevoked }, [
      `${
        output.paint("green", "✓")
      } The password is changed; ${ended.sessionsEnded} sessions and ${ended.keysRevoked} keys have ended`,
    ]);
    await output.note(`Get a key with: ${output.command(`${platform.program} login`)}`);
  },
};

export const claim: Command = {
  path: "account claim",
  summary: "create an account with an address that another account uses but has not verified",
  details: [
    "Without a code it sends one. The other account keeps its keys and channels but loses the address.",
  ],
  arguments: [code],
  flags: [email, yes],
  examples: [
    { command: "account claim --email you@example.org", what: "sends a code" },
    {
      command: "account claim 7K3M-9Q2T-XW4B --email you@example.org",
      what: "asks for a password",
    },
  ],
  run: async (context) => {
    const { given, platform, output } = context;
    const settings = await readSettings(context);
    const address = await askSavedEmail(context, undefined);
    const proof = given.value("CODE");
    if (proof === undefined) return await send(context, settings, { purpose: "claim", address });
    await keepOrReplace(context, settings);
    const login = {
      email: address,
      code: proof,
      password: await askPassword(context, { again: true }),
    };
    const found = await findService(context, settings);
    const created = openApi(platform, settings)((api) => claimAddress(api, login));
    const { accountId, plan, key, device } = await output.progress("creating the account", created);
    await save(context, found, { api_key: key.apiKey, email: address, device });
    const file = platform.folders.credentialsFile;
    await output.result({
      account_id: accountId,
      email: address,
      plan,
      key_prefix: key.prefix,
      file,
    }, [
      `${output.paint("green", "✓")} Account ${shown(address)} created, plan ${plan}`,
      `  Its key ${key.prefix}… is saved in ${file}`,
    ]);
  },
};

async function send(
  context: Context,
  settings: Settings,
  { purpose, address }: { readonly purpose: "reset" | "claim"; readonly address: string },
): Promise<void> {
  const { platform, output } = context;
  const asked = openApi(platform, settings)((api) => askForCode(api, { purpose, email: address }));
  await output.progress("asking the API", asked);
  await output.result({ asked_for: address }, [
    `${output.paint("green", "✓")} A mail to ${shown(address)} says what to do next`,
  ]);
  await tellCode(context, { settings }, `account ${purpose} CODE --email ${shown(address)}`);
}
