// State that no disk may hold: KeyPackages are in the memory of the nodes, and end with it. Also
// the state that a dead relay leaves to the others.
import { assert, assertEquals } from "@std/assert";
import { jetstream } from "@nats-io/jetstream";
import { inCampaign, tried } from "../../../tests/support/campaign.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { natsInstalled, startNats } from "../../../tests/support/nats.ts";
import { testWhen } from "../../../tests/support/requirement.ts";
import type { PoolUpload } from "../../engine/engine.ts";
import {
  appended,
  createChannel,
  message,
  sampleAccount,
  sampleAgent,
  sampleChannelId,
  sampleLease,
} from "../../engine/testing/sample.ts";
import { unknownLoad } from "../../core/relay_load.ts";
import type { ClusterListener } from "../../core/cluster.ts";
import { encodeBatch } from "../log/batch.ts";
import { openNodes } from "../nodes/nodes.ts";
import { freshPrefix, openTestCluster } from "../testing/open_test_cluster.ts";

/** Sizes of clusters. */
const sizes: readonly (1 | 3)[] = inCampaign ? [1, 3] : [1];
const agentId = sampleAgent(1);
const nowMs = 1_000;

function uploadOf(packages: readonly Uint8Array[]): PoolUpload {
  const keyPackages = packages.map((bytes) => ({
    bytes,
    reference: bytes.slice(0, 32),
    notAfterMs: 10_000,
  }));
  const room = {
    account: sampleAccount(1),
    bytesPerAccount: 1 << 20,
    bytesGuaranteed: 0,
    bytesInAll: 1 << 20,
  };
  return { keyPackages, replace: false, capacity: 100, nowMs, ...room };
}

/** Bytes that cannot be anywhere by chance. */
function randomPackages(): Uint8Array[] {
  return Array.from({ length: 20 }, () => crypto.getRandomValues(new Uint8Array(900)));
}

async function* filesIn(folder: string): AsyncIterable<string> {
  for await (const { name, isDirectory, isFile } of Deno.readDir(folder)) {
    if (isDirectory) yield* filesIn(`${folder}/${name}`);
    else if (isFile) yield `${folder}/${name}`;
  }
}

/** Files that have a part of any of them. */
async function filesWith(folder: string, packages: readonly Uint8Array[]): Promise<string[]> {
  const parts = packages.map((bytes) => latin1(bytes.subarray(100, 132)));
  const found: string[] = [];
  for await (const path of filesIn(folder)) {
    const text = latin1(await Deno.readFile(path));
    if (parts.some((part) => text.includes(part))) found.push(path);
  }
  return found;
}

function latin1(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}

const deaf: ClusterListener = {
  replaced: () => {},
  told: () => {},
  joinShared: () => {},
  joinEnded: () => {},
  confirmed: () => {},
  welcomed: () => {},
  cursorMoved: () => {},
  trimmed: () => {},
  load: () => unknownLoad,
  stalled: () => {},
  keyPackagesLost: () => {},
};

for (const nodes of sizes) {
  testWhen(
    natsInstalled,
    `no byte of a KeyPackage is in a file of a relay or of ${nodes} node(s)`,
    async () => {
      await using nats = await startNats({ nodes });
      const path = `${nats.folder}/copy.sqlite`;
      const { engine } = await openTestCluster({ ...nats.access, replicas: nodes, path });
      const packages = randomPackages();
      // Something that is on disk, so that the search is known to find what is there.
      const channelId = await createChannel(engine, 1);
      const [control = new Uint8Array(900)] = randomPackages();
      appended(await engine.append(channelId, message("m", { body: control })));
      await engine.keyPackages.put(agentId, uploadOf(packages));
      for (let i = 0; i < 5; i++) {
        await engine.keyPackages.claim(agentId, { key: `claim ${i}`, nowMs });
      }
      assert((await filesWith(nats.folder, [control])).length > 0, "the search finds nothing");
      assertEquals(await filesWith(nats.folder, packages), []);
      await engine.close();
      for (let node = 0; node < nodes; node++) {
        await nats.kill(node, "SIGTERM");
      }
      assertEquals(await filesWith(nats.folder, packages), []);
    },
  );
}

for (const nodes of sizes) {
  testWhen(
    natsInstalled,
    `when all of ${nodes} node(s) were down the log goes on, and KeyPackages are asked for anew`,
    async () => {
      await using nats = await startNats({ nodes });
      const all = Array.from({ length: nodes }, (_, node) => node);
      const failures: unknown[] = [];
      const events: string[] = [];
      const { engine, cluster } = await openTestCluster({
        ...nats.access,
        replicas: nodes,
        log: (_, event) => events.push(event),
        onFailed: (error) => failures.push(error),
      });
      let lost = 0;
      cluster.listen({ ...deaf, keyPackagesLost: () => void lost++ });
      const channelId = await createChannel(engine, 1);
      appended(await engine.append(channelId, message("before")));
      await engine.keyPackages.put(agentId, uploadOf(randomPackages()));
      await Promise.all(all.map((node) => nats.kill(node)));
      await nats.restartAll(all);
      appended(await engine.append(channelId, message("after")));
      await eventually(
        { what: "the loss is noticed" },
        () => Promise.resolve(lost),
        (times) => times > 0,
      );
      assert(events.includes("nodes_memory_lost"));
      assertEquals((await engine.keyPackages.count(agentId, nowMs)).keyPackages, 0);
      const again = await engine.keyPackages.put(agentId, uploadOf(randomPackages()));
      assertEquals([again.keyPackages, failures], [20, []]);
      await engine.close();
    },
  );
}

