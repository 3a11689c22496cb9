/**
 * One agent's directory that is used from several languages: in turn, and at once through its host.
 */
import { assertEquals } from "@std/assert";
import { ChannelManager, type ConnectOptions } from "../../sdk/mod.ts";
import { createProject } from "../../tools/bundle.ts";
import { inCampaign } from "../support/campaign.ts";
import { stopHost } from "../support/hosts.ts";
import { runCommand } from "../support/mod.ts";
import { node } from "../support/runtime/node.ts";
import type { Stack } from "../support/stack.ts";

export interface OneAgentParts {
  readonly interpreter: string;
  readonly folder: string;
  readonly stack: Stack;
  /** Where the service is, for programs. */
  readonly env: Readonly<Record<string, string>>;
}

/** Says what it has received, and sends. */
const receiveAndSend = `
import sys
from static_sdk import ChannelManager
_, folder, name, token, host = sys.argv
with ChannelManager(None, folder, b"alice", host=host) as alice:
    if name not in alice.channels:
        alice.join_with_token(name, token)
    print(alice.agent_id, alice.receive(name, 30).decode(), flush=True)
    alice.send(name, b"from Python")
`;

export async function useInTurn(t: Deno.TestContext, parts: OneAgentParts): Promise<void> {
  const { stack, folder } = parts;
  const name = "acme/python/in-turn";
  await using bob = new Closing(
    await ChannelManager.connect(optionsOf(stack, `${folder}/bob`, "bob")),
  );
  const channel = await bob.manager.create(name);
  const token = await bob.manager.invite(name);
  const hear = async (): Promise<string> =>
    new TextDecoder().decode(await channel.receive({ timeoutMs: 60_000 }));
  const inPython = async (text: string, host: string): Promise<string> => {
    // An agent that is not a member yet joins first: it does not see what was sent before.
    const [said] = await Promise.all([
      runCommand(parts.interpreter, ["-c", receiveAndSend, `${folder}/alice`, name, token, host], {
        env: parts.env,
      }),
      untilMember(channel).then(() => channel.send(text)),
    ]);
    return said.trim();
  };
  let agentId = "";
  await t.step("one data_dir: Python joins with it and receives", async () => {
    const [id = "", ...words] = (await inPython("one", "off")).split(" ");
    agentId = id;
    assertEquals([words.join(" "), await hear()], ["one", "from Python"]);
  });
  if (inCampaign) {
    await t.step({
      name: `one data_dir: Node goes on where Python was${
        node.met ? "" : ` [skipped: ${node.reason}]`
      }`,
      ignore: !node.met,
      fn: async () => {
        await using project = await createProject();
        const script = await project.bundle(new URL("in_node.mjs", import.meta.url), "node");
        await channel.send("two");
        assertEquals(
          (await runCommand("node", [script, `${folder}/alice`, name], { env: parts.env })).trim(),
          "two",
        );
        assertEquals(await hear(), "from Node");
      },
    });
    await t.step("one data_dir: Python goes on where Node was, as the same agent", async () => {
      assertEquals(await inPython("three", "off"), `${agentId} three`);
      assertEquals(await hear(), "from Python");
    });
  }
  await t.step(
    "one agent at once: a program in Deno and one in Python use it through one host",
    async () => {
      const options = { ...optionsOf(stack, `${folder}/alice`, "alice"), host: "auto" as const };
      try {
        await using alice = new Closing(await ChannelManager.connect(options));
        assertEquals(await inPython("four", "auto"), `${agentId} four`);
        assertEquals(await hear(), "from Python");
        await (await alice.manager.channel(name)).send("from Deno");
        assertEquals([alice.manager.client.agentId, await hear()], [agentId, "from Deno"]);
      } finally {
        await stopHost(`${folder}/alice`);
      }
    },
  );
}

class Closing implements AsyncDisposable {
  constructor(readonly manager: ChannelManager) {}
  [Symbol.asyncDispose](): Promise<void> {
    return this.manager.close();
  }
}

function optionsOf(
  { quicUrl, grpcUrl, api, account, caFile }: Stack,
  dataDir: string,
  identity: string,
): ConnectOptions {
  const endpoint = `${quicUrl},${grpcUrl}`;
  return {
    endpoint,
    apiUrl: api.url,
    apiKey: account.apiKey,
    tls: { caFile },
    dataDir,
    identity,
    cover: "off",
  };
}

/** Alice is in the channel. */
async function untilMember(
  channel: { members(): readonly unknown[]; events(): AsyncIterable<unknown> },
): Promise<void> {
  if (channel.members().length > 1) return;
  for await (const _ of channel.events()) if (channel.members().length > 1) return;
}
