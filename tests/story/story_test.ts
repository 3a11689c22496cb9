// One scenario with a really running relay and API in Deno, and all runtimes together in one
// channel. A campaign has it in every runtime, with the npm package as it is packed, more messages,
// and a relay that dies.
import { assertEquals, assertGreater } from "@std/assert";
import { ChannelManager } from "../../sdk/mod.ts";
import { createProject } from "../../tools/bundle.ts";
import { inCampaign, tried } from "../support/campaign.ts";
import { chromium, runInChromium } from "../support/runtime/chromium.ts";
import { node, runInNode } from "../support/runtime/node.ts";
import { runTests, type RuntimeResult } from "../support/runtime/suite.ts";
import { installPackage, packageTools } from "../support/runtime/npm_package.ts";
import { shareStack } from "../support/shared_stack.ts";
import { type SharedStack, startStack } from "../support/stack.ts";
import { testWhen } from "../support/mod.ts";
import { createStory, type StoryTarget } from "./story.ts";
import { until } from "../support/scenario/stage.ts";

/** Each way; a free account has 10,000 in a month. */
const messages = inCampaign ? 4_000 : 50;

function assertPassed(results: readonly RuntimeResult[]): void {
  assertEquals(
    results.filter(({ outcome }) => outcome === "failed").map(({ name, text }) =>
      `${name}: ${text}`
    ),
    [],
  );
  assertGreater(results.length, 0);
}

function targetOf(
  { api, account, caFile }: SharedStack,
  more: Omit<StoryTarget, "options"> & {
    readonly endpoint: string;
    readonly options?: Partial<StoryTarget["options"]>;
  },
): StoryTarget {
  const { endpoint, ...target } = more;
  const options = {
    endpoint,
    apiKey: account.apiKey,
    apiUrl: api.url,
    tls: { caFile },
    ...more.options,
  };
  return { ...target, options };
}

