// A relay whose shared log says nothing: it tells what is wrong, goes on when the log speaks again,
// and ends when it alone is deaf.
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { inCampaign, tried } from "../support/campaign.ts";
import { eventually, natsInstalled, startNats, type TestNats, testWhen } from "../support/mod.ts";
import { startKeyServer } from "../support/relay/key_server.ts";
import { type RelayProcess, startRelayProcess } from "../support/relay/process.ts";

/** For a machine that has much else to do. */
const patienceMs = 120_000;

interface Answer {
  readonly status: number;
  readonly json: {
    readonly status: string;
    readonly reason?: string;
    readonly problems?: readonly string[];
  };
}

async function ask({ grpcUrl, caFile }: RelayProcess, path: string): Promise<Answer> {
  using client = Deno.createHttpClient({ caCerts: [await Deno.readTextFile(caFile)] });
  const response = await fetch(grpcUrl + path, { client });
  return { status: response.status, json: await response.json() };
}

async function untilReady(relay: RelayProcess): Promise<void> {
  const isReady = ({ status }: Answer): boolean => status === 200;
  await eventually(
    { withinMs: patienceMs, what: "the relay is ready" },
    () => ask(relay, "/ready"),
    isReady,
  );
}

const silentFor = /^The shared log has not answered this relay for 1\d s/;

/**
 * The relay says that its log is silent. It may be too busy for new sessions a moment before it
 * does.
 */
async function untilSilent(relay: RelayProcess): Promise<void> {
  const isSilent = ({ json: { reason = "" } }: Answer): boolean => silentFor.test(reason);
  const seen = await eventually(
    { withinMs: patienceMs, what: "a reason" },
    () => ask(relay, "/ready"),
    isSilent,
  );
  assertEquals([seen.status, seen.json.status], [503, "not_ready"]);
}

/** Runs with a relay of one node, which it reaches at this address, and with an API. */
async function withRelay(
  nats: TestNats,
  natsUrl: string,
  run: (relay: RelayProcess, folder: string) => Promise<void>,
): Promise<void> {
  await using keys = await startKeyServer();
  const folder = await Deno.makeTempDir({ prefix: "static-relay-" });
  {
    await using relay = await startRelayProcess({
      ...nats.variables,
      STATIC_NATS_URLS: natsUrl,
      STATIC_DATA_DIR: folder,
      STATIC_API_URL: keys.url,
      STATIC_API_INTERNAL_URL: keys.url,
    });
    await run(relay, folder);
  }
  await Deno.remove(folder, { recursive: true });
}

testWhen(
  natsInstalled,
  "a relay whose node is frozen is not ready, says why, and is ready again when the node goes on",
  async () => {
    await using nats = await startNats({ nodes: 1 });
    await withRelay(nats, nats.access.urls.join(), async (relay) => {
      await untilReady(relay);
      assertEquals((await ask(relay, "/health")).json, { status: "ok" });
      nats.freeze(0);
      await untilSilent(relay);
      const health = await ask(relay, "/health");
      assertEquals([health.status, health.json.status], [200, "degraded"]);
      assertStringIncludes(
        health.json.problems?.join() ?? "",
        "The shared log has not answered this relay",
      );
      assertMatch(await relay.metrics(), /^static_relay_ready 0$/m);
      nats.thaw(0);
      await untilReady(relay);
      assertEquals((await ask(relay, "/health")).json, { status: "ok" });
      const events = (): string[] =>
        [...relay.output().matchAll(/"event":"(problem\w*|node_left)"/g)].map(([, event = ""]) =>
          event
        );
      const isOver = (seen: readonly string[]): boolean => seen.includes("problem_over");
      const told = await eventually(
        { withinMs: 60_000, what: "the end" },
        () => Promise.resolve(events()),
        isOver,
      );
      assertEquals([...new Set(told)].sort(), ["node_left", "problem", "problem_over"]);
    });
  },
);

if (inCampaign) {
  testWhen(
    natsInstalled,
    "a relay that alone is deaf to a log that others can read ends with the reason",
    async () => {
      // The way knows clients by their names, which it could not read over TLS.
      await using nats = await startNats({ nodes: 1, plain: true });
      using way = new DeafWay(Number(new URL(nats.access.urls[0] ?? "").port), "probe");
      await withRelay(nats, `nats://127.0.0.1:${way.port}`, async (relay, folder) => {
        await untilReady(relay);
        way.cut();
        await untilSilent(relay);
        const deaf =
          /The shared log has not answered this relay for [34]\d s, and answers others\. This relay ends/;
        assertEquals(await relay.finished(), 1);
        assertMatch(relay.output(), deaf);
        assertStringIncludes(relay.output(), '"event":"log_deaf"');
        way.heal();
        await startAgain(folder, nats);
      });
      tried("1 relay that was deaf to a log that others could read");
    },
  );
}

/** The next process finds everything in order. */
async function startAgain(folder: string, { variables }: TestNats): Promise<void> {
  await using relay = await startRelayProcess({ ...variables, STATIC_DATA_DIR: folder });
  assert(!relay.output().includes("fault"), relay.output());
}

/**
 * A port that leads to a node. While it is cut, connections stay open and nothing passes, except
 * for clients of one name.
 */
class DeafWay implements Disposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #open = new Set<Deno.Conn>();
  readonly #nodePort: number;
  readonly #privileged: string;
  #isCut = false;

  constructor(nodePort: number, privileged: string) {
    this.#nodePort = nodePort;
    this.#privileged = privileged;
    void this.#accept();
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  cut(): void {
    this.#isCut = true;
  }

  heal(): void {
    this.#isCut = false;
  }

  [Symbol.dispose](): void {
    this.#listener.close();
    for (const connection of this.#open) connection.close();
  }

  async #accept(): Promise<void> {
    for await (const near of this.#listener) {
      const far = await Deno.connect({ hostname: "127.0.0.1", port: this.#nodePort });
      const client = { name: "" };
      this.#open.add(near).add(far);
      const done = (): void =>
        [near, far].forEach((each) => this.#open.delete(each) && each.close());
      void this.#carry(near, far, (text) => {
        client.name ||= /^CONNECT .*"name":"([^"]*)"/m.exec(text)?.[1] ?? "";
        return !this.#isCut || client.name.endsWith(this.#privileged);
      }).then(done, done);
      // The node speaks first, before the client has a name.
      void this.#carry(
        far,
        near,
        (text) => !this.#isCut || client.name.endsWith(this.#privileged) || text.startsWith("INFO"),
      ).then(done, done);
    }
  }

  async #carry(from: Deno.Conn, to: Deno.Conn, passes: (text: string) => boolean): Promise<void> {
    const buffer = new Uint8Array(64 * 1024);
    for (let length = await from.read(buffer); length !== null; length = await from.read(buffer)) {
      const bytes = buffer.slice(0, length);
      if (!passes(new TextDecoder().decode(bytes))) continue;
      for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
    }
  }
}
