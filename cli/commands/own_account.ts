/**
 * The account of the key in use: `account show`, `account verify`, `account email`, `account
 * password`, `account delete`.
 */
import {
  askVerification,
  changeAddress,
  changePassword,
  confirmAddress,
  deleteAccount,
  type OwnAccount,
  readAccount,
  shown,
} from "../../proto/mod.ts";
import type { Command, Context, FlagSpec } from "../command.ts";
import { Failure } from "../failure.ts";
import { table } from "../output.ts";
import { askPassword, checkEmail, confirm } from "../prompt.ts";
import { type ApiCaller, callerOf } from "../service/caller.ts";
import { forgetKey, removeCredentials } from "../service/credentials.ts";
import { findService } from "../service/discovery.ts";
import { isoTime, utc } from "../texts/amounts.ts";
import { saveDevice, yes } from "./account.ts";

export const revokeKeys: FlagSpec = {
  name: "revoke-keys",
  summary: "revoke all keys as well, the one in use included",
};
const claimed =
  "Someone else has verified this account's address. Set another one with: {} account email";

export const showAccount: Command = {
  path: "account show",
  summary: "show the account: address, whether it is verified, plan, and open tasks",
  examples: [{ command: "account show", what: "" }, {
    command: "account show --json",
    what: "for scripts",
  }],
  run: async (context) => {
    const { output } = context;
    const { ask, apiKey } = await callerOf(context);
    const account = await output.progress("asking the API", ask((api) => readAccount(api, apiKey)));
    await output.result(valueOf(account), linesOf(account));
    if (account.notices.includes("address_claimed")) {
      await output.warn(claimed.replace("{}", context.platform.program));
    }
  },
};

export const verifyAddress: Command = {
  path: "account verify",
  summary: "confirm the account's e-mail address with the code from the mail",
  details: [
    "Without a code it sends a new one to the account's address. A code works once, within 60 minutes.",
    "Confirming a new address ends all console sessions.",
  ],
  arguments: [{
    name: "CODE",
    summary: "the code from the mail; without it a new one is sent",
    optional: true,
  }],
  flags: [revokeKeys],
  examples: [
    { command: "account verify", what: "sends a code" },
    { command: "account verify 7K3M-9Q2T-XW4B", what: "confirms the address" },
  ],
  run: async (context) => {
    const { given, output } = context;
    const caller = await callerOf(context);
    const code = given.value("CODE");
    if (code === undefined) return await sendCode(context, caller);
    const proof = { apiKey: caller.apiKey, code, revokeKeys: given.has("revoke-keys") };
    const account = await output.progress(
      "asking the API",
      caller.ask((api) => confirmAddress(api, proof)),
    );
    await output.result(valueOf(account), [
      `${output.paint("green", "✓")} ${shown(account.email ?? "")} is verified`,
    ]);
    if (proof.revokeKeys) await forgetSaved(context, caller);
  },
};

export const changeEmail: Command = {
  path: "account email",
  summary: "change the account's e-mail address; confirm it with account verify",
  details: [
    "Sends a code to the new address. The old address stays in use until you confirm the new one.",
  ],
  arguments: [{ name: "ADDRESS", summary: "the new e-mail address", check: checkEmail }],
  examples: [{ command: "account email you@example.org", what: "asks for the password" }],
  run: async (context) => {
    const { given, output } = context;
    const caller = await callerOf(context);
    const email = given.value("ADDRESS") ?? "";
    const change = {
      apiKey: caller.apiKey,
      email,
      password: await askPassword(context, { again: false }),
    };
    const account = await output.progress(
      "asking the API",
      caller.ask((api) => changeAddress(api, change)),
    );
    await output.result(valueOf(account), [
      `${output.paint("green", "✓")} A code was sent to ${shown(email)}`,
    ]);
    await tellCode(context, caller, "account verify CODE");
  },
};