testWhen(
  natsInstalled,
  "a relay that is silent is given up: its sessions end, its leases have final counts, it is fenced",
  async () => {
    await using nats = await startNats({ nodes: 1 });
    const prefix = freshPrefix();
    const givenUp: string[] = [];
    const first = await openTestCluster({
      ...nats.access,
      prefix,
      relay: "relay-1",
      silentMs: 3_000,
    });
    first.peers.onGivenUp = (relay) => Promise.resolve(void givenUp.push(relay));
    const failures: Error[] = [];
    const dead = await openTestCluster({
      ...nats.access,
      prefix,
      relay: "relay-2",
      onFailed: (error) => failures.push(error),
    });
    await createChannel(first.engine, 1);
    await dead.engine.leases.open(sampleLease({ granted: 100 }));
    const charge = { leaseId: "lease-1", fence: 7, messages: 1, payloadBytes: 10 };
    for (let i = 0; i < 5; i++) {
      appended(await dead.engine.append(sampleChannelId(1), message(`${i}`, { charge })));
    }
    await dead.cluster.beginSession(agentId);
    await first.cluster.catchUp();
    assert(first.cluster.isOnline(agentId));
    // Its beats stop, as those of a frozen process do.
    dead.peers.close();
    await eventually(
      { what: "it is given up" },
      () => Promise.resolve(givenUp),
      (all) => all.length > 0,
    );
    assertEquals(givenUp[0], "relay-2");
    assert(!first.cluster.isOnline(agentId));
    const left = first.leasesOf("relay-2");
    assertEquals((await left.stop("lease-1"))?.consumed, 5);
    // It wakes up: nothing that it sends counts, and it learns that it must begin anew.
    await dead.engine.append(sampleChannelId(1), message("late", { charge })).then(
      (outcome) => assert(outcome.kind !== "appended"),
      () => {},
    );
    await eventually(
      { what: "it ends" },
      () => Promise.resolve(failures.length),
      (count) => count > 0,
    );
    assertEquals((await left.stop("lease-1"))?.consumed, 5);
    await first.engine.close();
    await dead.engine.close();
  },
);

testWhen(
  natsInstalled,
  "a late first batch of a relay's own earlier writer does not end the relay",
  async () => {
    await using nats = await startNats({ nodes: 1 });
    const prefix = freshPrefix();
    const failures: Error[] = [];
    const { engine } = await openTestCluster({
      ...nats.access,
      prefix,
      onFailed: (error) => failures.push(error),
    });
    await engine.keyPackages.put(agentId, uploadOf(randomPackages()));
    const { connection } = await openNodes({ ...nats.access, name: "test" });
    const late = {
      writer: "an earlier one",
      relay: "relay-1",
      number: 1,
      began: Number.MAX_SAFE_INTEGER,
      commands: [],
    };
    await jetstream(connection).publish(`${prefix}.live`, encodeBatch(late));
    const count = await eventually(
      { what: "the relay takes KeyPackages again" },
      () =>
        engine.keyPackages.put(agentId, uploadOf(randomPackages())).then(
          ({ keyPackages }) => keyPackages,
          () => 0,
        ),
      (keyPackages) => keyPackages > 20,
    );
    assertEquals([count > 20, failures], [true, []]);
    await connection.close();
    await engine.close();
  },
);

if (inCampaign) {
  testWhen(
    natsInstalled,
    "relays whose nodes were away for long do not give each other up",
    awayForLong,
  );
}

async function awayForLong(): Promise<void> {
  await using nats = await startNats({ nodes: 1 });
  const prefix = freshPrefix();
  const events: string[] = [];
  const silentMs = 12_000;
  const open = (relay: string): ReturnType<typeof openTestCluster> =>
    openTestCluster({
      ...nats.access,
      prefix,
      relay,
      silentMs,
      log: (_, event) => events.push(event),
    });
  const [first, second] = [await open("relay-1"), await open("relay-2")];
  await createChannel(first.engine, 1);
  await nats.kill(0);
  // wait: for as long as the nodes are away, which is longer than a relay may be silent
  await new Promise((resolve) => setTimeout(resolve, silentMs + 3_000));
  await nats.restart(0);
  appended(await first.engine.append(sampleChannelId(1), message("first")));
  appended(await second.engine.append(sampleChannelId(1), message("second")));
  assert(!events.includes("relay_given_up"));
  await first.engine.close();
  await second.engine.close();
  tried("nodes that were away for long");
}
