// A relay that is silent is given up.
import { assertEquals } from "@std/assert";
import { eventually } from "../../tests/support/eventually.ts";
import { natsInstalled } from "../../tests/support/nats.ts";
import { testWhen } from "../../tests/support/requirement.ts";
import { unknownLoad } from "../core/relay_load.ts";
import { openReplicaStore } from "../engine/mod.ts";
import type { LogCommand } from "./log/command.ts";
import { type Nodes, openNodes } from "./nodes/nodes.ts";
import { Peers } from "./peers.ts";
import { Replica } from "./replica/replica.ts";
import { freshPrefix } from "./testing/open_test_cluster.ts";
import { sharedUrls } from "./testing/shared_nats.ts";

const silentMs = 3_000;
/** Less than a relay may be silent. */
const stepMs = 2_900;
const ignore = (): void => {};

interface Place extends AsyncDisposable {
  readonly nodes: Nodes;
  readonly prefix: string;
  readonly replica: Replica;
}

/** A relay's connection to a node, and its copy of the log. */
async function openPlace(): Promise<Place> {
  const nodes = await openNodes({ urls: sharedUrls, monitorUrls: [], isTls: false, name: "test" });
  const store = await openReplicaStore({ path: ":memory:" });
  const listener = {
    seen: ignore,
    session: ignore,
    cursor: ignore,
    trimmed: ignore,
    welcomed: ignore,
    digest: ignore,
  };
  return {
    nodes,
    prefix: freshPrefix(),
    replica: new Replica(store, { ...listener, failed: ignore }),
    [Symbol.asyncDispose]: async () => {
      await nodes.close();
      await store.engine.close();
    },
  };
}

testWhen(
  natsInstalled,
  "copies of the fold are stored by the first relay with room for them, without any by the first",
  async () => {
    await using place = await openPlace();
    const rooms = [true, true];
    const peers = rooms.map((_, index) =>
      new Peers({
        nodes: place.nodes,
        prefix: place.prefix,
        relay: `relay-${index + 1}`,
        nowMs: Date.now,
        state: place.replica.state,
        write: () => Promise.resolve(),
        log: ignore,
        leaseHolders: () => Promise.resolve([]),
        load: () => ({ ...unknownLoad, hasRoom: rooms[index] ?? false }),
      })
    );
    for (const each of peers) each.begun();
    const copiers = (): Promise<boolean[]> =>
      Promise.resolve(peers.map(({ isCopier }) => isCopier));
    const orders: readonly [rooms: readonly boolean[], copiers: readonly boolean[]][] = [
      [[true, true], [true, false]],
      [[false, true], [false, true]],
      [[false, false], [true, false]],
      [[true, false], [true, false]],
    ];
    for (const [told, expected] of orders) {
      rooms.splice(0, 2, ...told);
      await eventually(
        { what: "one copier" },
        copiers,
        (found) => String(found) === String(expected),
      );
    }
    for (const each of peers) each.close();
  },
);

testWhen(
  natsInstalled,
  "a relay whose beats do not come is not given up while its batches do",
  async () => {
    await using place = await openPlace();
    const { nodes, prefix, replica: { state } } = place;
    const givenUp: string[] = [];
    let nowMs = 1_000_000;
    const peers = new Peers({
      nodes,
      prefix,
      relay: "relay-1",
      nowMs: () => nowMs,
      state,
      write: (command: LogCommand) => {
        if (command.op === "give_up") givenUp.push(command.relay);
        return Promise.resolve();
      },
      log: ignore,
      leaseHolders: () => Promise.resolve(["relay-2", "relay-3"]),
      load: () => undefined,
      silentMs,
    });
    // Behind the relay's own subscription, so that it has heard itself when this has.
    const beats = nodes.connection.subscribe(`${prefix}.beat`)[Symbol.asyncIterator]();
    peers.begun();
    while (givenUp.length === 0) {
      await beats.next();
      nowMs += stepMs;
      peers.wrote("relay-2");
    }
    assertEquals(givenUp, ["relay-3"]);
    peers.close();
  },
);
