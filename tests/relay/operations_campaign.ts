// The operations suite over every other way to the relay, which runs in this process; clients run
// where their transport lives.
import { tried } from "../support/campaign.ts";
import { installNodePeers, node } from "../support/http2/node_peers.ts";
import { createProject } from "../../tools/bundle.ts";
import { chromium, runInChromium } from "../support/runtime/chromium.ts";
import type { RuntimeResult } from "../support/runtime/suite.ts";
import { runCommand, testWhen } from "../support/mod.ts";
import { certificateHash } from "../support/relay/deno_clients.ts";
import { report, untilEmpty } from "./operations_run.ts";
import { operationCount } from "./operations_suite.ts";
import { startProxyProcess } from "../support/relay/proxy_process.ts";
import { startTestRelay, testOrigin } from "../support/relay/test_relay.ts";

type Kinds = readonly (readonly [kind: string, name: string])[];

const kinds: Kinds = [["typed", "typed calls"], ["session", "the Session stream"], [
  "cells",
  "CellUp and CellDown",
]];

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
  const bundle = await project.bundle(
    new URL("operations_node.ts", import.meta.url),
    "node",
    outside,
  );
  const script = `${folder}/operations_${crypto.randomUUID()}.mjs`;
  await Deno.copyFile(bundle, script);
  return {
    run: async (way, { port, certFile }, kinds) => {
      const runs: NodeRun[] = [];
      for (const [kind, name] of kinds) {
        const printed = await runCommand("node", [
          script,
          String(port),
          certFile,
          testOrigin,
          kind,
        ]);
        runs.push({ name: `${name}, ${way}`, results: JSON.parse(printed) });
      }
      return runs;
    },
    [Symbol.asyncDispose]: () => Deno.remove(script),
  };
}

testWhen(chromium, "operations over WebTransport, from Chromium", async (t) => {
  await using relay = await startTestRelay();
  await using project = await createProject();
  const bundle = await project.bundle(new URL("operations_browser.ts", import.meta.url), "browser");
  const settings = {
    port: relay.edge.quicPort,
    origin: testOrigin,
    certificateHash: [...await certificateHash(relay.certificate.cert)],
  };
  const code = `globalThis.relayUnderTest = ${JSON.stringify(settings)};\n${await Deno.readTextFile(
    bundle,
  )}`;
  await Deno.writeTextFile(bundle, code);
  await report(t, JSON.parse(await runInChromium(bundle)));
  await untilEmpty(relay);
  tried(`${operationCount} operations from Chromium`);
});

testWhen(
  node,
  "operations over gRPC and Connect from Node, directly and through the stand-alone proxy",
  async (t) => {
    await using suite = await prepareNode();
    await using relay = await startTestRelay();
    await using file = await writeCertificate(relay.certificate.cert);
    {
      await using proxy = await startProxyProcess({
        quicPort: relay.edge.quicPort,
        ca: relay.certificate.cert,
      });
      const runs = await Promise.all([
        suite.run("directly", { port: relay.edge.grpcPort, certFile: file.path }, kinds),
        suite.run("through the proxy", proxy, kinds),
      ]);
      for (const { name, results } of runs.flat()) await t.step(name, (t) => report(t, results));
      tried(`${operationCount} operations in ${runs.flat().length} ways from Node`);
    }
    await untilEmpty(relay);
  },
);

interface TemporaryFile extends AsyncDisposable {
  readonly path: string;
}

async function writeCertificate(cert: string): Promise<TemporaryFile> {
  const path = await Deno.makeTempFile({ suffix: ".pem" });
  await Deno.writeTextFile(path, cert);
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path) };
}
