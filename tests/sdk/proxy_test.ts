/**
 * Proxies of the environment mean the same in Deno and in Node, with a real relay, a real API and a
 * real proxy.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { createProject } from "../../tools/bundle.ts";
import { inCampaign } from "../support/campaign.ts";
import { startConnectProxy } from "../support/connect_proxy.ts";
import { testWhen } from "../support/mod.ts";
import { node } from "../support/runtime/node.ts";
import { shareStack } from "../support/shared_stack.ts";
import type { SharedStack } from "../support/stack.ts";
import type { ProxiedAgent } from "./proxied_agent.ts";

interface Runtime {
  readonly transport: string;
  readonly command: string;
  readonly args: readonly string[];
}

const inDeno: Runtime = {
  transport: "grpc",
  command: Deno.execPath(),
  args: [
    "run",
    "-A",
    "--no-check",
    "--quiet",
    new URL("proxied_deno.ts", import.meta.url).pathname,
  ],
};

async function run(
  { command, args }: Runtime,
  stack: SharedStack,
  variables: Record<string, string>,
): Promise<string> {
  const { account: { apiKey }, api, caFile, grpcUrl } = stack;
  const agent: ProxiedAgent = {
    options: { endpoint: grpcUrl, transport: "grpc", tls: { caFile }, apiKey, apiUrl: api.url },
    caCert: await Deno.readTextFile(caFile),
    url: `${grpcUrl}/health`,
  };
  const { stdout, stderr } = await new Deno.Command(command, {
    args: [...args, JSON.stringify(agent)],
    env: { ...variables, DENO_NO_UPDATE_CHECK: "1" },
  }).output();
  const [said = "", errors = ""] = [stdout, stderr].map((bytes) =>
    new TextDecoder().decode(bytes).trim()
  );
  return said === "" ? errors : said;
}

async function check(runtime: Runtime): Promise<void> {
  const stack = await shareStack();
  const { port } = new URL(stack.grpcUrl);
  await using proxy = startConnectProxy();
  const address = `127.0.0.1:${proxy.port}`;
  const asked = (): string[] => [...new Set(proxy.asked.splice(0))];
  const done = `${runtime.transport} 200`;
  // Plain HTTP to the API on this machine is not given to HTTP_PROXY.
  const named = { HTTPS_PROXY: `http://ann:secret@${address}`, HTTP_PROXY: `http://${address}` };
  assertEquals(await run(runtime, stack, named), done);
  assertEquals(asked(), [`CONNECT localhost:${port} HTTP/1.1 Basic ${btoa("ann:secret")}`]);
  if (!inCampaign) return;
  assertEquals(await run(runtime, stack, { https_proxy: address }), done);
  assertEquals(asked(), [`CONNECT localhost:${port} HTTP/1.1`]);
  for (const name of ["NO_PROXY", "no_proxy"]) {
    assertEquals(await run(runtime, stack, { ...named, [name]: "example.com, localhost" }), done);
    assertEquals(asked(), []);
  }
  assertStringIncludes(
    await run(runtime, stack, { HTTPS_PROXY: "http://127.0.0.1:9" }),
    "Cannot reach the relay",
  );
}

Deno.test("in Deno, TCP to the relay and HTTPS go through the proxy of the environment, and plain HTTP never", async () => {
  await check(inDeno);
});

testWhen(
  node,
  "in Node, TCP to the relay and HTTPS go through the proxy of the environment, and plain HTTP never",
  async () => {
    await using project = await createProject();
    const bundle = await project.bundle(new URL("proxied_node.ts", import.meta.url), "node");
    await check({ transport: "grpc", command: "node", args: [bundle] });
  },
);
