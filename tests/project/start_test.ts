import { assert, assertEquals, assertLess, assertMatch, assertStringIncludes } from "@std/assert";

const root = new URL("../../", import.meta.url);

const ephemeral = {
  STATIC_API_PORT: "0",
  STATIC_ADMIN_PORT: "0",
  STATIC_RELAY_GRPC_PORT: "0",
  STATIC_RELAY_QUIC_PORT: "0",
};

/** `deno task start` as a user runs it. */
function start(variables: Readonly<Record<string, string>>): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "start"],
    cwd: root,
    env: { ...ephemeral, ...variables },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

/** Reads until the text has appeared. */
async function readUntil(stream: ReadableStream<Uint8Array<ArrayBuffer>>, text: string): Promise<string> {
  let seen = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream()).values({ preventCancel: true })) {
    seen += chunk;
    if (seen.includes(text)) return seen;
  }
  throw new Error(`"${text}" did not appear in: ${seen}`);
}

/** One that must fail: its exit code and what it said. */
async function failedStart(variables: Readonly<Record<string, string>>): Promise<{ code: number; errors: string }> {
  const child = start(variables);
  const [{ code }, errors] = await Promise.all([
    child.status,
    new Response(child.stderr).text(),
    child.stdout.cancel(),
  ]);
  return { code, errors };
}

/** The first start makes the database, which takes seconds; the later ones find it. */
async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "static-start-" });
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("deno task start", (t) =>
  inFolder(async (folder) => {
    await t.step("runs API and relay, names both, and stops on Ctrl-C within five seconds", () => runAndStop(folder));
    await t.step("names a port that is taken and the variable to change, without a stack trace", () => collide(folder));
    await t.step("tells faults in the configuration of API and relay together", async () => {
      const { code, errors } = await failedStart({ STATIC_ENVIRONMENT: "production", STATIC_RELAY_ENGINE: "cloud" });
      assertEquals(code, 1);
      assertMatch(errors, /2 fault\(s\)[^]*STATIC_ENVIRONMENT must be[^]*STATIC_RELAY_ENGINE must be/);
    });
  }));

async function runAndStop(folder: string): Promise<void> {
  const child = start({ STATIC_DATA_DIR: folder, STATIC_API_URL: "https://elsewhere.example" });
  const output = await readUntil(child.stdout, "Ctrl-C stops it.");
  const find = (pattern: RegExp): string => pattern.exec(output)?.[1] ?? `nothing like ${pattern}`;
  const health = async (url: string, init: RequestInit & { client?: Deno.HttpClient } = {}): Promise<unknown> =>
    await (await fetch(`${url}/health`, init)).json();
  assertEquals(await health(find(/API +(http:\S+)/)), { status: "ok" });
  assertMatch(find(/Relay +(\S+)/), /^quic:\/\/localhost:\d+$/);
  using client = Deno.createHttpClient({ caCerts: [await Deno.readTextFile(find(/Trust +(\S+)/))] });
  assertEquals(await health(find(/ +(https:\S+) +\(gRPC/), { client }), { status: "ok" });
  for (const url of find(/Metrics +(.+)/).split(/ +/)) {
    assertMatch(await (await fetch(url)).text(), /^# TYPE static_(api|relay)_/m);
  }
  assertStringIncludes(output, `Data      ${folder}\n`);
  assert(!output.includes("quota_api_failed"), "the relay has found the API");

  const startMs = performance.now();
  child.kill("SIGINT");
  assertEquals((await child.status).code, 0);
  assertLess(performance.now() - startMs, 5_000);
  await child.stderr.cancel();
}

async function collide(folder: string): Promise<void> {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  using both = Deno.listen({ hostname: "::", port: 0 });
  for (
    const [variable, { addr: { port } }] of [["STATIC_API_PORT", taken], ["STATIC_RELAY_GRPC_PORT", both]] as const
  ) {
    const { code, errors } = await failedStart({ STATIC_DATA_DIR: folder, [variable]: String(port) });
    assertEquals(code, 1);
    assertMatch(errors, new RegExp(`^Cannot listen: port ${port} is taken.*${variable}`));
    assert(!errors.includes("    at "), errors);
  }
}
