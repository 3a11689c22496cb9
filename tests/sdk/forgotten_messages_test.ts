// A running agent on a real relay, and a thief that copies its directory: what was read cannot be
// read again from the disk.
import { assertEquals } from "@std/assert";
import { ChannelManager, StaticClient } from "../../sdk/mod.ts";
import { platform } from "../../sdk/platform/deno.ts";
import { openDirectoryStore } from "../../sdk/platform/directory_store.ts";
import { type Agent, connectAgent, storedChannel } from "../../sdk/testing/agents.ts";
import { copyRunning } from "../support/stolen_store.ts";
import { eventually } from "../support/eventually.ts";
import { openWith } from "../support/scenario/reading_thief.ts";
import { read } from "../support/scenario/stage.ts";
import { shareStack } from "../support/shared_stack.ts";

const name = "acme/forgetting/room";
const count = 40;

/** Places of the period file that hold one. */
async function secretsOf(directory: string): Promise<string[]> {
  const period = await Deno.readFile(`${directory}/period`);
  return [period.subarray(0, 4096), period.subarray(4096)].filter((place) =>
    place.some((byte) => byte !== 0)
  )
    .map((place) => place.toHex());
}

Deno.test("a copy of a running agent's directory opens every message that it has read, and none when the period has ended", async () => {
  const stack = await shareStack();
  await using opened = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "static-forgetting-" });
  opened.defer(() => Deno.remove(folder, { recursive: true }));
  const { api, account: { apiKey }, caFile, quicUrl } = stack;
  const reach = {
    endpoint: quicUrl,
    apiUrl: api.url,
    apiKey,
    tls: { caFile },
    cover: { mode: "off" } as const,
  };
  let endPeriod: (() => void) | undefined;
  const member = async (identity: string): Promise<{ agent: Agent; manager: ChannelManager }> => {
    const agent = await connectAgent({ ...reach, dataDir: `${folder}/${identity}`, identity }, {
      ...platform,
      openStore: (directory, options) =>
        openDirectoryStore(directory, options, (parts) => {
          if (parts.periods === undefined || identity !== "bob") return parts;
          const after = (_ms: number, run: () => void): () => void => {
            endPeriod = run;
            return () => endPeriod = undefined;
          };
          return { ...parts, periods: { ...parts.periods, after } };
        }),
    });
    const manager = await ChannelManager.over(agent);
    opened.defer(() => manager.close());
    return { agent, manager };
  };
  const [alice, bob] = [await member("alice"), await member("bob")];
  const room = await alice.manager.create(name);
  await bob.manager.joinWithToken(name, await alice.manager.invite(name));
  const channel = await StaticClient.over(bob.agent).channel(name);
  const messages: Uint8Array[] = [];
  let last = 0;
  bob.agent.parts.session.onNotice(({ operation, body }) => {
    if (operation !== "DeliverMessage") return;
    messages.push(body.ciphertext);
    last = body.sequence;
  });
  for (let i = 0; i < count; i++) {
    if (i === count / 2) await room.rotate();
    await alice.manager.send(name, `secret ${i}`);
    assertEquals(await read(channel, 1), [`secret ${i}`]);
  }
  await eventually({ what: "the last message is acknowledged" }, async () => {
    return (await storedChannel(bob.agent.parts.store, channel.id)).position?.sequence ?? 0;
  }, (position) => position >= last);
  const steal = async (copy: string): Promise<number> => {
    await copyRunning(`${folder}/bob`, `${folder}/${copy}`);
    return (await openWith(`${folder}/${copy}`, {
      channelId: channel.id,
      identity: "bob",
      messages,
    })).size;
  };
  assertEquals(
    [messages.length, await steal("early")],
    [count, count],
    "a control: the thief can read",
  );
  const before = await secretsOf(`${folder}/bob`);
  endPeriod?.();
  await eventually(
    { what: "the period has ended" },
    () => secretsOf(`${folder}/bob`),
    (secrets) => {
      return secrets.length === 1 && secrets[0] !== before[0];
    },
  );
  assertEquals(await steal("late"), 0);
  await alice.manager.send(name, "next");
  assertEquals(await read(channel, 1), ["next"], "the agent goes on");
});
