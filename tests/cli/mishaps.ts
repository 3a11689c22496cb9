/**
 * Every command without its service and with bad input: told in words, with the exit code that is
 * documented.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { encodeApiKey } from "../../proto/mod.ts";
import type { TestApi } from "../support/api/harness.ts";
import { User } from "./user.ts";

/** Nothing listens on it: it is reserved, and a test does not run as a service. */
const closed = "127.0.0.1:1";
const apiKey = encodeApiKey({ environment: "live", lookup: "AAAAAAAA", secret: "b".repeat(32) });

/** A fault of the input, and the expected end. */
interface Bad {
  readonly argv: readonly string[];
  readonly input?: string;
  readonly code: number;
  readonly says: RegExp;
}

interface Case {
  /** The command that calls the service. */
  readonly argv: readonly string[];
  readonly input?: string;
  /** Exit code when the service is down. */
  readonly down: number;
  /** Refused before anybody is asked. */
  readonly bad: Bad;
}

const password = "a long password\n";
const channel = "acme/ops/deploy";
const noName: Bad = {
  argv: ["ops/deploy"],
  code: 2,
  says: /Invalid channel name: it has 2 component\(s\) instead of 3/,
};
const noDomain: Bad = { argv: [], code: 2, says: /Name the domain with --domain/ };
const surplus: Bad = { argv: ["now"], code: 2, says: /does not take "now"/ };

