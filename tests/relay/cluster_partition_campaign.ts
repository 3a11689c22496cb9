// A network that is cut between nodes: a relay on the smaller side tells nobody the past as a fact,
// and nothing that was accepted is lost when the sides meet again. A campaign, because an election
// takes up to nine seconds.
import { assert, assertEquals } from "@std/assert";
import {
  freshPrefix,
  type OpenCluster,
  openTestCluster,
} from "../../relay/cluster/testing/open_test_cluster.ts";
import {
  commit,
  createChannel,
  message,
  readAll,
  sampleAgent,
} from "../../relay/engine/testing/sample.ts";
import { tried } from "../support/campaign.ts";
import { eventually } from "../support/eventually.ts";
import { leaderOf } from "../support/log_leader.ts";
import { testWhen } from "../support/mod.ts";
import { type NatsAccess, natsInstalled, startNats } from "../support/nats.ts";
import { TcpWay } from "../support/tcp_way.ts";

/** For elections, on a machine that has much else to do. */
const patienceMs = 300_000;
/** Nobody is given up here: a relay that was would end instead of taking part again. */
const silentMs = 3_600_000;

/** Relay and node of the same number belong together. */
async function openRelays(
  access: NatsAccess,
  failures: unknown[],
): Promise<[string, OpenCluster[]]> {
  const prefix = freshPrefix();
  const relays: OpenCluster[] = [];
  for (const [index, url] of access.urls.entries()) {
    const options = {
      ...access,
      prefix,
      replicas: 3,
      silentMs,
      onFailed: (error: Error): void => void failures.push(error),
    };
    relays.push(await openTestCluster({ ...options, urls: [url], relay: `relay-${index}` }));
  }
  return [prefix, relays];
}

async function knownAt(
  { engine }: OpenCluster,
  channelId: Parameters<typeof readAll>[1],
): Promise<boolean> {
  return (await engine.cursors(channelId)).has(sampleAgent(2));
}

testWhen(
  natsInstalled,
  "a relay that is cut off with the log's leader does not deny what the others have accepted, and takes part again",
  async () => {
    const ways = new Map<string, TcpWay>();
    using disposed = new DisposableStack();
    await using nats = await startNats({
      wayTo: (from, to, port) => {
        if (from === undefined) return port;
        const way = disposed.use(new TcpWay(port));
        ways.set(`${from} ${to}`, way);
        return way.port;
      },
    });
    const failures: unknown[] = [];
    const [prefix, relays] = await openRelays(nats.access, failures);
    const channelId = await createChannel(relays[0]?.engine ?? failedTo("open a relay"), 1);
    const cut = await leaderOf(nats, prefix);
    const [minority, majority] = [relays[cut], relays[(cut + 1) % 3]];
    assert(minority !== undefined && majority !== undefined);
    const cutWays = [...ways].filter(([name]) => name.split(" ").includes(String(cut))).map((
      [, way],
    ) => way);
    for (const way of cutWays) way.cut();
    // On the larger side an agent is added.
    await eventually(
      { withinMs: patienceMs, what: "the larger side accepts a commit" },
      () =>
        majority.engine.append(channelId, commit("join", 0, { added: [sampleAgent(2)] })).then(
          ({ kind }) => kind,
          () => "unanswered",
        ),
      (kind) => kind === "appended" || kind === "duplicate",
    );
    const told: string[] = [];
    const asked = minority.cluster.catchUp().then(
      async () => void told.push(await knownAt(minority, channelId) ? "the truth" : "the past"),
      () => void told.push("no answer"),
    );
    const written = minority.engine.append(channelId, message("minority", { epoch: 1 })).catch(() =>
      undefined
    );
    await eventually(
      { withinMs: patienceMs, what: "the smaller side waits for its verdicts" },
      () => Promise.resolve(minority.cluster.waitingMs()),
      (waitingMs) => waitingMs > 3_000,
    );
    assertEquals(await knownAt(minority, channelId), false, "the cut does not cut");
    assertEquals(told.filter((each) => each !== "no answer"), []);
    for (const way of cutWays) way.heal();
    await asked;
    assert(!told.includes("the past"));
    await eventually(
      { withinMs: patienceMs, what: "the relay that was cut off knows what the others know" },
      () => minority.cluster.catchUp().then(() => knownAt(minority, channelId), () => false),
      (isKnown) => isKnown,
    );
    await written;
    for (const { cluster } of relays) await cluster.catchUp();
    const logs = await Promise.all(relays.map(({ engine }) => readAll(engine, channelId)));
    for (const log of logs) assertEquals(log, logs[0]);
    assertEquals(failures, []);
    for (const { engine } of relays) await engine.close();
    tried("1 network that was cut");
  },
);

function failedTo(what: string): never {
  throw new Error(`The test could not ${what}`);
}
