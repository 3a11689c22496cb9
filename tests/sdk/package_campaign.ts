// The npm package as a stranger gets it: packed, unpacked beside its dependencies, type-checked,
// bundled, and its README run. A release runs it.
import { assert, assertEquals, assertGreater } from "@std/assert";
import { gzip } from "node:zlib";
import { promisify } from "node:util";
import { bundle } from "../../tools/bundle.ts";
import { tried } from "../support/campaign.ts";
import { runCommand, testWhen } from "../support/mod.ts";
import { installPackage, packageTools } from "../support/runtime/npm_package.ts";
import { compilers, compileWith, typescripts } from "../support/runtime/typescript.ts";
import { startStack } from "../support/stack.ts";

/**
 * Lines that are marked as an error must be one: types that had become `any` would let them pass.
 */
const consumerScript = `
import { type Channel, StaticClient, StaticError } from "static-sdk";

export async function say(channel: Channel): Promise<Uint8Array> {
  await channel.send("hello");
  // @ts-expect-error a channel takes bytes or text
  await channel.send(5);
  for await (const payload of channel.messages()) return payload;
  return new Uint8Array(0);
}

const endpoint = "quic://127.0.0.1:9";
try {
  await StaticClient.connect({ endpoint, transport: "quic", dataDir: "data", identity: "x", token: "none" });
} catch (error) {
  if (error instanceof StaticError) console.log(error.code, error.message);
}
`;
/** Every part of the surface, as a program uses it. */
const typedScript = `
import { type Channel, type Envelope, RemoteError, StaticClient } from "static-sdk";

export async function use(channel: Channel): Promise<Uint8Array> {
  await channel.send({ json: 1 }, { to: channel.members() });
  // @ts-expect-error a channel takes bytes, text or JSON
  await channel.send(5);
  const reply = await channel.request("x", { to: "id" });
  // @ts-expect-error several members are asked with requestAll
  channel.request("x", { to: ["a", "b"] });
  for await (const answer of channel.requestAll("x", { to: ["a", "b"] })) if (answer.ok) answer.reply.json();
  channel.serve((request) => {
    if (request.attempt > 1) throw new RemoteError(reply.text());
    return { json: 1 };
  });
  for await (const event of channel.events()) if (event.type === "member_joined") console.log(event.member.identity);
  const envelope: Envelope = await channel.receiveEnvelope();
  if (envelope.to?.includes("an id from a file")) return new Uint8Array(0);
  return envelope.bytes;
}

export async function transport(): Promise<"quic" | "webtransport" | "grpc" | "cells" | undefined> {
  const client = await StaticClient.connect({ dataDir: "data", identity: "me" });
  const name: string = "acme/ops/deploy";
  if (client.welcomes.includes(name) && !client.channels.includes(name)) await client.joinChannel(name);
  // @ts-expect-error the list is the library's
  client.channels.push(name);
  return client.transport;
}
`;
/** Wrong types must be seen to be wrong, here too. */
const a2aScript = `
import { ClientFactory } from "@a2a-js/sdk/client";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import { StaticClient } from "static-sdk";
import { ChannelTransportFactory, serveA2A } from "static-sdk/a2a";

export async function use(agent: A2ARequestHandler): Promise<void> {
  const client = await StaticClient.connect({ dataDir: "data", identity: "me" });
  const serving = serveA2A(await client.channel("acme/ops/deploy"), agent, { concurrency: 3 });
  await serving.stop();
  new ClientFactory({ transports: [new ChannelTransportFactory(client, { timeoutMs: 1000 })] });
  // @ts-expect-error a channel is needed
  serveA2A(client, agent);
}
`;
/**
 * Compressed, with the WASM modules, messages with content, recovery, links, owners with a policy,
 * members that lapse, and the letters that look alike (11 KiB). The rooms of a channel and what
 * carries them out are two fifths of it: 40 KiB more than the one class that they replaced. Badges,
 * receipts and the layer of Welcomes have 15 KiB; X-Wing itself is loaded where it is needed.
 */
const maxBrowserBytes = 296 * 1024;

/**
 * Returns a file and those that it loads at once; what is imported when it is needed is not among
 * them.
 */
async function loadedBy(folder: string, file: string): Promise<string[]> {
  const code = await Deno.readTextFile(`${folder}/${file}`);
  const others = Array.from(
    code.matchAll(/(?:from|import)"\.\/([^"]+)"/g),
    ([, other = ""]) => other,
  );
  return [code, ...(await Promise.all(others.map((other) => loadedBy(folder, other)))).flat()];
}

/** Every script of the README with the output that is printed below it. */
function examples(readme: string): { readonly script: string; readonly output: string }[] {
  const blocks = readme.matchAll(/```js\n([^]*?)```\s+```text\n([^]*?)```/g);
  return Array.from(blocks, ([, script = "", output = ""]) => ({ script, output }));
}

