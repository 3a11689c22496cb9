// A relay that is silent is given up.
import { assertEquals } from "@std/assert";
import type { NatsConnection } from "@nats-io/nats-core";
import { connect } from "@nats-io/transport-node";
import { natsInstalled } from "../../tests/support/nats.ts";
import { testWhen } from "../../tests/support/requirement.ts";
import { openReplicaStore } from "../engine/mod.ts";
import type { Command } from "./command.ts";
import { Peers } from "./peers.ts";
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
