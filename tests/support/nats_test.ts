import { assert, assertEquals, assertRejects } from "@std/assert";
import { eventually, natsInstalled, startNats, type TestNats, testWhen } from "./mod.ts";

/** The cluster's leader according to `/jsz` of a node. */
async function metaLeader(
  { ask }: TestNats,
  node: number,
): Promise<{ leader?: string; size?: number }> {
  const { meta_cluster: meta = {} } = await ask(node, "/jsz");
  return { leader: meta.leader, size: meta.cluster_size };
}

testWhen(
  natsInstalled,
  "startNats() starts a cluster of three that syncs always and takes large entries",
  async () => {
    await using nats = await startNats();
    for (const node of nats.access.urls.keys()) {
      const { version, max_payload, jetstream } = await nats.ask(node, "/varz");
      assert(Number(version.split(".")[1]) >= 15 || Number(version.split(".")[0]) > 2, version);
      assertEquals([max_payload, jetstream.config.sync_always], [8 * 1024 * 1024, true]);
      // A node that is well knows the others a moment later.
      const what = { what: "the node knows all three" };
      await eventually(what, () => metaLeader(nats, node), ({ size }) => size === 3);
    }
  },
);

testWhen(
  natsInstalled,
  "a node that was killed comes back with its ports and files, and nothing is left in the end",
  async () => {
    let folder = "";
    {
      await using nats = await startNats({ nodes: 1 });
      folder = nats.folder;
      const id = async (): Promise<string> => (await nats.ask(0, "/varz")).server_id;
      const first = await id();
      await nats.kill(0);
      await assertRejects(id, TypeError);
      await nats.restart(0);
      assert(await id() !== first);
      nats.freeze(0);
    }
    await assertRejects(() => Deno.stat(folder), Deno.errors.NotFound);
  },
);

testWhen(
  natsInstalled,
  "a node whose configuration is refused is told with what it complained of",
  async () => {
    await assertRejects(
      () => startNats({ nodes: 1, settings: "no_such_setting: 1" }),
      Error,
      "no_such_setting",
    );
  },
);
