// One scenario with a really running relay and API, in every runtime, and all runtimes together in one channel.
import { assertEquals, assertGreater } from "@std/assert";
import { ChannelManager } from "../../sdk/mod.ts";
import { createProject } from "../runtime/bundle.ts";
import { chromium, runInChromium } from "../runtime/chromium.ts";
import { node, runInNode } from "../runtime/node.ts";
import { runTests, type RuntimeResult } from "../runtime/suite.ts";
import { type Stack, startStack } from "../sdk/stack.ts";
import { testWhen } from "../support/mod.ts";
import { createStory, type StoryTarget } from "./story.ts";
import { until } from "./support/stage.ts";

const scale = Deno.env.get("STATIC_STRESS") === "1" ? 10 : 1;

function assertPassed(results: readonly RuntimeResult[]): void {
  assertEquals(results.filter(({ outcome }) => outcome === "failed").map(({ name, text }) => `${name}: ${text}`), []);
  assertGreater(results.length, 0);
}

function targetOf(
  { api, account, caFile }: Stack,
  more: Omit<StoryTarget, "options"> & { readonly endpoint: string; readonly options?: StoryTarget["options"] },
): StoryTarget {
  const { endpoint, ...target } = more;
  const options = { endpoint, apiKey: account.apiKey, apiUrl: api.url, tls: { caFile }, ...more.options };
  return { ...target, options };
}

async function temporaryFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await Deno.makeTempDir({ prefix: "static-story-" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

Deno.test("the story in Deno, over QUIC and over CellUp and CellDown", async () => {
  await using stack = await startStack();
  await using folder = await temporaryFolder();
  const common = { dataDir: folder.path };
  const overQuic = {
    ...common,
    endpoint: stack.quicUrl,
    label: "deno-quic",
    messages: 1000 * scale,
    transport: "quic",
  };
  assertPassed(await runTests(createStory(ChannelManager.connect, targetOf(stack, overQuic))));
  const overCells = { ...common, endpoint: stack.grpcUrl, label: "deno-cells", messages: 50, transport: "cells" };
  assertPassed(await runTests(createStory(ChannelManager.connect, targetOf(stack, overCells))));
});

Deno.test("the relay is killed in the middle of a conversation, and nothing is lost or repeated", async () => {
  await using stack = await startStack();
  await using folder = await temporaryFolder();
  const { options } = targetOf(stack, {
    endpoint: stack.quicUrl,
    dataDir: folder.path,
    label: "kill",
    messages: 0,
    transport: "quic",
  });
  const connect = (identity: string): Promise<ChannelManager> =>
    ChannelManager.connect({ ...options, identity, dataDir: `${folder.path}/${identity}`, cover: { mode: "off" } });
  const name = "acme/story/kill";
  await using alice = await connect("alice");
  await using bob = await connect("bob");
  await alice.create(name);
  await bob.joinWithToken(name, await alice.invite(name));
  const texts = Array.from({ length: 400 }, (_, i) => `message ${i}`);
  const heard: string[] = [];
  const hearing = (async () => {
    for await (const payload of (await bob.channel(name)).messages()) {
      heard.push(new TextDecoder().decode(payload));
      if (heard.length === texts.length) break;
    }
  })();
  const sending = (async () => {
    for (const text of texts) await alice.send(name, text, { timeoutMs: 60_000 });
  })();
  await until("some have arrived", () => heard.length > 50);
  await stack.killRelay();
  await stack.startRelay();
  await Promise.all([sending, hearing]);
  assertEquals(heard, texts);
  assertEquals((await bob.health(name)).missing, []);
});

testWhen(node, "the story in Node, over the gRPC stream", async () => {
  await using stack = await startStack();
  await using folder = await temporaryFolder();
  await using project = await createProject();
  const bundle = await project.bundle(new URL("story_node.ts", import.meta.url), "node");
  const play = {
    dataDir: folder.path,
    endpoint: stack.grpcUrl,
    label: "node",
    messages: 200 * scale,
    transport: "grpc",
  };
  assertPassed(JSON.parse(await runInNode(bundle, JSON.stringify({ target: targetOf(stack, play) }))));
});

testWhen(chromium, "the story in Chromium, over WebTransport and without it", async () => {
  await using stack = await startStack();
  await using project = await createProject();
  const bundle = await project.bundle(new URL("story_browser.ts", import.meta.url), "browser");
  const { apiKey } = stack.account;
  const pinned = { certificateHashes: [await stack.certificateHash()] };
  const common = { apiKey, apiUrl: stack.api.url };
  const plays = [
    {
      target: {
        options: { ...common, endpoint: stack.quicUrl, tls: pinned },
        dataDir: "story",
        label: "page-webtransport",
        messages: 100 * scale,
        transport: "webtransport",
      },
    },
    {
      target: {
        options: { ...common, endpoint: stack.grpcUrl, transport: "grpc", tls: {} },
        dataDir: "story",
        label: "page-cells",
        messages: 30 * scale,
        transport: "cells",
      },
    },
  ];
  const code = `globalThis.plays = ${JSON.stringify(plays)};\n${await Deno.readTextFile(bundle)}`;
  await Deno.writeTextFile(bundle, code);
  assertPassed(JSON.parse(await runInChromium(bundle, "--ignore-certificate-errors")));
});
