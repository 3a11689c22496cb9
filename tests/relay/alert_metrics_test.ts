// The metrics of alert rules, in real processes that are in the trouble that each is about.
import { assert, assertEquals, assertGreater, assertLess, assertMatch } from "@std/assert";
import { StaticClient } from "static-sdk";
import { apiPermissions } from "../../deploy/local/commands.ts";
import { anyBackend, testEnvironment } from "../support/api/harness.ts";
import { eventually, freePort, testWhen } from "../support/mod.ts";
import { startStack } from "../support/stack.ts";

function valueOf(metrics: string, name: string): number {
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(metrics)?.[1]);
}

Deno.test("a relay knows that its clock differs from the API's, says so, and counts the leases that it cannot have", async () => {
  await using stack = await startStack();
  const ahead = async (): Promise<number> =>
    valueOf(await stack.relayMetrics(), "static_relay_clock_ahead_seconds");
  const failures = async (): Promise<number> =>
    valueOf(await stack.relayMetrics(), "static_relay_quota_failures_total");
  await eventually({ what: "the API's clock" }, ahead, (seconds) => Math.abs(seconds) < 5);
  await using client = await StaticClient.connect({
    endpoint: stack.quicUrl,
    apiUrl: stack.api.url,
    apiKey: stack.account.apiKey,
    tls: { caFile: stack.caFile },
    dataDir: `${stack.relayDir}/agent`,
    identity: "agent",
  });
  const channel = await client.createChannel("acme/ops/clocks");
  const before = await failures();
  stack.api.clock.aheadMs = -600_000;
  await eventually({ what: "ten minutes" }, ahead, (seconds) => seconds > 590 && seconds < 610);
  const health = async (): Promise<string> => {
    using http = Deno.createHttpClient({ caCerts: [await Deno.readTextFile(stack.caFile)] });
    return await (await fetch(`${stack.grpcUrl}/health`, { client: http })).text();
  };
  assertMatch(await health(), /clock is \d+ s ahead of the API's/);
  // Its lease would be over when it came, so nothing pays for the message.
  const sending = channel.send("a message");
  sending.catch(() => {});
  await eventually({ what: "a lease that failed" }, failures, (count) => count > before);
  stack.api.clock.aheadMs = 0;
  await eventually({ what: "equal clocks" }, ahead, (seconds) => Math.abs(seconds) < 5);
  await sending;
  assert(!(await health()).includes("clock"));
});

Deno.test("a relay's long poll is counted, and neither measured nor logged, unless it is refused", async () => {
  await using stack = await startStack();
  const metrics = async (): Promise<string> =>
    await (await fetch(`${stack.api.adminUrl}/metrics`)).text();
  const answered =
    'static_api_requests_total{route="/internal/v1/changes",method="GET",status="200"}';
  await eventually(
    { what: "a poll that waited" },
    metrics,
    (text) => valueOf(text, answered.replace(/[{}]/g, "\\$&")) >= 3,
  );
  const timed = (await metrics()).split("\n").filter((line) => line.includes("duration_seconds"));
  assertGreater(timed.length, 10);
  assertEquals(timed.filter((line) => line.includes("changes")), []);
  const logged = (): readonly string[] =>
    stack.api.logs.filter((line) => line.includes("/internal/v1/changes"));
  assertEquals(logged(), []);
  const headers = { authorization: "Bearer wrong" };
  const refused = await fetch(`${stack.api.internalUrl}/internal/v1/changes`, { headers });
  await refused.body?.cancel();
  assertEquals([refused.status, logged().length], [401, 1]);
});

interface Deaf extends AsyncDisposable {
  readonly url: string;
  metric(name: string): Promise<number>;
  /** The log is read from now on. */
  readAll(): ReadableStream<Uint8Array<ArrayBuffer>>;
  /** It ends, so that its log does. */
  end(): Promise<void>;
}

/** An API whose standard output nobody reads, or is this file. */
async function startDeaf(
  { file, more = {} }: { readonly file?: string; readonly more?: Record<string, string> } = {},
): Promise<Deaf> {
  const backend = await anyBackend.open();
  const [port, adminPort] = [freePort(), freePort()];
  const variables: Record<string, string> = {
    ...testEnvironment,
    ...backend.environment,
    STATIC_API_PORT: String(port),
    STATIC_ADMIN_PORT: String(adminPort),
    ...more,
  };
  const into = file === undefined ? "" : ` > ${file}`;
  const run = ["run", "--no-check", "--no-prompt", ...apiPermissions((name) => variables[name])];
  const child = new Deno.Command("sh", {
    args: ["-c", `exec "$@"${into}`, "sh", Deno.execPath(), ...run, "api/main.ts"],
    cwd: new URL("../../", import.meta.url),
    env: variables,
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const url = `http://127.0.0.1:${port}`;
  const answers = (): Promise<boolean> =>
    fetch(`${url}/health`).then(async (answer) => (await answer.body?.cancel(), true), () => false);
  await eventually({ what: "an API that answers" }, answers, (does) => does);
  const end = async (): Promise<void> => {
    child.kill("SIGKILL");
    await child.status;
  };
  let ended: Promise<void> | undefined;
  return {
    url,
    end: () => ended ??= end(),
    metric: async (name) =>
      valueOf(await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text(), name),
    readAll: () => child.stdout,
    [Symbol.asyncDispose]: async () => {
      await (ended ??= end());
      await child.stdout.cancel().catch(() => {}); // It was read to its end.
      await backend.close();
    },
  };
}

/** More than a pipe holds. */
const requests = 500;

async function ask(url: string): Promise<void> {
  for (let i = 0; i < requests; i++) {
    const answer = await fetch(`${url}/v1/nothing`);
    assertEquals(answer.status, 404);
    await answer.body?.cancel();
  }
}

Deno.test("an API whose log nobody reads serves on, shows for how long, and writes every line when it is read again", async () => {
  await using api = await startDeaf();
  await ask(api.url);
  const waiting = (): Promise<number> => api.metric("static_api_log_waiting_seconds");
  await eventually({ what: "a log that waits" }, waiting, (seconds) => seconds > 1);
  let lines = 0;
  const reading = (async (): Promise<void> => {
    for await (const text of api.readAll().pipeThrough(new TextDecoderStream())) {
      lines += text.split('"route":"(none)"').length - 1;
    }
  })();
  await eventually({ what: "a log that is taken" }, waiting, (seconds) => seconds < 1);
  await eventually({ what: "every line" }, () => Promise.resolve(lines), (n) => n === requests);
  assertEquals(await api.metric("static_api_log_lost_lines_total"), 0);
  assertEquals(await api.metric("static_api_mail_to_files"), 0);
  await api.end();
  await reading;
});

testWhen(
  { met: Deno.build.os === "linux", reason: "only Linux has a file that is always full" },
  "a public API whose log goes to a full disk, and whose mail becomes files, serves on and says both",
  async () => {
    await using api = await startDeaf({
      file: "/dev/full",
      more: { STATIC_TLS_TERMINATED: "true" },
    });
    await ask(api.url);
    const lost = (): Promise<number> => api.metric("static_api_log_lost_lines_total");
    await eventually({ what: "lost lines" }, lost, (lines) => lines >= requests);
    assertLess(await api.metric("static_api_log_waiting_seconds"), 1);
    assertEquals(await api.metric("static_api_mail_to_files"), 1);
  },
);
