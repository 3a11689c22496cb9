import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { commands } from "../../cli/mod.ts";
import { encodeApiKey } from "../../proto/mod.ts";
import { anyBackend, startTestApi } from "../api/harness.ts";
import { User } from "./user.ts";

/** Nothing listens on it: it is reserved, and a test does not run as a service. */
const closed = "127.0.0.1:1";
const apiKey = encodeApiKey({ environment: "live", lookup: "AAAAAAAA", secret: "b".repeat(32) });

interface Case {
  readonly argv: readonly string[];
  readonly input?: string;
  /** Exit code when the service is down. */
  readonly down: number;
}

const password = "a long password\n";
const channel = "acme/ops/deploy";

/** Every command, with what makes it ask the service. */
const cases: Readonly<Record<string, Case>> = {
  signup: { argv: ["--email", "a@example.com"], input: password, down: 5 },
  login: { argv: ["--email", "a@example.com"], input: password, down: 5 },
  logout: { argv: [], down: 0 },
  whoami: { argv: [], down: 5 },
  "keys create": { argv: [], down: 5 },
  "keys list": { argv: [], down: 5 },
  "keys revoke": { argv: ["ci"], down: 5 },
  "keys rotate": { argv: [], down: 5 },
  token: { argv: [], down: 5 },
  usage: { argv: [], down: 5 },
  "channel create": { argv: [channel], down: 5 },
  "channel invite": { argv: [channel], down: 5 },
  "channel join": { argv: [channel], input: "inv_token\n", down: 5 },
  "channel send": { argv: [channel, "hello"], down: 5 },
  "channel listen": { argv: [channel], down: 5 },
  "channel members": { argv: [channel], down: 5 },
  "channel remove": { argv: [channel, "bob"], down: 5 },
  "channel fingerprint": { argv: [channel], down: 5 },
  "channel list": { argv: [], down: 5 },
  "channel leave": { argv: [channel], down: 5 },
  "channel close": { argv: [channel], down: 5 },
  doctor: { argv: [], down: 7 },
  demo: { argv: [], down: 5 },
  completion: { argv: ["bash"], down: 0 },
};

/** Signed in at an address; `signup`, `login` and `logout` start without. */
async function runEach(
  apiUrl: string,
  key: string,
  { only = () => true, check }: {
    readonly only?: (path: string) => boolean;
    readonly check: (path: string, code: number, shown: { stdout: string; stderr: string }) => void;
  },
): Promise<void> {
  for (const [path, { argv, input = "" }] of Object.entries(cases).filter(([path]) => only(path))) {
    await using user = await User.create({ STATIC_RELAY_URL: `https://${closed}` });
    const saved = { api_key: key, api_url: apiUrl };
    await Deno.mkdir(`${user.folder}/config/static`, { recursive: true });
    if (!["signup", "login"].includes(path)) await Deno.writeTextFile(user.credentialsFile, JSON.stringify(saved));
    user.secrets.add(key);
    const words = [...path.split(" "), ...argv, "--api-url", apiUrl];
    const { code, stdout, stderr } = await user.start(words, { input }).done;
    user.check(`${words.join(" ")}\n${stdout}${stderr}`);
    check(path, code, { stdout, stderr });
  }
}

Deno.test("every command is tried without a service", () => {
  assertEquals(Object.keys(cases).sort(), commands.map(({ path }) => path).sort());
});

Deno.test("without an API every command says so in words, names the address, and ends with its exit code", () =>
  runEach(`http://${closed}`, apiKey, {
    check: (path, code, { stdout, stderr }) => {
      assertEquals(code, cases[path]?.down, `${path}: ${stderr}`);
      if (code === 0) return;
      assertMatch(stdout + stderr, /Cannot reach the API at http:\/\/127\.0\.0\.1:1/, path);
      assertMatch(stderr, /^error: /m, path);
    },
  }));

Deno.test("without a relay every command for channels says so in words and ends with its exit code", async () => {
  const backend = await anyBackend.open();
  const api = await startTestApi(backend.environment);
  try {
    const { apiKey } = await api.signUp();
    await runEach(api.url, apiKey, {
      only: (path) => /^(channel|demo|doctor)/.test(path),
      check: (path, code, { stdout, stderr }) => {
        assertEquals(code, cases[path]?.down, `${path}: ${stderr}`);
        assertMatch(stdout + stderr, /127\.0\.0\.1:1/, path);
      },
    });
  } finally {
    await api.close();
    await backend.close();
  }
});

Deno.test("an address where something else answers is told from the API", async () => {
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
    assertStringIncludes(error.message, "it is not the API of Static");
  }
});

Deno.test("what cannot be used of the user's own is refused in words", async () => {
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
  await user.run(["doctor", "--relay-url", "nowhere", "--api-url", `http://${closed}`], { code: 7 });

  await Deno.remove(user.credentialsFile);
  const variables = { STATIC_API_KEY: apiKey, STATIC_API_URL: `http://${closed}`, STATIC_AGENT: "a" };
  await Deno.remove(`${user.folder}/data/static/agents`, { recursive: true });
  await Deno.writeTextFile(`${user.folder}/data/static/agents`, "a file where a folder must be");
  const blocked = await user.json(["channel", "list"], { variables, code: 1 });
  assertMatch(blocked.error.message, /^Cannot use the agent's folder/);
});
