// A relay that begins has another one's state, however large it is, and an answer that cannot be
// given harms nobody.
import { assertEquals } from "@std/assert";
import { createInbox, headers, type NatsConnection } from "@nats-io/nats-core";
import { soon } from "../../../server/mod.ts";
import { natsInstalled } from "../../../tests/support/nats.ts";
import { testWhen } from "../../../tests/support/requirement.ts";
import { type Nodes, openNodes } from "../nodes/nodes.ts";
import { askForState, serveState, type StateParts } from "./state_exchange.ts";
import { freshPrefix } from "../testing/open_test_cluster.ts";
import { sharedUrls } from "../testing/shared_nats.ts";

const MiB = 1024 * 1024;

interface Stage {
  readonly prefix: string;
  /** Of the relay that begins, and of one that runs. */
  readonly fresh: NatsConnection;
  readonly running: Nodes;
}

function testExchange(name: string, run: (stage: Stage) => Promise<void>): void {
  testWhen(natsInstalled, name, async () => {
    const options = { urls: sharedUrls, monitorUrls: [], isTls: false, name: "test" };
    const [fresh, running] = [await openNodes(options), await openNodes(options)];
    try {
      await run({ prefix: freshPrefix(), fresh: fresh.connection, running });
    } finally {
      await fresh.close();
      await running.close();
    }
  });
}

function throwIt(error: unknown): never {
  throw error;
}

testExchange(
  "a state of many messages comes over whole and in order",
  async ({ prefix, fresh, running }) => {
    const parts = Array.from({ length: 12 }, (_, number) => new Uint8Array(2 * MiB).fill(number));
    const stop = serveState(running, {
      prefix,
      relay: "relay-1",
      dump: () => parts,
      report: throwIt,
    });
    await running.connection.flush();
    const answer = await askForState(fresh, { prefix, relay: "relay-2" });
    assertEquals(
      answer?.map((part) => [part.length, part[0], part.at(-1)]),
      parts.map((_, n) => [2 * MiB, n, n]),
    );
    stop();
  },
);

testExchange("of relays that have the state, one sends it", async ({ prefix, fresh, running }) => {
  const dumped: string[] = [];
  const stops = ["relay-1", "relay-3", "relay-4"].map((relay) =>
    serveState(running, {
      prefix,
      relay,
      dump: () => {
        dumped.push(relay);
        return [new TextEncoder().encode(relay)];
      },
      report: throwIt,
    })
  );
  await running.connection.flush();
  const [part = new Uint8Array(0)] = await askForState(fresh, { prefix, relay: "relay-2" }) ?? [];
  // Behind the answers to offers that were refused.
  await fresh.flush();
  await running.connection.flush();
  assertEquals(dumped, [new TextDecoder().decode(part)]);
  for (const stop of stops) stop();
});

testExchange(
  "a relay serves others between parts of a large state",
  async ({ prefix, fresh, running }) => {
    const turns: string[] = [];
    // Less than is sent before a part is confirmed.
    function* parts(): Generator<Uint8Array> {
      for (let number = 0; number < 3; number++) {
        turns.push(`part ${number}`);
        soon(() => turns.push("others"));
        yield new Uint8Array(2 * MiB);
      }
    }
    const dump = (): StateParts => ({ length: 3, [Symbol.iterator]: parts });
    const stop = serveState(running, { prefix, relay: "relay-1", dump, report: throwIt });
    await running.connection.flush();
    assertEquals((await askForState(fresh, { prefix, relay: "relay-2" }))?.length, 3);
    assertEquals(turns.slice(0, 5), ["part 0", "others", "part 1", "others", "part 2"]);
    stop();
  },
);

testExchange(
  "a state that does not fit a message is reported, and its relay reads on",
  async (stage) => {
    const { prefix, fresh, running } = stage;
    const { promise: reported, resolve: report } = Promise.withResolvers<unknown>();
    serveState(running, {
      prefix,
      relay: "relay-1",
      dump: () => [new Uint8Array(9 * MiB)],
      report,
    });
    const heard = Promise.withResolvers<string>();
    running.connection.subscribe(`${prefix}.other`, {
      callback: (_, message) => heard.resolve(message.string()),
    });
    await running.connection.flush();
    const inbox = createInbox();
    fresh.subscribe(inbox, { callback: (_, message) => void message.respond("more") });
    fresh.publish(`${prefix}.state`, "relay-2", { reply: inbox });
    assertEquals((await reported) instanceof Error, true);
    fresh.publish(`${prefix}.other`, "something else");
    assertEquals(await heard.promise, "something else");
  },
);

testExchange(
  "an answer that stops in the middle is asked for again",
  async ({ prefix, fresh, running }) => {
    let answers = 0;
    running.connection.subscribe(`${prefix}.state`, {
      callback: (_, message) => {
        const head = headers();
        head.set("Relay", "relay-1");
        head.set("Parts", "2");
        message.respond(Uint8Array.of(1), { headers: head });
        if (++answers > 1) message.respond(Uint8Array.of(2), { headers: head });
      },
    });
    await running.connection.flush();
    const answer = await askForState(fresh, { prefix, relay: "relay-2", partMs: 1_000 });
    assertEquals(answer?.map((part) => [...part]), [[1], [2]]);
  },
);
