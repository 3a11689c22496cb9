/** Channels that an earlier version made get versions of owners, also while a member sleeps. */
import { assert, assertEquals } from "@std/assert";
import type { ChannelManager } from "../../sdk/mod.ts";
import { until } from "../support/scenario/stage.ts";
import { fixtures } from "./fixture.ts";
import { OpenedFixture } from "./opened_fixture.ts";

const deploy = "acme/ops/deploy";
/** The format of stores that has them. */
const withVersions = 5;

const older = (await fixtures()).filter(({ storeFormat }) => storeFormat < withVersions);

async function receive(manager: ChannelManager): Promise<string> {
  return new TextDecoder().decode(await manager.receive(deploy, { timeoutMs: 20_000 }));
}

for (const { name, path } of older) {
  Deno.test(`${name}: its channel gets versions of owners by itself, and a member that slept through it follows`, async () => {
    await using opened = await OpenedFixture.unpack(path);
    await opened.start();
    opened.hurried = true;
    const chainOf = async (manager: ChannelManager): Promise<number | undefined> =>
      (await opened.insides.get(manager)?.open(deploy))?.membership.group.binding.chain?.version;

    const carol = await opened.client("carol");
    await carol.joinChannel(deploy);
    await carol.close();
    const sleeper = await opened.manager("carol");
    await until("carol's leaf knows them", async () => {
      const { current } = (await opened.insides.get(sleeper)?.open(deploy))?.membership.group ?? {};
      return current?.tree.leaf(current.ownLeaf)?.node.capabilities.extensions.includes(0xf5c2) === true;
    });
    assertEquals(await chainOf(sleeper), undefined, "the owner is not there");
    await sleeper.close();

    const [bob, alice] = [await opened.manager("bob"), await opened.manager("alice")];
    for (const manager of [alice, bob]) {
      await until("the versions have begun", async () => await chainOf(manager) === 1);
    }
    const again = await opened.manager("carol");
    await until("carol follows", async () => await chainOf(again) === 1);
    const channels = await Promise.all([alice, bob, again].map((manager) => manager.channel(deploy)));
    await until("all agree", () => new Set(channels.map((channel) => channel.fingerprint())).size === 1);
    assert(channels.every((channel) => channel.health().issues.every(({ kind }) => kind !== "rejoined")));
    await again.send(deploy, "awake");
    for (const manager of [alice, bob]) {
      while (await receive(manager) !== "awake");
    }
  });
}
