/** Accounts, keys, tokens and usage from the command line, against a real API. */
import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertStringIncludes,
} from "@std/assert";
import { parseApiKey } from "../../proto/mod.ts";
import { StaticClient } from "../../sdk/mod.ts";
import type { TestApi } from "../support/api/harness.ts";
import { User } from "./user.ts";

const password = "correct horse battery staple";

export async function checkAccounts(t: Deno.TestContext, api: TestApi): Promise<void> {
  await t.step(
    "signup saves the key for its user alone, and shows neither key nor password",
    () => signUp(api),
  );
  await t.step("signup from a terminal asks for the password twice", () => signUpAtTerminal(api));
  await t.step("signup and login refuse what is wrong, in words", () => refuse(api));
  await t.step(
    "login gives a new key to who has lost all, and saves one that is given",
    () => logIn(api),
  );
  await t.step(
    "whoami tells account, plan and where the key comes from; the environment wins",
    () => whoAmI(api),
  );
  await t.step("keys are created, listed and revoked by id, prefix or name", () => keys(api));
  await t.step("keys rotate replaces the saved key and leaves none behind", () => rotate(api));
  await t.step("a key is sent only to the address that it was saved with", () => stayHome(api));
  await t.step("token prints a token and nothing else", () => token(api));
  await t.step("usage shows a bar, what is left, and when it resets", () => usage(api));
  await t.step("the SDK finds the key that the CLI has saved", () => sdkReads(api));
}

function address(): string {
  return `user-${crypto.randomUUID()}@example.com`;
}

/** A user who is signed in. */
async function member(api: TestApi): Promise<User> {
  const user = await User.create({ STATIC_API_URL: api.url });
  user.secrets.add(password);
  await user.run(["signup"], { input: `${address()}\n${password}\n` });
  user.secrets.add((await user.credentials()).api_key ?? "");
  return user;
}

async function signUp(api: TestApi): Promise<void> {
  await using user = await User.create();
  user.secrets.add(password);
  const email = address();
  const { stdout } = await user.run(["signup", "--api-url", api.url], {
    input: `${email}\n${password}\n`,
  });
  assertStringIncludes(stdout, `Account ${email} created, plan free`);
  const saved = await user.credentials();
  assert(parseApiKey(saved.api_key ?? "") !== undefined);
  assertEquals([saved.api_url, saved.email], [api.url, email]);
  assert(!stdout.includes(saved.api_key ?? ""));
  assertEquals(((await Deno.stat(user.credentialsFile)).mode ?? 0) & 0o777, 0o600);
  assertEquals(((await Deno.stat(`${user.folder}/config/static`)).mode ?? 0) & 0o777, 0o700);

  const again = await user.json(["signup"], { input: `${address()}\n${password}\n`, code: 2 });
  assertStringIncludes(again.error.message, "signed in already");
  assertEquals(await user.credentials(), saved);
  const replaced = await user.json(["signup", "--yes"], { input: `${address()}\n${password}\n` });
  assertEquals(replaced.plan, "free");
  assertNotEquals((await user.credentials()).api_key, saved.api_key);
}

