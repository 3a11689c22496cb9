// One suite, every way to the relay. The relay runs in this process; clients run where their transport lives.
import { assertEquals } from "@std/assert";
import { runTests, type RuntimeResult } from "../runtime/suite.ts";
import type { Relay } from "./agent.ts";
import { CellClient } from "./cell_client.ts";
import { connectTransport, openQuic } from "./deno_clients.ts";
import { upDownCarrier } from "./grpc_carriers.ts";
import { createOperations } from "./operations_suite.ts";
import { startProxyProcess } from "./proxy_process.ts";
import { startTestRelay, type TestRelay } from "./test_relay.ts";
import { TypedClient } from "./typed_client.ts";

/** Every test of the suite as a step, wherever it ran. */
async function report(t: Deno.TestContext, results: readonly RuntimeResult[]): Promise<void> {
  for (const { name, outcome, text } of results) {
    await t.step(name, () => assertEquals(outcome, "passed", text));
  }
}

async function runHere(t: Deno.TestContext, relay: Relay): Promise<void> {
  await report(t, await runTests(createOperations(relay)));
}

/** Runs the suite in Node against a gRPC port. */
async function runInNode(
  t: Deno.TestContext,
  kind: "typed" | "typed-web" | "session",
  target: { port: number; certFile: string; origin: string },
): Promise<void> {
  const folder = await installNodePeers();
  await using project = await createProject();
  const outside = ["@connectrpc/connect", "@connectrpc/connect-node", "@bufbuild/protobuf"];
  const bundle = await project.bundle(new URL("operations_node.ts", import.meta.url), "node", outside);
  const script = `${folder}/operations_${crypto.randomUUID()}.mjs`;
  await Deno.copyFile(bundle, script);
  try {
    const output = await runCommand("node", [script, String(target.port), target.certFile, target.origin, kind]);
    await report(t, JSON.parse(output));
  } finally {
    await Deno.remove(script);
  }
}

/** Asks until the relay holds nothing of clients that are gone. */
async function untilEmpty({ server }: TestRelay): Promise<void> {
  const deadline = performance.now() + 15_000;
  for (;;) {
    const { cellStreams, cellLinks, quic, grpc } = server.stats();
    if (cellStreams + cellLinks + quic.connections + grpc.streams === 0) return;
    assert(performance.now() < deadline, `left behind: ${JSON.stringify(server.stats())}`);
    // wait: for the ends of connections to be noticed, with a deadline
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

Deno.test("operations over QUIC", async (t) => {
  await using relay = await startTestRelay();
  const open = (): Promise<CellClient> => openQuic(relay.server.quicPort, relay.certificate.cert);
  await runHere(t, { open, origin: relay.origin });
  await untilEmpty(relay);
});

testWhen(chromium, "operations over WebTransport, from Chromium", async (t) => {
  await using relay = await startTestRelay();
  await using project = await createProject();
  const bundle = await project.bundle(new URL("operations_browser.ts", import.meta.url), "browser");
  const settings = {
    port: relay.server.quicPort,
    origin: relay.origin,
    certificateHash: [...await certificateHash(relay.certificate.cert)],
  };
  const code = `globalThis.relayUnderTest = ${JSON.stringify(settings)};\n${await Deno.readTextFile(bundle)}`;
  await Deno.writeTextFile(bundle, code);
  await report(t, JSON.parse(await runInChromium(bundle)));
  await untilEmpty(relay);
});

for (const kind of ["typed", "typed-web", "session"] as const) {
  const name = {
    "typed": "typed gRPC calls",
    "typed-web": "typed gRPC-Web calls",
    "session": "the gRPC Session stream",
  };
  testWhen(node, `operations over ${name[kind]}, from Node`, async (t) => {
    await using relay = await startTestRelay();
    await using file = await writeCertificate(relay.certificate.cert);
    await runInNode(t, kind, { port: relay.server.grpcPort, certFile: file.path, origin: relay.origin });
    await untilEmpty(relay);
  });
}

Deno.test("operations over CellUp and CellDown", async (t) => {
  await using relay = await startTestRelay();
  using http = connectTransport(relay.server.grpcPort, relay.certificate.cert);
  const open = (): Promise<CellClient> => Promise.resolve(new CellClient(upDownCarrier(http.transport)));
  await runHere(t, { open, origin: relay.origin });
});

Deno.test("operations over typed calls by the Connect protocol", async (t) => {
  await using relay = await startTestRelay();
  using http = connectTransport(relay.server.grpcPort, relay.certificate.cert);
  const open = (): Promise<TypedClient> => Promise.resolve(new TypedClient(http.transport));
  await runHere(t, { open, origin: relay.origin });
});

for (const kind of ["typed", "session"] as const) {
  testWhen(node, `operations through the stand-alone proxy, ${kind}, from Node`, async (t) => {
    await using relay = await startTestRelay();
    await using proxy = await startProxyProcess({ quicPort: relay.server.quicPort, ca: relay.certificate.cert });
    await runInNode(t, kind, { port: proxy.port, certFile: proxy.certFile, origin: relay.origin });
  });
}

Deno.test("operations through the stand-alone proxy, by CellUp and CellDown", async (t) => {
  await using relay = await startTestRelay();
  await using proxy = await startProxyProcess({ quicPort: relay.server.quicPort, ca: relay.certificate.cert });
  using http = connectTransport(proxy.port, proxy.certificate.cert);
  const open = (): Promise<CellClient> => Promise.resolve(new CellClient(upDownCarrier(http.transport)));
  await runHere(t, { open, origin: relay.origin });
});

interface TemporaryFile extends AsyncDisposable {
  readonly path: string;
}

async function writeCertificate(cert: string): Promise<TemporaryFile> {
  const path = await Deno.makeTempFile({ suffix: ".pem" });
  await Deno.writeTextFile(path, cert);
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path) };
}

async function certificateHash(pem: string): Promise<Uint8Array> {
  const der = Uint8Array.from(atob(pem.replace(/-----[^-]+-----|\s/g, "")), (character) => character.charCodeAt(0));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", der));
}
