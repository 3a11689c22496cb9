// One suite, every way to the relay. The relay runs in this process; clients run where their transport lives.
import { assert, assertEquals } from "@std/assert";
import { installNodePeers, node } from "../support/http2/node_peers.ts";
import { createProject } from "../../tools/bundle.ts";
import { chromium, runInChromium } from "../support/runtime/chromium.ts";
import { runTests, type RuntimeResult } from "../support/runtime/suite.ts";
import { runCommand, testWhen } from "../support/mod.ts";
import type { Relay } from "../support/relay/agent.ts";
import type { CellClient } from "../support/relay/cell_client.ts";
import { certificateHash, connectTransport, openQuic } from "../support/relay/deno_clients.ts";
import { createOperations, operationCount } from "./operations_suite.ts";
import { startProxyProcess } from "./proxy_process.ts";
import { startTestRelay, testOrigin, type TestRelay } from "../support/relay/test_relay.ts";
import { TypedClient } from "../support/relay/typed_client.ts";

/** Every test of the suite as a step, wherever it ran. */
async function report(t: Deno.TestContext, results: readonly RuntimeResult[]): Promise<void> {
  assertEquals(results.length, operationCount);
  for (const { name, outcome, text } of results) {
    await t.step(name, () => assertEquals(outcome, "passed", text));
  }
}

async function runHere(t: Deno.TestContext, relay: Relay): Promise<void> {
  await report(t, await runTests(createOperations(relay)));
}

type Kinds = readonly (readonly [kind: string, name: string])[];

const kinds: Kinds = [["typed", "typed calls"], ["session", "the Session stream"], ["cells", "CellUp and CellDown"]];
/** The proxy is the relay's own edge in front of another connection, so by default it shows one kind. */
const proxied = Deno.env.get("STATIC_STRESS") === "1" ? kinds : kinds.slice(0, 1);

interface NodeRun {
  readonly name: string;
  readonly results: readonly RuntimeResult[];
}

interface NodeSuite extends AsyncDisposable {
  /** Runs the suite in Node against a gRPC port, once for each of these kinds of calls. */
  run(way: string, target: { port: number; certFile: string }, kinds: Kinds): Promise<NodeRun[]>;
}

async function prepareNode(): Promise<NodeSuite> {
  const folder = await installNodePeers();
  await using project = await createProject();
  const outside = ["@connectrpc/connect", "@connectrpc/connect-node", "@bufbuild/protobuf"];
  const bundle = await project.bundle(new URL("operations_node.ts", import.meta.url), "node", outside);
  const script = `${folder}/operations_${crypto.randomUUID()}.mjs`;
  await Deno.copyFile(bundle, script);
  return {
    run: async (way, { port, certFile }, kinds) => {
      const runs: NodeRun[] = [];
      for (const [kind, name] of kinds) {
        const printed = await runCommand("node", [script, String(port), certFile, testOrigin, kind]);
        runs.push({ name: `${name}, ${way}`, results: JSON.parse(printed) });
      }
      return runs;
    },
    [Symbol.asyncDispose]: () => Deno.remove(script),
  };
}

/** Asks until the relay holds nothing of clients that are gone. */
async function untilEmpty({ edge }: TestRelay): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const { cellStreams, cellLinks, quic, grpc } = edge.stats();
    if (cellStreams + cellLinks + quic.connections + grpc.streams === 0) return;
    assert(performance.now() < deadline, `left behind: ${JSON.stringify(edge.stats())}`);
    // wait: for the ends of connections to be noticed, with a deadline
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

Deno.test("operations over QUIC", async (t) => {
  await using relay = await startTestRelay();
  const open = (): Promise<CellClient> => openQuic(relay.edge.quicPort, relay.certificate.cert);
  await runHere(t, { open, origin: testOrigin });
  await untilEmpty(relay);
});

testWhen(chromium, "operations over WebTransport, from Chromium", async (t) => {
  await using relay = await startTestRelay();
  await using project = await createProject();
  const bundle = await project.bundle(new URL("operations_browser.ts", import.meta.url), "browser");
  const settings = {
    port: relay.edge.quicPort,
    origin: testOrigin,
    certificateHash: [...await certificateHash(relay.certificate.cert)],
  };
  const code = `globalThis.relayUnderTest = ${JSON.stringify(settings)};\n${await Deno.readTextFile(bundle)}`;
  await Deno.writeTextFile(bundle, code);
  await report(t, JSON.parse(await runInChromium(bundle)));
  await untilEmpty(relay);
});

testWhen(node, "operations over gRPC and Connect from Node, directly and through the stand-alone proxy", async (t) => {
  await using suite = await prepareNode();
  await using relay = await startTestRelay();
  await using file = await writeCertificate(relay.certificate.cert);
  {
    await using proxy = await startProxyProcess({ quicPort: relay.edge.quicPort, ca: relay.certificate.cert });
    const runs = await Promise.all([
      suite.run("directly", { port: relay.edge.grpcPort, certFile: file.path }, kinds),
      suite.run("through the proxy", proxy, proxied),
    ]);
    for (const { name, results } of runs.flat()) await t.step(name, (t) => report(t, results));
  }
  await untilEmpty(relay);
});

Deno.test("operations over typed calls by the Connect protocol", async (t) => {
  await using relay = await startTestRelay();
  using http = connectTransport(relay.edge.grpcPort, relay.certificate.cert);
  const open = (): Promise<TypedClient> => Promise.resolve(new TypedClient(http.transport));
  await runHere(t, { open, origin: testOrigin });
});

interface TemporaryFile extends AsyncDisposable {
  readonly path: string;
}

async function writeCertificate(cert: string): Promise<TemporaryFile> {
  const path = await Deno.makeTempFile({ suffix: ".pem" });
  await Deno.writeTextFile(path, cert);
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path) };
}
