// A relay that is silent is given up, and a new command waits for relays that do not know it.
import { assertEquals } from "@std/assert";
import { headers, type NatsConnection } from "@nats-io/nats-core";
import { connect } from "@nats-io/transport-node";
import { natsInstalled } from "../../tests/support/nats.ts";
import { testWhen } from "../../tests/support/requirement.ts";
import { openReplicaStore } from "../engine/mod.ts";
import { encodeBatch } from "./batch.ts";
import type { Command } from "./command.ts";
import { knownCommands, Peers } from "./peers.ts";
import { Replica } from "./replica.ts";
import { freshPrefix } from "./testing/open_test_cluster.ts";
import { sharedUrls } from "./testing/shared_nats.ts";

const silentMs = 3_000;
/** Less than a relay may be silent. */
const stepMs = 2_900;
const ignore = (): void => {};

interface Place extends AsyncDisposable {
  readonly connection: NatsConnection;
  readonly prefix: string;
  readonly replica: Replica;
}

/** A relay's connection to a node, and its copy of the log. */
async function openPlace(): Promise<Place> {
  const connection = await connect({ servers: [...sharedUrls] });
  const store = await openReplicaStore({ path: ":memory:" });
  const listener = { seen: ignore, session: ignore, cursor: ignore, trimmed: ignore, welcomed: ignore, digest: ignore };
  return {
    connection,
    prefix: freshPrefix(),
    replica: new Replica(store, { ...listener, failed: ignore }),
    [Symbol.asyncDispose]: async () => {
      await connection.close();
      await store.engine.close();
    },
  };
}

testWhen(natsInstalled, "a relay whose beats do not come is not given up while its batches do", async () => {
  await using place = await openPlace();
  const { connection, prefix, replica: { state } } = place;
  const givenUp: string[] = [];
  let nowMs = 1_000_000;
  const peers = new Peers({
    connection,
    prefix,
    relay: "relay-1",
    nowMs: () => nowMs,
    state,
    write: (command: Command) => {
      if (command.op === "give_up") givenUp.push(command.relay);
      return Promise.resolve();
    },
    log: ignore,
    leaseHolders: () => Promise.resolve(["relay-2", "relay-3"]),
    silentMs,
  });
  // Behind the relay's own subscription, so that it has heard itself when this has.
  const beats = connection.subscribe(`${prefix}.beat`)[Symbol.asyncIterator]();
  peers.begun();
  while (givenUp.length === 0) {
    await beats.next();
    nowMs += stepMs;
    peers.wrote("relay-2");
  }
  assertEquals(givenUp, ["relay-3"]);
  peers.close();
});

testWhen(natsInstalled, "relays use a new command when each that writes says that it knows it", async () => {
  await using place = await openPlace();
  const { connection, prefix, replica } = place;
  const peers = new Peers({
    connection,
    prefix,
    relay: "relay-1",
    nowMs: Date.now,
    state: replica.state,
    write: () => Promise.resolve(),
    log: ignore,
    leaseHolders: () => Promise.resolve([]),
  });
  for (const [index, relay] of ["relay-1", "relay-2"].entries()) {
    replica.take(index + 1, encodeBatch({ writer: relay, relay, number: 1, began: index, commands: [] }));
  }
  await replica.idle();
  const heard = async (known?: number): Promise<boolean> => {
    const head = headers();
    if (known !== undefined) head.set("Static-Commands", String(known));
    connection.publish(`${prefix}.beat`, "relay-2", { headers: head });
    // The node sends what it was given before it answers.
    await connection.flush();
    return peers.allKnow(knownCommands);
  };
  const isKnownUnheard = peers.allKnow(knownCommands);
  const known = [await heard(), await heard(knownCommands), await heard()];
  assertEquals([isKnownUnheard, ...known], [false, false, true, false]);
  peers.close();
});