export const cases: Readonly<Record<string, Case>> = {
  signup: {
    argv: ["--email", "a@example.com"],
    input: password,
    down: 5,
    bad: {
      argv: ["--email", "nobody"],
      input: password,
      code: 2,
      says: /"nobody" is not an e-mail address/,
    },
  },
  login: {
    argv: ["--email", "a@example.com"],
    input: password,
    down: 5,
    bad: {
      argv: ["--with-key"],
      input: "sk_live_mistyped\n",
      code: 3,
      says: /incomplete or mistyped/,
    },
  },
  logout: { argv: [], down: 0, bad: surplus },
  whoami: {
    argv: [],
    down: 5,
    bad: {
      argv: ["--api-url", "http://api.example.com"],
      code: 2,
      says: /cannot be the API's address/,
    },
  },
  "account show": { argv: [], down: 5, bad: surplus },
  "account verify": {
    argv: [],
    down: 5,
    bad: { argv: ["A", "B"], code: 2, says: /does not take "B"/ },
  },
  "account email": {
    argv: ["a@example.com"],
    input: password,
    down: 5,
    bad: { argv: ["nobody"], code: 2, says: /"nobody" is not an e-mail address/ },
  },
  "account password": {
    argv: [],
    input: password + password,
    down: 5,
    bad: { argv: [], input: `${password}short\n`, code: 2, says: /at least 8 characters/ },
  },
  "account reset": {
    argv: ["--email", "a@example.com"],
    down: 5,
    bad: { argv: ["--email", "nobody"], code: 2, says: /"nobody" is not an e-mail address/ },
  },
  "account claim": {
    argv: ["--email", "a@example.com"],
    down: 5,
    bad: { argv: ["--email", "nobody"], code: 2, says: /"nobody" is not an e-mail address/ },
  },
  "account delete": { argv: ["--yes"], input: password, down: 5, bad: surplus },
  "keys create": {
    argv: [],
    down: 5,
    bad: { argv: ["--name", ""], code: 2, says: /--name is empty/ },
  },
  "keys list": { argv: [], down: 5, bad: surplus },
  "keys revoke": { argv: ["ci"], down: 5, bad: { argv: [], code: 2, says: /KEY is missing/ } },
  "keys rotate": {
    argv: [],
    down: 5,
    bad: { argv: ["--name"], code: 2, says: /--name needs a value/ },
  },
  token: {
    argv: [],
    down: 5,
    bad: { argv: ["--lifetime", "2h"], code: 2, says: /--lifetime is not a flag of "token"/ },
  },
  usage: {
    argv: [],
    down: 5,
    bad: { argv: ["last-month"], code: 2, says: /"usage" does not take "last-month"/ },
  },
  "channel create": { argv: [channel], down: 5, bad: noName },
  "channel invite": {
    argv: [channel],
    down: 5,
    bad: { argv: [channel, "--uses", "many"], code: 2, says: /--uses/ },
  },
  "channel join": {
    argv: [channel],
    input: "inv_token\n",
    down: 5,
    bad: { argv: [channel, "--timeout", "never"], code: 2, says: /--timeout/ },
  },
  "channel send": { argv: [channel, "hello"], down: 5, bad: noName },
  "channel listen": {
    argv: [channel],
    down: 5,
    bad: { argv: [channel, "--count", "0"], code: 2, says: /--count/ },
  },
  "channel members": { argv: [channel], down: 5, bad: noName },
  "channel remove": {
    argv: [channel, "bob"],
    down: 5,
    bad: { argv: [channel], code: 2, says: /MEMBER is missing/ },
  },
  "channel promote": {
    argv: [channel, "bob"],
    down: 5,
    bad: { argv: [channel], code: 2, says: /MEMBER is missing/ },
  },
  "channel demote": {
    argv: [channel, "bob"],
    down: 5,
    bad: { argv: [channel], code: 2, says: /MEMBER is missing/ },
  },
  "channel policy": {
    argv: [channel],
    down: 5,
    bad: {
      argv: [channel, "--posting", "nobody"],
      code: 2,
      says: /--posting must be "members" or "owners"/,
    },
  },
  "channel issuers": {
    argv: [channel],
    down: 5,
    bad: {
      argv: [channel, "--require", "acme.com"],
      code: 2,
      says: /acme\.com is not on your trust list/,
    },
  },
  "channel rotate": { argv: [channel], down: 5, bad: noName },
  "channel recover": { argv: [channel], down: 5, bad: noName },
  "channel fingerprint": { argv: [channel], down: 5, bad: noName },
  "channel health": { argv: [channel], down: 5, bad: noName },
  "channel list": {
    argv: [],
    down: 5,
    bad: {
      argv: ["--agent", "../escape"],
      code: 2,
      says: /"\.\.\/escape" cannot be an agent's name/,
    },
  },
  "channel leave": { argv: [channel], down: 5, bad: noName },
  "channel close": {
    argv: [channel, "--yes"],
    down: 5,
    bad: { argv: [channel], code: 2, says: /Close acme.*--yes/s },
  },
  "channel chat": { argv: [channel], down: 5, bad: noName },
  "channel on-message": {
    argv: [channel, "true"],
    down: 5,
    bad: { argv: [channel], code: 2, says: /COMMAND is missing/ },
  },
  "invites list": {
    argv: [],
    down: 5,
    bad: { argv: ["ops"], code: 2, says: /Invalid channel name/ },
  },
  "invites revoke": { argv: ["x"], down: 5, bad: { argv: [], code: 2, says: /ID is missing/ } },
  "agents list": { argv: [], down: 0, bad: surplus },
  "agents set receipts": {
    argv: ["off"],
    down: 0,
    bad: { argv: ["none"], code: 2, says: /"none" is no setting.*addressed or off/s },
  },
  "agents delete": {
    argv: ["bob"],
    down: 4,
    bad: { argv: ["A"], code: 2, says: /cannot be an agent's name/ },
  },
  "agents number": { argv: [], down: 5, bad: surplus },
  "trust name": {
    argv: ["c".repeat(22), "Carol"],
    down: 5,
    bad: { argv: ["carol", "Carol"], code: 2, says: /Not an agent id/ },
  },
  "trust list": { argv: [], down: 0, bad: surplus },
  "trust add": {
    argv: ["acme.com", "--file", "nothing"],
    down: 2,
    bad: { argv: ["ACME.com"], code: 2, says: /"ACME.com" is not a domain/ },
  },
  "trust mail": {
    argv: ["umbrella.org"],
    down: 0,
    bad: { argv: ["umbrella"], code: 2, says: /"umbrella" is not a domain/ },
  },
  "trust refresh": { argv: [], down: 0, bad: surplus },
  "badge use": {
    argv: ["badge_x"],
    down: 2,
    bad: { argv: [], code: 2, says: /BADGE is missing/ },
  },
  "badge show": {
    argv: [],
    down: 0,
    bad: { argv: ["badge_x"], code: 2, says: /a badge is badge_ and base64url/ },
  },
  "badge key new": { argv: ["--domain", "acme.com"], down: 0, bad: noDomain },
  "badge key close": {
    argv: ["2026-11", "--domain", "acme.com"],
    down: 2,
    bad: { argv: ["--domain", "acme.com"], code: 2, says: /KID is missing/ },
  },
  "badge document": { argv: ["--domain", "acme.com"], down: 2, bad: noDomain },
  "badge issue": { argv: ["--domain", "acme.com", "--name", "bot"], down: 2, bad: noDomain },
  "trust remove": { argv: ["Carol"], down: 4, bad: { argv: [], code: 2, says: /NAME is missing/ } },
  host: { argv: [], down: 2, bad: surplus },
  "host status": { argv: [], down: 4, bad: surplus },
  "host stop": { argv: [], down: 4, bad: surplus },
  "host readers list": {
    argv: [],
    down: 2,
    bad: { argv: ["ops"], code: 2, says: /Invalid channel name/ },
  },
  "host readers delete": {
    argv: [channel, "x"],
    down: 2,
    bad: { argv: [channel], code: 2, says: /READER is missing/ },
  },
  mcp: {
    argv: [],
    down: 2,
    bad: { argv: ["--policy", "maybe"], code: 2, says: /STATIC_HOST is off/ },
  },
  wake: { argv: ["--stdout"], down: 2, bad: { argv: [], code: 2, says: /needs --stdout/ } },
  "wake codex": {
    argv: ["--thread", "01a1f4cb-d866-70f3-b104-4809e7179e24"],
    down: 2,
    bad: { argv: ["--thread", "$(id)"], code: 2, says: /needs the id of a session/ },
  },
  "wake exec": {
    argv: ["--", "true"],
    down: 2,
    bad: { argv: [], code: 2, says: /COMMAND is missing/ },
  },
  "wake hook": {
    argv: [],
    down: 2,
    bad: { argv: [], code: 2, says: /is for a hook of Claude Code/ },
  },
  "wake claude": {
    argv: ["--write", "/dev/null/plugin"],
    down: 4,
    bad: { argv: [], code: 2, says: /needs --write FOLDER/ },
  },
  "mcp serve": {
    argv: [channel, "--allow", "*", "--", "true"],
    down: 2,
    bad: { argv: [channel, "--", "true"], code: 2, says: /STATIC_HOST is off/ },
  },
  "mcp connect": {
    argv: [channel, "x", "--as", "acme"],
    down: 2,
    bad: { argv: [channel], code: 2, says: /AGENT is missing/ },
  },
  "mcp policy": {
    argv: [],
    down: 0,
    bad: { argv: ["*", "maybe"], code: 2, says: /is not a rule/ },
  },
  "mcp held": { argv: [], down: 0, bad: surplus },
  "mcp held release": { argv: ["x"], down: 4, bad: { argv: [], code: 2, says: /ID is missing/ } },
  "mcp held drop": { argv: ["x"], down: 4, bad: { argv: [], code: 2, says: /ID is missing/ } },
  help: {
    argv: [],
    down: 0,
    bad: { argv: ["nothing"], code: 2, says: /"nothing" is not a command/ },
  },
  "agent verify": {
    argv: [],
    down: 4,
    bad: { argv: ["--agent", "A"], code: 2, says: /cannot be an agent's name/ },
  },
  "agent repair": { argv: ["--yes"], down: 4, bad: surplus },
  "agent passphrase": { argv: [], down: 4, bad: surplus },
  doctor: {
    argv: [],
    down: 7,
    bad: { argv: ["--api-url", "nowhere"], code: 7, says: /cannot be the API's address/ },
  },
  demo: {
    argv: [],
    down: 5,
    bad: { argv: ["--ca-file", "missing.pem"], code: 2, says: /There is no file missing\.pem/ },
  },
  completion: {
    argv: ["bash"],
    down: 0,
    bad: { argv: ["tcsh"], code: 2, says: /"tcsh" is not a supported shell/ },
  },
};

export async function checkMishaps(t: Deno.TestContext, api: TestApi): Promise<void> {
  await t.step(
    "without an API every command says so, names the address, and ends with its exit code",
    withoutApi,
  );
  await t.step(
    "without a relay every command for channels says so and ends with its exit code",
    () => withoutRelay(api),
  );
  await t.step("bad input is refused by every command, before anybody is asked", badInput);
  await t.step(
    "a mistyped key is refused by every command that needs one, before anybody is asked",
    mistypedKey,
  );
  await t.step("an address where something else answers is told from the API", somethingElse);
  await t.step("what cannot be used of the user's own is refused in words", ownFaults);
}

type Ended = Readonly<Record<"path" | "stdout" | "stderr", string>> & { readonly code: number };

interface Trial {
  readonly apiUrl: string;
  readonly key: string;
  readonly only?: (path: string) => boolean;
  readonly given?: (one: Case) => { readonly argv: readonly string[]; readonly input?: string };
  readonly check: (ended: Ended, one: Case) => void;
}

/**
 * Every command, signed in at an address, each in a home of its own; `signup` and `login` start
 * without a key.
 */
async function tryEach(
  { apiUrl, key, only = () => true, given = (one) => one, check }: Trial,
): Promise<void> {
  for (const [path, one] of Object.entries(cases).filter(([path]) => only(path))) {
    await using user = await User.create({
      STATIC_API_URL: apiUrl,
      STATIC_RELAY_URL: `https://${closed}`,
    });
    await Deno.mkdir(`${user.folder}/config/static`, { recursive: true });
    const saved = JSON.stringify({ api_key: key, api_url: apiUrl });
    if (!["signup", "login"].includes(path)) await Deno.writeTextFile(user.credentialsFile, saved);
    user.secrets.add(key);
    const { argv, input = "" } = given(one);
    const { code, stdout, stderr } = await user.start([...path.split(" "), ...argv], { input })
      .done;
    user.check(`${path} ${argv.join(" ")}\n${stdout}${stderr}`);
    check({ path, code, stdout, stderr }, one);
  }
}

function withoutApi(): Promise<void> {
  return tryEach({
    apiUrl: `http://${closed}`,
    key: apiKey,
    check: ({ path, code, stdout, stderr }, { down }) => {
      assertEquals(code, down, `${path}: ${stderr}`);
      // Commands that only use this machine's files need no service.
      if (code === 0 || /^(agent|agents|badge|host|mcp|trust|wake)\b/.test(path)) return;
      assertMatch(stdout + stderr, /Cannot reach the API at http:\/\/127\.0\.0\.1:1/, path);
      assertMatch(stderr, /^error: /m, path);
    },
  });
}

async function withoutRelay(api: TestApi): Promise<void> {
  await tryEach({
    apiUrl: api.url,
    key: (await api.signUp()).apiKey,
    only: (path) => /^(channel|demo|doctor)/.test(path),
    check: ({ path, code, stdout, stderr }, { down }) => {
      assertEquals(code, down, `${path}: ${stderr}`);
      assertMatch(stdout + stderr, /127\.0\.0\.1:1/, path);
    },
  });
}

/** Counts requests in the place of a service. */
function startCounter(): { readonly url: string; readonly count: () => number } & AsyncDisposable {
  let requests = 0;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
    requests++;
    return new Response("{}");
  });
  const url = `http://127.0.0.1:${server.addr.port}`;
  return { url, count: () => requests, [Symbol.asyncDispose]: () => server.shutdown() };
}

async function badInput(): Promise<void> {
  await using counter = startCounter();
  await tryEach({
    apiUrl: counter.url,
    key: apiKey,
    given: ({ bad }) => bad,
    check: ({ path, code, stderr }, { bad }) => {
      assertEquals(code, bad.code, `${path}: ${stderr}`);
      assertMatch(stderr, bad.says, path);
      assertMatch(stderr, /^error: /, path);
    },
  });
  assertEquals(counter.count(), 0);
}

async function mistypedKey(): Promise<void> {
  await using counter = startCounter();
  const free = [
    "signup",
    "login",
    "logout",
    "account reset",
    "account claim",
    "completion",
    "doctor",
    "agent verify",
    "agent repair",
    "agent passphrase",
    "agents list",
    "agents set receipts",
    "agents delete",
    "trust add",
    "trust list",
    "trust mail",
    "trust refresh",
    "trust remove",
    "badge use",
    "badge show",
    "badge key new",
    "badge key close",
    "badge document",
    "badge issue",
    "host",
    "host status",
    "host stop",
    "host readers list",
    "host readers delete",
    "mcp",
    "mcp serve",
    "mcp connect",
    "mcp policy",
    "mcp held",
    "mcp held release",
    "mcp held drop",
    "wake",
    "wake codex",
    "wake exec",
    "wake hook",
    "wake claude",
    "help",
  ];
  await tryEach({
    apiUrl: counter.url,
    key: apiKey.replace("b", "c"),
    only: (path) => !free.includes(path),
    check: ({ path, code, stderr }) => {
      assertEquals(code, 3, `${path}: ${stderr}`);
      assertMatch(stderr, /^error: The API key is incomplete or mistyped/, path);
    },
  });
  assertEquals(counter.count(), 0);
}

async function somethingElse(): Promise<void> {
  const answers = [
    new Response("<html>hello</html>", { headers: { "content-type": "text/html" } }),
    new Response("<html>broken</html>", { status: 502 }),
    new Response("{}", { status: 200 }),
    new Response(null, { status: 302, headers: { location: "http://127.0.0.1:2/" } }),
  ];
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
    const answer = answers.shift();
    assert(answer !== undefined);
    return answer;
  });
  await using user = await User.create({
    STATIC_API_KEY: apiKey,
    STATIC_API_URL: `http://127.0.0.1:${server.addr.port}`,
  });
  while (answers.length > 0) {
    const { error } = await user.json(["whoami"], { code: 5 });
    assertStringIncludes(error.message, "it is not a Static API");
  }
}