async function signUpAtTerminal(api: TestApi): Promise<void> {
  await using user = await User.create({ STATIC_API_URL: api.url });
  user.secrets.add(password);
  const differing = await user.run(["signup"], {
    terminal: true,
    input: `${address()}\n${password}\nanother one\n`,
    code: 2,
  });
  assertStringIncludes(differing.stderr, "The two passwords differ");
  const { stdout, stderr } = await user.run(["signup"], {
    terminal: true,
    input: `${address()}\n${password}\n${password}\n`,
  });
  assertMatch(stderr, /E-mail: Password: \nPassword again: \n/);
  assertMatch(stderr, /static channel create acme\/ops\/deploy/);
  // deno-lint-ignore no-control-regex
  assertMatch(stdout, /\x1b\[32m✓\x1b\[0m/);
}

async function refuse(api: TestApi): Promise<void> {
  await using user = await User.create({ STATIC_API_URL: api.url });
  const email = address();
  await user.run(["signup"], { input: `${email}\n${password}\n` });
  await user.run(["logout"]);
  const taken = await user.json(["signup"], { input: `${email}\n${password}\n`, code: 4 });
  assertEquals(taken.error.code, "email_taken");
  assert(
    !/POST/.test(taken.error.message) && /login/.test(taken.error.advice),
    "people are told commands",
  );
  const wrong = await user.json(["login", "--email", email], {
    input: "not the password\n",
    code: 3,
  });
  assertEquals([wrong.error.code, wrong.error.exit_code], ["auth_failed", 3]);
  assertStringIncludes(
    wrong.error.advice,
    "signup",
    "whose stack was made anew has no account in it",
  );
  const short = await user.run(["signup", "--email", address()], { input: "short\n", code: 2 });
  assertStringIncludes(short.stderr, "password must have at least 8 characters");
  await user.run(["signup", "--email", "nobody"], { input: `${password}\n`, code: 2 });
  await user.run(["signup"], { input: "", code: 2 });
  await user.run(["login", "--with-key"], { input: "sk_live_mistyped\n", code: 3 });
}

async function logIn(api: TestApi): Promise<void> {
  await using user = await User.create({ STATIC_API_URL: api.url });
  const email = address();
  await user.run(["signup"], { input: `${email}\n${password}\n` });
  const first = (await user.credentials()).api_key ?? "";
  await user.run(["logout"]);
  await user.run(["whoami"], { code: 3 });
  const signedIn = await user.json(["login", "--email", email, "--name", "laptop"], {
    input: `${password}\n`,
  });
  const second = (await user.credentials()).api_key ?? "";
  assertNotEquals(second, first);
  assertEquals(signedIn.key_prefix, second.slice(0, 16));
  const { keys } = await user.json(["keys", "list"]);
  assertEquals(keys.map(({ name }: { name: string }) => name), ["laptop", "default"]);
  await user.run(["login", "--with-key", "--yes"], { input: `${first}\n` });
  assertEquals((await user.credentials()).api_key, first);
}

async function whoAmI(api: TestApi): Promise<void> {
  await using user = await member(api);
  await using other = await member(api);
  const mine = await user.json(["whoami"]);
  assertEquals([mine.plan, mine.key_from], ["free", user.credentialsFile]);
  const environment = { STATIC_API_KEY: (await other.credentials()).api_key ?? "" };
  const theirs = await user.json(["whoami"], { variables: environment });
  assertEquals(theirs.account_id, (await other.json(["whoami"])).account_id);
  assertEquals(theirs.key_from, "STATIC_API_KEY");
  const shown = await user.run(["whoami"], { variables: environment });
  assertMatch(
    shown.stdout,
    /^Account +[\da-f-]{36}\nPlan +free\nKey +sk_live_\w{8}… from STATIC_API_KEY$/m,
  );
}

async function keys(api: TestApi): Promise<void> {
  await using user = await member(api);
  const created = await user.run(["keys", "create", "--name", "ci"]);
  assert(
    parseApiKey(created.stdout.trimEnd()) !== undefined,
    "standard output is the key and nothing else",
  );
  const listed = await user.run(["keys", "list"]);
  assertMatch(listed.stdout, /^ +PREFIX +NAME +CREATED +LAST USED +ID$/m);
  assertMatch(listed.stdout, /^ +sk_live_\w{8} +ci +.+ +never +[\da-f-]{36}$/m);
  assertMatch(listed.stdout, /^\* +sk_live_\w{8} +default /m);
  await user.run(["keys", "revoke", "ci"]);
  await user.run(["keys", "revoke", "ci"], { code: 4 });
  for (const _ of [1, 2]) await user.json(["keys", "create", "--name", "twin"]);
  const twins = await user.json(["keys", "revoke", "twin"], { code: 2 });
  assertMatch(twins.error.advice, /Use the id: [\da-f-]{36}, [\da-f-]{36}/);
  await user.run(["keys", "create", "--name", "x".repeat(65)], { code: 2 });

  const own = (await user.credentials()).api_key?.slice(0, 16) ?? "";
  await user.run(["keys", "revoke", own], { code: 2 });
  await user.run(["keys", "revoke", own], { terminal: true, input: "n\n", code: 2 });
  await user.run(["keys", "revoke", own], { terminal: true, input: "y\n" });
  assertEquals((await user.credentials()).api_key, undefined);
  const after = await user.json(["keys", "list"], { code: 3 });
  assertStringIncludes(after.error.message, "not signed in");
}

async function rotate(api: TestApi): Promise<void> {
  await using user = await member(api);
  const before = await user.credentials();
  await user.run(["keys", "rotate"]);
  const after = await user.credentials();
  assertNotEquals(after.api_key, before.api_key);
  assertEquals({ ...after, api_key: "" }, { ...before, api_key: "" });
  const { keys } = await user.json(["keys", "list"]);
  assertEquals(
    keys.map(({ name, current }: { name: string; current: boolean }) => [name, current]),
    [[
      "default",
      true,
    ]],
  );
  const revoked = await user.json(["whoami"], {
    variables: { STATIC_API_KEY: before.api_key ?? "" },
    code: 3,
  });
  assertEquals(revoked.error.code, "auth_key_invalid");
  await user.run(["keys", "rotate"], {
    variables: { STATIC_API_KEY: after.api_key ?? "" },
    code: 2,
  });
}

async function stayHome(api: TestApi): Promise<void> {
  await using user = await member(api);
  const asked: string[] = [];
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => {
      asked.push(request.url);
      return new Response("{}");
    },
  );
  const elsewhere = `http://127.0.0.1:${server.addr.port}`;
  const { error } = await user.json(["whoami", "--api-url", elsewhere], { code: 3 });
  assertStringIncludes(error.message, `The saved key is for ${api.url}, not for ${elsewhere}`);
  assertEquals(asked, []);
  await user.run(["whoami", "--api-url", "http://api.example.com"], { code: 2 });
}

async function token(api: TestApi): Promise<void> {
  await using user = await member(api);
  const { stdout } = await user.run(["token"]);
  assertMatch(stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  const { account_id, expires_at } = await user.json(["token"]);
  assertEquals(account_id, (await user.json(["whoami"])).account_id);
  assert(Date.parse(expires_at) > Date.now() + 3_500_000);
}

async function usage(api: TestApi): Promise<void> {
  await using user = await member(api);
  const { stdout } = await user.run(["usage"]);
  assertMatch(
    stdout,
    /^░{30} 0%\nMessages +0 of 10,000, 10,000 left\nPlan +free\nResets +\d{4}-\d\d-01 00:00 UTC/,
  );
  const { messages, period } = await user.json(["usage"]);
  assertEquals(messages, { used: 0, limit: 10_000, remaining: 10_000 });
  assert(Date.parse(period.end) > Date.now());
}

/** Without a key of its own a client takes what the file says: the same place, the same form. */
async function sdkReads(api: TestApi): Promise<void> {
  await using user = await member(api);
  const before = Deno.env.get("XDG_CONFIG_HOME");
  Deno.env.set("XDG_CONFIG_HOME", `${user.folder}/config`);
  const countTokens = (): number => api.logs.filter((line) => line.includes("/v1/tokens")).length;
  const tokensBefore = countTokens();
  try {
    // The key is accepted by the API; then there is no relay at that address.
    const failure = await StaticClient.connect({
      endpoint: "https://127.0.0.1:1",
      dataDir: `${user.folder}/agent`,
      identity: "a",
    }).then(() => undefined, (error) => error);
    assertEquals(failure?.code, "connection_error");
    assertEquals(countTokens(), tokensBefore + 1);
  } finally {
    if (before === undefined) Deno.env.delete("XDG_CONFIG_HOME");
    else Deno.env.set("XDG_CONFIG_HOME", before);
  }
}
