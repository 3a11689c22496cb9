/**
 * The account's life from the command line: shown, proved, moved, recovered, claimed, deleted; keys
 * that may less.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { parseApiKey } from "../../proto/mod.ts";
import type { TestApi } from "../support/api/harness.ts";
import { codeTo } from "../support/api/mailbox.ts";
import type { Stack } from "../support/stack.ts";
import { User } from "./user.ts";

const password = "correct horse battery staple";
const newPassword = "another long password";

export async function checkOwnAccount(
  t: Deno.TestContext,
  { api, backend }: Pick<Stack, "api" | "backend">,
): Promise<void> {
  const codeOf = (email: string, mails: number): Promise<string> => codeTo(backend, email, mails);
  await t.step(
    "account show and verify: a code is sent, brought back, and good once",
    () => verify(api, codeOf),
  );
  await t.step(
    "account email and password: the new ones hold, and keys end if asked",
    () => change(api, codeOf),
  );
  await t.step(
    "account reset opens a verified account to who reads its mail",
    () => reset(api, codeOf),
  );
  await t.step("account claim takes an address from who never proved it", () => claim(api, codeOf));
  await t.step("account delete asks first, and for the password", () => remove(api));
  await t.step(
    "keys create makes keys that may less, and keys list says what",
    () => narrowKeys(api),
  );
  await t.step(
    "keys rotate of another key prints its successor and tells when the old one ends",
    () => rotate(api),
  );
}

type CodeOf = (email: string, mails: number) => Promise<string>;

async function member(api: TestApi): Promise<{ user: User; email: string }> {
  const user = await User.create({ STATIC_API_URL: api.url });
  const email = `own-${crypto.randomUUID()}@example.com`;
  user.secrets.add(password).add(newPassword);
  await user.run(["signup", "--email", email], { input: `${password}\n` });
  return { user, email };
}

async function verify(api: TestApi, codeOf: CodeOf): Promise<void> {
  const { user, email } = await member(api);
  await using _ = user;
  assertMatch(
    (await user.run(["account", "show"])).stdout,
    new RegExp(`^E-mail +${email}, not verified$`, "m"),
  );
  const first = await codeOf(email, 1);
  const sent = await user.run(["account", "verify"]);
  assertStringIncludes(sent.stdout, `A code was sent to ${email}`);
  assertMatch(sent.stderr, /This service writes its mail to .*\/mail/);
  const wrong = await user.json(["account", "verify", "AAAA-AAAA-AAAA"], { code: 4 });
  assertEquals(wrong.error.code, "code_invalid");
  assertEquals((await user.json(["account", "verify", first])).email_verified, true);
  await user.run(["account", "verify", first], { code: 4 });
  const again = await user.run(["account", "verify"], { code: 4 });
  assertStringIncludes(again.stderr, `${email} is verified already`);
  assertEquals((await user.json(["account", "show"])).email_verified, true);
}

async function change(api: TestApi, codeOf: CodeOf): Promise<void> {
  const { user } = await member(api);
  await using _ = user;
  const email = `moved-${crypto.randomUUID()}@example.com`;
  await user.run(["account", "email", email], { input: "not the password\n", code: 3 });
  await user.run(["account", "email", email], { input: `${password}\n` });
  assertMatch(
    (await user.run(["account", "show"])).stdout,
    new RegExp(`^Pending +${email}, until it is verified$`, "m"),
  );
  await user.run(["account", "verify", await codeOf(email, 1)]);
  assertEquals((await user.json(["account", "show"])).email, email);
  await user.run(["account", "password"], { input: `${password}\nshort\n`, code: 2 });
  const differing = { terminal: true, input: `${password}\n${newPassword}\nanother\n`, code: 2 };
  assertStringIncludes(
    (await user.run(["account", "password"], differing)).stderr,
    "The two passwords differ",
  );
  await user.run(["account", "password"], { input: `${password}\n${newPassword}\n` });
  const ended = await user.json(["account", "password", "--revoke-keys"], {
    input: `${newPassword}\n${password}\n`,
  });
  assertEquals(ended.keys_revoked, 1);
  assertEquals((await user.credentials()).api_key, undefined);
  await user.run(["login", "--email", email], { input: `${password}\n` });
}

async function reset(api: TestApi, codeOf: CodeOf): Promise<void> {
  const { user, email } = await member(api);
  await using _ = user;
  await user.run(["account", "verify", await codeOf(email, 1)]);
  await user.run(["logout"]);
  await user.run(["account", "reset", "--email", email]);
  const code = await codeOf(email, 2);
  await user.run(["account", "reset", "--email", email, "AAAA-AAAA-AAAA"], {
    input: `${newPassword}\n`,
    code: 4,
  });
  const argv = ["account", "reset", code, "--email", email, "--revoke-keys"];
  assertEquals((await user.json(argv, { input: `${newPassword}\n` })).keys_revoked, 1);
  await user.run(["login", "--email", email], { input: `${password}\n`, code: 3 });
  await user.run(["login", "--email", email], { input: `${newPassword}\n` });
}

async function claim(api: TestApi, codeOf: CodeOf): Promise<void> {
  const { user: squatter, email } = await member(api);
  await using _ = squatter;
  await using victim = await User.create({ STATIC_API_URL: api.url });
  victim.secrets.add(newPassword);
  await victim.run(["account", "claim", "--email", email]);
  const code = await codeOf(email, 2);
  const claimed = await victim.json(["account", "claim", code, "--email", email], {
    input: `${newPassword}\n`,
  });
  assertEquals((await victim.json(["account", "show"])).account_id, claimed.account_id);
  const theirs = await squatter.run(["account", "show"]);
  assertMatch(theirs.stdout, /^E-mail +none$/m);
  assertMatch(
    theirs.stderr,
    /warning: Someone else has verified this account's address.* account email/,
  );
  const nothing = await squatter.json(["account", "verify"], { code: 4 });
  assertMatch(nothing.error.advice, /account email/);
}

async function remove(api: TestApi): Promise<void> {
  const { user, email } = await member(api);
  await using _ = user;
  const unasked = await user.json(["account", "delete"], { input: `${password}\n`, code: 2 });
  assertStringIncludes(unasked.error.message, `Permanently delete the account ${email}`);
  await user.run(["account", "delete"], { terminal: true, input: `n\n`, code: 2 });
  await user.run(["account", "delete"], {
    terminal: true,
    input: `y\nnot the password\n`,
    code: 3,
  });
  await user.run(["account", "show"]);
  await user.run(["account", "delete"], { terminal: true, input: `y\n${password}\n` });
  await user.run(["account", "show"], { code: 3 });
  await user.run(["login", "--email", email], { input: `${password}\n`, code: 3 });
}

async function narrowKeys(api: TestApi): Promise<void> {
  const { user } = await member(api);
  await using _ = user;
  const create = (...flags: string[]): Promise<{ key: string }> =>
    user.json(["keys", "create", ...flags]);
  const { key } = await create(
    "--name",
    "bill",
    "--scope",
    "usage:read,keys:read",
    "--expires",
    "30d",
    "--limit",
    "500",
  );
  const variables = { STATIC_API_KEY: key };
  await user.run(["usage"], { variables });
  const refused = await user.json(["account", "show"], { variables, code: 4 });
  assertEquals([refused.error.code, /keys list/.test(refused.error.advice)], ["not_allowed", true]);
  const web = await create(
    "--kind",
    "publishable",
    "--channels",
    "acme/web/*:send,receive acme/news/all:receive",
  );
  const { keys } = await user.json(["keys", "list"]);
  const channels = [
    { pattern: "acme/web/*", allow: ["send", "receive"] },
    { pattern: "acme/news/all", allow: ["receive"] },
  ];
  assertEquals([keys[0].kind, keys[0].channels], ["publishable", channels]);
  const token = await user.json(["token"], { variables: { STATIC_API_KEY: web.key } });
  assertMatch(
    atob(token.token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")),
    /"acme\/web\/\*:send,receive"/,
  );
  const listed = (await user.run(["keys", "list"])).stdout;
  assertMatch(listed, /^ +PREFIX .* ID +MAY$/m);
  assertMatch(listed, /bill .* usage:read,keys:read 500 a month until \d{4}/);
  assertMatch(listed, /^\* .* everything$/m);
  const guest = await user.json(["keys", "create", "--kind", "guest"], { code: 2 });
  assertMatch(guest.error.message, /channel_id must be given for a guest pass/);
  const id = "AAAAAAAAAAAAAAAAAAAAAA";
  await create("--kind", "guest", "--channel-id", id, "--expires", "1d", "--limit", "10");
  for (const flags of [["--channels", "acme/ops/*"], ["--expires", "soon"], ["--limit", "0"]]) {
    await user.run(["keys", "create", ...flags], { code: 2 });
  }
}

async function rotate(api: TestApi): Promise<void> {
  const { user } = await member(api);
  await using _ = user;
  const old = await user.json(["keys", "create", "--name", "ci", "--scope", "tokens"]);
  const printed = await user.run(["keys", "rotate", "ci", "--overlap", "1h"]);
  const fresh = printed.stdout.trimEnd();
  assert(parseApiKey(fresh) !== undefined, "standard output is the key and nothing else");
  assertMatch(printed.stderr, /sk_live_\w{8}… works until /);
  for (const key of [old.key, fresh]) {
    await user.run(["token"], { variables: { STATIC_API_KEY: key } });
  }
  const again = await user.json(["keys", "rotate", old.id], { code: 4 });
  assertEquals(again.error.code, "conflict");

  // One that is saved and may less keeps what it may.
  const narrow = await user.json(["keys", "create", "--scope", "tokens,keys:read,keys:write"]);
  await user.run(["login", "--with-key", "--yes"], { input: `${narrow.key}\n` });
  await user.run(["keys", "rotate"]);
  const saved = (await user.credentials()).api_key ?? "";
  assert(saved !== narrow.key);
  const { keys } = await user.json(["keys", "list"]);
  const current = keys.find((each: { current: boolean }) => each.current);
  assertEquals(current.scopes, ["tokens", "keys:read", "keys:write"]);
  await user.run(["token"], { variables: { STATIC_API_KEY: narrow.key }, code: 3 });
}