async function ownFaults(): Promise<void> {
  await using user = await User.create();
  await Deno.mkdir(`${user.folder}/config/static`, { recursive: true });
  const secret = "sk_live_secret_that_must_not_be_quoted";
  user.secrets.add(secret);
  await Deno.writeTextFile(user.credentialsFile, `{"api_key": "${secret}"`);
  const damaged = await user.json(["whoami"], { code: 3 });
  assertMatch(damaged.error.message, /credentials.json: it is not a JSON object/);
  await Deno.writeTextFile(user.credentialsFile, JSON.stringify({ api_key: secret }));
  assertEquals((await user.json(["whoami"], { code: 3 })).error.code, "auth_key_invalid");
  await user.run(["whoami", "--ca-file", `${user.folder}/missing.pem`], { code: 2 });
  await user.run(["whoami", "--ca-file", user.credentialsFile], { code: 2 });
  await user.run(["doctor", "--ca-file", user.credentialsFile], { code: 7 });
  await user.run(["whoami", "--api-url", "not an address"], { code: 2 });
  await user.run(["doctor", "--relay-url", "nowhere", "--api-url", `http://${closed}`], {
    code: 7,
  });

  await Deno.remove(user.credentialsFile);
  const variables = {
    STATIC_API_KEY: apiKey,
    STATIC_API_URL: `http://${closed}`,
    STATIC_AGENT: "a",
  };
  await Deno.remove(`${user.folder}/data/static/agents`, { recursive: true });
  await Deno.writeTextFile(`${user.folder}/data/static/agents`, "a file where a folder must be");
  const blocked = await user.json(["channel", "list"], { variables, code: 1 });
  assertMatch(blocked.error.message, /^Cannot use the agent's folder/);
  const { stdout } = await user.run(["doctor"], { variables, code: 7 });
  assertMatch(
    stdout,
    /✗ Data folder +\S+agents cannot be used: .+\n +→ Make it writable, or set XDG_DATA_HOME/,
  );

  await Deno.remove(`${user.folder}/config/static`, { recursive: true });
  await Deno.writeTextFile(`${user.folder}/config/static`, "a file where a folder must be");
  const kept = await user.json(["logout"], { code: 1 });
  assertMatch(
    kept.error.message,
    /^Cannot delete \S+credentials.json: a file is in the place of a directory/,
  );
}