testWhen(packageTools, "the npm package works as its README says", async (t) => {
  await using opened = await installPackage([...typescripts, "@types/node"]);
  const { folder } = opened;
  const manifest = JSON.parse(
    await Deno.readTextFile(`${folder}/node_modules/static-sdk/package.json`),
  );

  await t.step(
    "it is ES modules without side effects, and no dependency of it is built on the user's machine",
    () => {
      assertEquals([manifest.type, manifest.sideEffects, manifest.scripts], [
        "module",
        false,
        undefined,
      ]);
      assertEquals(Object.keys(manifest.imports["#platform"]), ["deno", "browser", "default"]);
      // One of them is native and comes built; none of them is protobuf, which only gRPC servers
      // need.
      const noble = [
        "@noble/ciphers",
        "@noble/curves",
        "@noble/hashes",
        "@noble/post-quantum",
      ];
      assertEquals(Object.keys(manifest.dependencies), [
        ...noble,
        "cborg",
        "classic-level",
        "hash-wasm",
        "ts-mls",
      ]);
      assertEquals(manifest.peerDependenciesMeta, { "@a2a-js/sdk": { optional: true } });
    },
  );

  await t.step(
    "A2A over channels has an entry of its own, whose types refer to the public ones",
    async () => {
      const script =
        'import * as a2a from "static-sdk/a2a"; console.log(a2a.a2aBinding, typeof a2a.serveA2A)';
      const run = ["--no-warnings", "--input-type=module", "-e", script];
      assertEquals(
        await runCommand("node", run, { cwd: folder }),
        "static://bindings/a2a/v1 function\n",
      );
      const sources = { folder: `${folder}/a2a`, files: ["a2a.mts"] };
      await Deno.mkdir(sources.folder);
      await Deno.writeTextFile(`${sources.folder}/a2a.mts`, a2aScript);
      // A2A's own types name those of Node.
      for (const compiler of compilers) {
        await compileWith(compiler, { ...sources, types: ["node"] });
      }
    },
  );

  await t.step("what a browser loads is small and knows neither Node nor Deno", async () => {
    const entry = { text: 'export * from "static-sdk";', folder };
    await bundle({
      entry,
      file: `${folder}/page/browser.js`,
      runtime: "browser",
      target: "chrome115",
      minify: true,
      split: true,
    });
    const files = await loadedBy(`${folder}/page`, "browser.js");
    const code = files.reduce((bytes, file) => bytes + file.length, 0);
    const zipped = (await Promise.all(files.map((file) => promisify(gzip)(file)))).reduce(
      (bytes, file) => bytes + file.length,
      0,
    );
    console.log(`browser bundle: ${code} bytes minified, ${zipped} gzipped`);
    assertGreater(maxBrowserBytes, zipped);
    for (const file of files) assertEquals(/["'](node:[^"']*)|\bDeno\b/.exec(file)?.[0], undefined);
  });

  await t.step(
    "the worker of browsers is a file that needs no other, for pages that allow no blob: addresses",
    async () => {
      const script = 'console.log(import.meta.resolve("static-sdk/browser_worker.js"))';
      const run = ["--no-warnings", "--input-type=module", "-e", script];
      const worker = await Deno.readTextFile(
        new URL((await runCommand("node", run, { cwd: folder })).trim()),
      );
      assertEquals(/\b(import|export)\b|["'](node:[^"']*)|\bDeno\b/.exec(worker)?.[0], undefined);
      // The same that the SDK starts without it.
      const ours = `file://${folder}/node_modules/static-sdk/sdk/gen/browser_worker.js`;
      const { source }: { readonly source: string } = await import(ours);
      assertEquals(worker, source);
    },
  );

  await t.step(
    "its types are one file without our insides, for every TypeScript from 5.0 on",
    async () => {
      const types = await Deno.readTextFile(`${folder}/node_modules/static-sdk/sdk/mod.d.ts`);
      assertEquals(
        /@internal|ChannelRunner|ts-mls|Uint8Array<|^import/m.exec(types)?.[0],
        undefined,
      );
      const sources = { folder: `${folder}/typed`, files: ["typed.mts"] };
      await Deno.mkdir(sources.folder);
      await Deno.writeTextFile(`${sources.folder}/typed.mts`, typedScript);
      for (const compiler of compilers) await compileWith(compiler, sources);
    },
  );

  await t.step("it can be required", async () => {
    const script = 'console.log(typeof require("static-sdk").StaticClient.connect)';
    assertEquals(
      await runCommand("node", ["--no-warnings", "-e", script], { cwd: folder }),
      "function\n",
    );
  });

  await t.step("its types reach the user, and Deno takes its own platform", async () => {
    const consumer = `${folder}/consumer`;
    await Deno.mkdir(consumer);
    await Deno.writeTextFile(`${consumer}/deno.json`, JSON.stringify({ nodeModulesDir: "manual" }));
    await Deno.writeTextFile(`${consumer}/package.json`, JSON.stringify({ type: "module" }));
    await Deno.writeTextFile(`${consumer}/main.ts`, consumerScript);
    await runCommand(Deno.execPath(), ["check", "--quiet", "main.ts"], { cwd: consumer });
    const output = await runCommand(Deno.execPath(), ["run", "-A", "main.ts"], { cwd: consumer });
    assert(/^connection_error .*--unstable-net/.test(output), output);
  });

  await t.step("its scripts run in Node against a real relay and API, twice in a row", async () => {
    await using stack = await startStack();
    const readme = await Deno.readTextFile(`${folder}/node_modules/static-sdk/README.md`);
    const env = {
      STATIC_RELAY_URL: stack.grpcUrl,
      STATIC_API_URL: stack.api.url,
      STATIC_API_KEY: stack.account.apiKey,
      STATIC_CA_FILE: stack.caFile,
    };
    const scripts = examples(readme);
    assertGreater(scripts.length, 2);
    for (const { script, output } of [...scripts, ...scripts]) {
      await Deno.writeTextFile(`${folder}/example.mjs`, script);
      assertEquals(await runCommand("node", ["example.mjs"], { cwd: folder, env }), output);
    }
    tried(`${compilers.length} compilers, ${scripts.length} scripts of the README`);
  });
});