export const setPassword: Command = {
  path: "account password",
  summary: "change the account's password and end all console sessions",
  flags: [
    revokeKeys,
  ],
  examples: [{ command: "account password", what: "asks for the old one and the new one" }],
  run: async (context) => {
    const { given, output } = context;
    const caller = await callerOf(context);
    const old = await askPassword(context, { again: false });
    const newPassword = await askPassword(context, { again: true, question: "New password" });
    const change = {
      apiKey: caller.apiKey,
      password: old,
      newPassword,
      revokeKeys: given.has("revoke-keys"),
    };
    const ended = await output.progress(
      "asking the API",
      caller.ask((api) => changePassword(api, change)),
    );
    await output.result({ sessions_ended: ended.sessionsEnded, keys_revoked: ended.keysRevoked }, [
      `${
        output.paint("green", "✓")
      } The password is changed; ${ended.sessionsEnded} sessions and ${ended.keysRevoked} keys have ended`,
    ]);
    const saved = await saveDevice(context, caller.settings, ended);
    if (change.revokeKeys) {
      await forgetSaved(context, { ...caller, settings: { ...caller.settings, saved } });
    }
  },
};

export const removeAccount: Command = {
  path: "account delete",
  summary: "delete the account permanently: revoke its keys and close its channels",
  flags: [yes],
  examples: [{ command: "account delete", what: "asks for confirmation and for the password" }],
  run: async (context) => {
    const { platform, output } = context;
    const caller = await callerOf(context);
    const { ask, apiKey } = caller;
    const { accountId, email } = await output.progress(
      "asking the API",
      ask((api) => readAccount(api, apiKey)),
    );
    await confirm(
      context,
      `Permanently delete the account ${shown(email ?? accountId)} with its keys and channels?`,
    );
    const order = { apiKey, password: await askPassword(context, { again: false }) };
    await output.progress("deleting the account", ask((api) => deleteAccount(api, order)));
    if (caller.settings.key?.from === "file") await removeCredentials(platform);
    await output.result({ account_id: accountId, deleted: true }, [
      `${output.paint("green", "✓")} The account ${shown(email ?? accountId)} is deleted`,
    ]);
  },
};

async function sendCode(context: Context, caller: ApiCaller): Promise<void> {
  const { output } = context;
  const { ask, apiKey } = caller;
  const { email, isVerified } = await output.progress(
    "asking the API",
    ask((api) => readAccount(api, apiKey)),
  );
  if (email === undefined) {
    throw new Failure("conflict", "The account has no address to verify", { advice: claimed });
  }
  if (isVerified) throw new Failure("conflict", `${email} is verified already`);
  await output.progress("asking the API", ask((api) => askVerification(api, apiKey)));
  await output.result({ sent_to: email }, [
    `${output.paint("green", "✓")} A code was sent to ${shown(email)}`,
  ]);
  await tellCode(context, caller, "account verify CODE");
}

/** Where to find the code on a development machine, and what to do with it. */
export async function tellCode(
  context: Context,
  { settings }: Pick<ApiCaller, "settings">,
  next: string,
): Promise<void> {
  const { mailFolder } = await findService(context, settings);
  if (mailFolder !== undefined) {
    await context.output.note(`  This service writes its mail to ${shown(mailFolder)}`);
  }
  await context.output.note(
    "",
    "Next:",
    `  ${context.output.command(`${context.platform.program} ${next}`)}`,
  );
}

async function forgetSaved({ platform, output }: Context, { settings }: ApiCaller): Promise<void> {
  if (settings.key?.from === "file") await forgetKey(platform, settings.saved);
  await output.note(
    `All keys are revoked; sign in again with: ${output.command(`${platform.program} login`)}`,
  );
}

function valueOf(account: OwnAccount): Readonly<Record<string, unknown>> {
  return {
    account_id: account.accountId,
    email: account.email ?? null,
    email_verified: account.isVerified,
    pending_email: account.pendingEmail ?? null,
    plan: account.plan,
    created_at: isoTime(account.createdAtMs),
    suspended: account.isSuspended,
    notices: account.notices,
  };
}

function linesOf(account: OwnAccount): string[] {
  const { accountId, email, isVerified, pendingEmail, plan, createdAtMs, isSuspended } = account;
  const address = email === undefined
    ? "none"
    : `${shown(email)}, ${isVerified ? "verified" : "not verified"}`;
  return table([
    ["Account", accountId],
    ["E-mail", address],
    ...(pendingEmail === undefined
      ? []
      : [["Pending", `${shown(pendingEmail)}, until it is verified`]]),
    ["Plan", plan],
    ["Since", utc(createdAtMs)],
    ...(isSuspended ? [["State", "suspended"]] : []),
  ]);
}
