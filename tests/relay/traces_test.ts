/** Traces as a collector gets them: what happened and how long it took, and nothing else. */
import { assert, assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { createLog, openTraces, tracesVariable } from "../../server/mod.ts";
import { StaticClient } from "../../sdk/mod.ts";
import { eventually } from "../support/mod.ts";
import { startStack } from "../support/stack.ts";

interface Told {
  readonly service: string;
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

interface Collector extends AsyncDisposable {
  readonly url: string;
  text(): string;
  spans(): readonly Told[];
}

function startCollector(): Collector {
  const bodies: string[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      bodies.push(await request.text());
      return Response.json({});
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/v1/traces`,
    text: () => bodies.join("\n"),
    spans: () => bodies.flatMap((body) => spansIn(body)),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function spansIn(body: string): readonly Told[] {
  const [{ resource, scopeSpans: [{ spans }] }] = JSON.parse(body).resourceSpans;
  return spans.map((span: Omit<Told, "service">) => ({
    ...span,
    service: resource.attributes[0].value.stringValue,
  }));
}

Deno.test("traces of API and relay belong together and name no agent, channel, account, key or address", async () => {
  await using collector = startCollector();
  const variables = { [tracesVariable]: collector.url };
  await using stack = await startStack({ apiVariables: variables, relayVariables: variables });
  const dataDir = await Deno.makeTempDir({ prefix: "static-traces-" });
  await using opened = new AsyncDisposableStack();
  opened.defer(() => Deno.remove(dataDir, { recursive: true }));
  const { account, api, caFile, quicUrl } = stack;
  const client = await StaticClient.connect({
    endpoint: quicUrl,
    apiUrl: api.url,
    apiKey: account.apiKey,
    tls: { caFile },
    dataDir,
    identity: new TextEncoder().encode("alice"),
  });
  opened.defer(() => client.close());
  const channel = await client.createChannel("acme/ops/traced");
  await channel.send("a secret word");
  const traceOfStranger = "0123456789abcdef0123456789abcdef";
  const stray = await api.call("GET", "/stray-path?query=stray-query", {
    headers: { traceparent: `00-${traceOfStranger}-0123456789abcdef-01` },
  });
  assertEquals(stray.status, 404);

  const lease = "POST /internal/v1/leases";
  const spans = await eventually(
    { what: "spans of a message, of a lease on both sides, and of the stray" },
    () => Promise.resolve(collector.spans()),
    (spans) =>
      spans.some(({ name }) => name === "SendMessage") &&
      spans.some(({ name }) => name === "GET (none)") &&
      spans.filter(({ name }) => name === lease).length >= 2,
  );
  const calls = spans.filter(({ name, kind }) => name === lease && kind === 3);
  const answers = spans.filter(({ name, kind }) => name === lease && kind === 2);
  const joined = answers.filter(({ parentSpanId, traceId }) =>
    calls.some((call) => call.spanId === parentSpanId && call.traceId === traceId)
  );
  assertNotEquals(joined, []);
  assert(calls.every(({ service }) => service === "static-relay"));
  assert(answers.every(({ service }) => service === "static-api"));
  assertEquals(
    spans.filter((span) => BigInt(span.endTimeUnixNano) < BigInt(span.startTimeUnixNano)),
    [],
  );
  const secrets = [
    client.agentId,
    account.id,
    account.keyId,
    account.apiKey,
    account.email,
    "acme",
    "traced",
    "127.0.0.1",
    "localhost",
    "secret word",
    "alice",
    "stray-",
    traceOfStranger,
  ];
  const text = collector.text();
  assertEquals(secrets.filter((secret) => text.includes(secret)), []);
});

Deno.test("a flood of requests costs a bounded number of spans", async () => {
  await using collector = startCollector();
  const log = createLog({ write: () => {}, nowMs: Date.now });
  const traces = openTraces("flooded", log, collector.url);
  assert(traces !== undefined);
  for (let i = 0; i < 5_000; i++) traces.begin("server").end("Flood", {}, false);
  await traces.close();
  assertEquals(collector.spans().length, 2_000);
});

Deno.test("a collector that is away is logged once, and requests go on", async () => {
  const lines: string[] = [];
  const log = createLog({ write: (line) => lines.push(line), nowMs: Date.now });
  const collector = startCollector();
  const traces = openTraces("alone", log, collector.url);
  assert(traces !== undefined);
  await collector[Symbol.asyncDispose]();
  for (let i = 0; i < 2; i++) {
    traces.begin("server", "no traceparent").end("Lost", {}, true);
    await traces.close();
  }
  assertEquals(lines.map((line) => JSON.parse(line).event), ["traces_not_sent"]);
});

Deno.test("without an address there are no traces; a wrong one is refused and not repeated", () => {
  const log = createLog({ write: () => {}, nowMs: Date.now });
  assertEquals(openTraces("off", log, ""), undefined);
  for (const url of ["collector:4318", "file:///dev/null", "http://user:hidden@127.0.0.1/"]) {
    const error = assertThrows(() => openTraces("wrong", log, url), Error, tracesVariable);
    assert(!error.message.includes(url) && !error.message.includes("hidden"));
  }
});