async function temporaryFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await Deno.makeTempDir({ prefix: "static-story-" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

Deno.test("the story in Deno, over QUIC and over the gRPC stream Session", async (t) => {
  const stack = await shareStack();
  await using folder = await temporaryFolder();
  const dataDir = folder.path;
  await t.step(`over QUIC, ${messages} messages each way`, async () => {
    const play = {
      dataDir,
      endpoint: stack.quicUrl,
      label: "deno-quic",
      messages,
      transport: "quic",
    };
    assertPassed(await runTests(createStory(ChannelManager.connect, targetOf(stack, play))));
  });
  await t.step("over the gRPC stream Session", async () => {
    const play = {
      dataDir,
      endpoint: stack.grpcUrl,
      label: "deno-grpc",
      messages: 50,
      transport: "grpc",
    };
    assertPassed(await runTests(createStory(ChannelManager.connect, targetOf(stack, play))));
  });
  if (inCampaign) {
    await t.step(
      "the relay is killed in the middle, and nothing is lost or repeated",
      () => killInTheMiddle(dataDir),
    );
  }
  tried(`${messages} messages each way in Deno`);
});

async function killInTheMiddle(dataDir: string): Promise<void> {
  await using stack = await startStack();
  const play = { dataDir, endpoint: stack.quicUrl, label: "kill", messages: 0, transport: "quic" };
  const { options } = targetOf(stack, play);
  const connect = (identity: string): Promise<ChannelManager> =>
    ChannelManager.connect({
      ...options,
      identity,
      dataDir: `${dataDir}/kill-${identity}`,
      cover: { mode: "off" },
    });
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
}

/** Programs that Node and a page play. */
interface Programs extends AsyncDisposable {
  readonly inNode: string;
  readonly inPage: string;
}

/** Packing takes long: outside of campaigns Node has the same code from its sources. */
async function makePrograms(): Promise<Programs> {
  const project = await (inCampaign ? installPackage() : createProject());
  const outside = inCampaign ? ["static-sdk"] : [];
  return {
    inNode: await project.bundle(new URL("story_node.ts", import.meta.url), "node", outside),
    inPage: await project.bundle(new URL("story_browser.ts", import.meta.url), "browser"),
    [Symbol.asyncDispose]: () => project[Symbol.asyncDispose](),
  };
}

/** Of Node in its present form. */
const nodeTools = inCampaign ? packageTools : node;
const nodeAndChromium = {
  met: nodeTools.met && chromium.met,
  reason: `${nodeTools.reason}, or ${chromium.reason}`,
};

testWhen(nodeAndChromium, "Deno, Node and Chromium in one channel", async (t) => {
  const stack = await shareStack();
  await using folder = await temporaryFolder();
  await using programs = await makePrograms();
  if (inCampaign) await playEverywhere(t, stack, programs, folder.path);
  await meet(stack, programs, folder.path);
});

async function playEverywhere(
  t: Deno.TestContext,
  stack: SharedStack,
  { inNode, inPage }: Programs,
  dataDir: string,
): Promise<void> {
  const pinned = { certificateHashes: [await stack.certificateHash()] };
  const [messages, messagesOfPage] = [2_000, 1_000];
  const page = { dataDir: "story", messages: messagesOfPage };
  const overWebTransport = targetOf(stack, {
    ...page,
    endpoint: stack.quicUrl,
    label: "page-webtransport",
    transport: "webtransport",
    options: { tls: pinned },
  });
  const overCells = targetOf(stack, {
    ...page,
    endpoint: stack.grpcUrl,
    label: "page-cells",
    transport: "cells",
    options: { transport: "grpc", tls: {} },
  });
  const overGrpc = targetOf(stack, {
    dataDir,
    endpoint: stack.grpcUrl,
    label: "node",
    messages,
    transport: "grpc",
  });
  await t.step("in Node, with the npm package as it is packed, over the gRPC stream", async () => {
    assertPassed(JSON.parse(await runInNode(inNode, JSON.stringify({ target: overGrpc }))));
  });
  await t.step("in Chromium, over WebTransport and without it", async () => {
    assertPassed(await runPage(inPage, [{ target: overWebTransport }, { target: overCells }]));
  });
  tried(`${messages} messages each way in Node, ${messagesOfPage} in Chromium`);
}

async function meet(
  { api, account, caFile, quicUrl }: SharedStack,
  { inNode, inPage }: Programs,
  dataDir: string,
): Promise<void> {
  const name = "acme/story/meeting";
  const owner = await ChannelManager.connect({
    endpoint: quicUrl,
    apiKey: account.apiKey,
    apiUrl: api.url,
    tls: { caFile },
    dataDir: `${dataDir}/owner`,
    identity: "owner",
    cover: { mode: "off" },
  });
  await owner.create(name);
  // The page and Node have nothing but a link: no account, no address, no certificate.
  const guest = async (): Promise<unknown> => ({
    link: await owner.inviteLink(name, { guest: true }),
    name,
  });
  const node = { target: { dataDir, label: "guest in node" }, guest: await guest() };
  const playing = Promise.all([
    runInNode(inNode, JSON.stringify(node)).then((text) => JSON.parse(text)),
    runPage(inPage, [{
      target: { dataDir: "story", label: "guest in page" },
      guest: await guest(),
    }]),
  ]);
  await host(owner, name);
  for (const results of await playing) {
    assertPassed(results);
    for (const { name, text } of results) console.log(`${name}: ${text}`);
  }
  await owner.close();
}

/** Greets the two guests, asks, hears both answers and sends them home. */
async function host(owner: ChannelManager, name: string): Promise<void> {
  const hear = async (count: number): Promise<string[]> => {
    const heard: string[] = [];
    while (heard.length < count) {
      const payload = await owner.receive(name, { timeoutMs: 60_000 });
      if (payload === undefined) throw new Error(`only ${heard.join()} in time`);
      heard.push(new TextDecoder().decode(payload));
    }
    return heard.sort();
  };
  assertEquals(await hear(2), ["hello from guest in node", "hello from guest in page"]);
  await owner.send(name, "ask how are you");
  assertEquals(await hear(2), [
    "guest in node heard: how are you",
    "guest in page heard: how are you",
  ]);
  await owner.send(name, "go");
  assertEquals((await owner.channel(name)).members().length, 3);
}

async function runPage(bundle: string, plays: readonly unknown[]): Promise<RuntimeResult[]> {
  const played = `${bundle}.${plays.length}.mjs`;
  const code = `globalThis.plays = ${JSON.stringify(plays)};\n${await Deno.readTextFile(bundle)}`;
  await Deno.writeTextFile(played, code);
  return JSON.parse(await runInChromium(played, "--ignore-certificate-errors"));
}
