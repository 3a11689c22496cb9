// A relay that begins reads the log whatever the nearest node is able to give, or ends with the
// reason: it never hangs.
import { assertEquals, assertRejects } from "@std/assert";
import { connectToNodes } from "./nodes/node_connection.ts";
import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { inCampaign, tried } from "../../tests/support/campaign.ts";
import { natsInstalled } from "../../tests/support/nats.ts";
import { testWhen } from "../../tests/support/requirement.ts";
import { appended, createChannel, message, readAll } from "../engine/testing/sample.ts";
import { type Batch, decodeBatch, encodeBatch } from "./log/batch.ts";
import { encodeCommand } from "./log/command.ts";
import { freshPrefix, openTestCluster } from "./testing/open_test_cluster.ts";
import { sharedUrls as urls } from "./testing/shared_nats.ts";

interface Stage {
  readonly prefix: string;
  readonly manager: JetStreamManager;
}

/** A relay has written to a log on one node, and is there. */
function testBeginning(name: string, run: (stage: Stage) => Promise<void>): void {
  testWhen(natsInstalled, name, async () => {
    const prefix = freshPrefix();
    const { engine } = await openTestCluster({ urls, prefix, relay: "relay-1" });
    const channelId = await createChannel(engine, 1);
    for (let i = 0; i < 100; i++) appended(await engine.append(channelId, message(`${i}`)));
    const connection = await connectToNodes({ servers: [...urls] });
    try {
      await run({ prefix, manager: await jetstreamManager(connection) });
    } finally {
      await connection.close();
      await engine.close();
    }
  });
}

testBeginning(
  "a log that no node but its leader can give is read from the leader",
  async ({ prefix, manager }) => {
    const { config } = await manager.streams.info(`${prefix}_LOG`);
    await manager.streams.update(config.name, { ...config, allow_direct: false });
    const { engine, cluster } = await openTestCluster({ urls, prefix, relay: "relay-2" });
    await cluster.catchUp();
    const [channel] = await engine.agedChannels({ beforeMs: Number.MAX_SAFE_INTEGER, limit: 1 });
    assertEquals(channel === undefined ? 0 : (await readAll(engine, channel)).length, 100);
    await engine.close();
  },
);

testBeginning(
  "a relay that needs what the log has no more ends with the reason",
  async ({ prefix, manager }) => {
    await manager.streams.purge(`${prefix}_LOG`, { seq: 10 });
    const failures: string[] = [];
    const begun = openTestCluster({
      urls,
      prefix,
      relay: "relay-2",
      onFailed: ({ message }) => failures.push(message),
    });
    const expected = "The shared log begins at 10, and this relay needs 1. Restart it";
    await assertRejects(() => begun, Error, expected);
    assertEquals(failures, [expected]);
  },
);

// It asks for the entry for a quarter of a minute.
if (inCampaign) {
  testBeginning(
    "a relay that needs an entry inside the log that is lost ends with the reason",
    async (stage) => {
      const { prefix, manager } = stage;
      await manager.streams.deleteMessage(`${prefix}_LOG`, 20);
      const begun = openTestCluster({ urls, prefix, relay: "relay-2" });
      await assertRejects(
        () => begun,
        Error,
        "The nodes have lost entry 20 of the shared log. Look at their disks",
      );
      tried("1 log with a lost entry");
    },
  );
}

testBeginning(
  "a relay that is given up in the moment in which it begins begins once more",
  async ({ prefix, manager }) => {
    const connection = await connectToNodes({ servers: [...urls] });
    let isSeen = false;
    connection.subscribe(`${prefix}.log_tail`, {
      callback: (_, message) => void (isSeen ||= decodeBatch(message.data).relay === "relay-2"),
    });
    const log = manager.jetstream();
    const failures: string[] = [];
    const begun = openTestCluster({
      urls,
      prefix,
      relay: "relay-2",
      onFailed: ({ message }) => failures.push(message),
    });
    const publish = async (number: number, fields: Partial<Batch>): Promise<number> => {
      const batch = { writer: "another relay", relay: "relay-3", number, commands: [], ...fields };
      return (await log.publish(`${prefix}.log`, encodeBatch(batch))).seq;
    };
    let behind = await publish(1, { began: Number.MAX_SAFE_INTEGER });
    for (let number = 2; !isSeen; number++) {
      behind = await publish(number, {
        commands: [encodeCommand({ op: "give_up", relay: "relay-2", behind })],
      });
    }
    const { engine } = await begun;
    const channelId = await createChannel(engine, 2);
    appended(await engine.append(channelId, message("served")));
    assertEquals(failures, []);
    await engine.close();
    await connection.close();
  },
);
