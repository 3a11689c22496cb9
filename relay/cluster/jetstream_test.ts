// The contract of engines on a real node, and what it means that several relays have one log.
import { unknownLoad } from "../core/relay_load.ts";
import { assert, assertEquals, assertExists, assertRejects } from "@std/assert";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connectToNodes } from "./nodes/node_connection.ts";
import { DatabaseSync } from "node:sqlite";
import { inCampaign } from "../../tests/support/campaign.ts";
import { natsInstalled, startNats } from "../../tests/support/nats.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { testWhen } from "../../tests/support/requirement.ts";
import type { AppendOutcome } from "../engine/engine.ts";
import { copyKey, EngineError, openSqliteEngine } from "../engine/mod.ts";
import {
  appended,
  bytesOf,
  commit,
  createChannel,
  message,
  readAll,
  sampleAccount,
  sampleAgent,
  sampleChannel,
  sampleLease,
  samplePackage,
} from "../engine/testing/sample.ts";
import { testEngine } from "../engine/testing/test_engine.ts";
import { encodeBatch } from "./log/batch.ts";
import { encodeCommand } from "./log/command.ts";
import { importFile } from "./import_file.ts";
import type { OpenCluster } from "./open_cluster.ts";
import { freshPrefix, openTestCluster } from "./testing/open_test_cluster.ts";
import { sharedUrls as urls } from "./testing/shared_nats.ts";

if (natsInstalled.met) {
  testEngine("jetstream", async () => {
    const { engine } = await openTestCluster({ urls });
    return { engine, dispose: () => Promise.resolve() };
  });
}

/** Relays on one log. */
function testRelays(
  name: string,
  count: number,
  run: (relays: readonly OpenCluster[], prefix: string) => Promise<void>,
): void {
  testWhen(natsInstalled, name, async () => {
    const prefix = freshPrefix();
    const relays: OpenCluster[] = [];
    try {
      for (let i = 1; i <= count; i++) {
        relays.push(await openTestCluster({ urls, prefix, relay: `relay-${i}` }));
      }
      await run(relays, prefix);
    } finally {
      for (const { engine } of relays) await engine.close();
    }
  });
}

function at(relays: readonly OpenCluster[], index: number): OpenCluster {
  const relay = relays[index % relays.length];
  assert(relay !== undefined);
  return relay;
}

testRelays(
  "relays that append at once come to one log, the same for all, and to one winner an epoch",
  3,
  async (relays) => {
    const channelId = await createChannel(at(relays, 0).engine, 1);
    const heard = relays.map(() => 0);
    relays.forEach(({ engine }, index) =>
      engine.watch(channelId, () => void (heard[index] = (heard[index] ?? 0) + 1))
    );
    for (let epoch = 0; epoch < 3; epoch++) {
      const outcomes: AppendOutcome[] = await Promise.all(
        Array.from(
          { length: 90 },
          (_, i) => at(relays, i).engine.append(channelId, commit(`${epoch} ${i}`, epoch)),
        ),
      );
      assertEquals(outcomes.filter(({ kind }) => kind === "appended").length, 1);
      await Promise.all(
        Array.from(
          { length: 90 },
          (_, i) =>
            at(relays, i).engine.append(
              channelId,
              message(`m ${epoch} ${i % 30}`, { epoch: epoch + 1 }),
            ),
        ),
      );
    }
    await Promise.all(relays.map(({ cluster }) => cluster.catchUp()));
    const logs = await Promise.all(relays.map(({ engine }) => readAll(engine, channelId)));
    assertEquals(logs[0]?.length, 3 * 31);
    for (const log of logs) assertEquals(log, logs[0]);
    assertEquals(heard, [93, 93, 93]);
  },
);

testRelays(
  "what one relay has answered is there at another that has caught up",
  2,
  async (relays) => {
    const [first, second] = [at(relays, 0), at(relays, 1)];
    for (let i = 1; i <= 20; i++) {
      const channelId = await createChannel(first.engine, i);
      const { sequence } = appended(
        await first.engine.append(channelId, commit("c", 0, { added: [sampleAgent(2)] })),
      );
      await second.cluster.catchUp();
      assertEquals((await second.engine.findChannel(channelId))?.head, sequence);
      assertEquals((await second.engine.cursors(channelId)).size, 2);
    }
  },
);

testRelays(
  "names, records, leases and KeyPackages have one winner among relays",
  3,
  async (relays) => {
    const { name } = sampleChannel(1);
    const made = await Promise.all(
      relays.map(({ engine }, i) => engine.createChannel(sampleChannel(i + 1, { name }))),
    );
    assertEquals(made.map(({ kind }) => kind).sort(), ["created", "name_taken", "name_taken"]);
    const record = { value: bytesOf(1), expiresAtMs: 9000 };
    const stored = await Promise.all(
      relays.map(({ engine }) => engine.records.put("k", record, 0)),
    );
    assertEquals(stored.filter(({ kind }) => kind === "stored").length, 1);
    const room = {
      account: sampleAccount(1),
      bytesPerAccount: 10_000,
      bytesGuaranteed: 0,
      bytesInAll: 10_000,
    };
    const upload = {
      keyPackages: [samplePackage(1)],
      replace: false,
      capacity: 10,
      nowMs: 1,
      ...room,
    };
    await at(relays, 0).engine.keyPackages.put(sampleAgent(1), upload);
    const claims = await Promise.all(
      Array.from(
        { length: 30 },
        (_, i) =>
          at(relays, i).engine.keyPackages.claim(sampleAgent(1), { key: `claim ${i}`, nowMs: 1 }),
      ),
    );
    assertEquals(claims.filter((claimed) => claimed !== undefined).length, 1);
  },
);

testRelays(
  "a lease belongs to its relay, and its count is of the log, whoever asks",
  2,
  async (relays) => {
    const [first, second] = [at(relays, 0), at(relays, 1)];
    const channelId = await createChannel(first.engine, 1);
    await first.engine.leases.open(sampleLease({ granted: 30 }));
    const charge = { leaseId: "lease-1", fence: 7, messages: 1, payloadBytes: 100 };
    const send = ({ engine }: OpenCluster, key: string): Promise<AppendOutcome> =>
      engine.append(channelId, message(key, { charge }));
    const outcomes = await Promise.all(Array.from({ length: 50 }, (_, i) => send(first, `${i}`)));
    assertEquals(outcomes.filter(({ kind }) => kind === "appended").length, 30);
    assertEquals((await send(second, "other")).kind, "lease_spent");
    assertEquals(await second.engine.leases.list(), []);
    assertEquals((await first.engine.leases.list())[0]?.consumed, 30);
  },
);

testRelays(
  "what an older session still sends is void once its agent has a newer one elsewhere",
  2,
  async (relays) => {
    const [first, second] = [at(relays, 0), at(relays, 1)];
    const channelId = await createChannel(first.engine, 1);
    const agentId = sampleAgent(1);
    const replaced: [string, number][] = [];
    first.cluster.listen({
      ...deaf,
      replaced: (agent, session) => replaced.push([agent, session]),
    });
    const older = await first.cluster.beginSession(agentId);
    const by = (session: number): { by: { agentId: typeof agentId; session: number } } => ({
      by: { agentId, session },
    });
    appended(await first.engine.append(channelId, message("a", by(older))));
    const newer = await second.cluster.beginSession(agentId);
    assert(newer > older);
    assertEquals(await first.engine.append(channelId, message("b", by(older))), {
      kind: "replaced",
    });
    assertEquals(replaced, [[agentId, newer]]);
    assert(!first.cluster.isNewest(agentId, older) && second.cluster.isNewest(agentId, newer));
    appended(await second.engine.append(channelId, message("b", by(newer))));
    second.cluster.endSession(agentId, newer);
    await second.cluster.catchUp();
    assert(!second.cluster.isOnline(agentId));
    assertEquals(await first.engine.append(channelId, message("c", by(older))), {
      kind: "replaced",
    });
  },
);

testRelays(
  "a session that another relay was asked for earlier, and tells late, replaces nothing",
  1,
  async (relays, prefix) => {
    const { cluster, engine } = at(relays, 0);
    const agentId = sampleAgent(1);
    const channelId = await createChannel(engine, 1);
    const replaced: number[] = [];
    cluster.listen({ ...deaf, replaced: (_, session) => replaced.push(session) });
    const session = await cluster.beginSession(agentId);
    const connection = await connectToNodes({ servers: [...urls] });
    const command = encodeCommand({ op: "session", agentId, nowMs: 1, behind: 0 });
    const late = { writer: "another", relay: "relay-2", began: Number.MAX_SAFE_INTEGER };
    for (const [index, commands] of [[], [command]].entries()) {
      await jetstream(connection).publish(
        `${prefix}.log`,
        encodeBatch({ ...late, number: index + 1, commands }),
      );
    }
    await cluster.catchUp();
    assertEquals([cluster.isNewest(agentId, session), replaced], [true, []]);
    appended(await engine.append(channelId, message("still", { by: { agentId, session } })));
    await connection.close();
  },
);

testWhen(
  natsInstalled,
  "a relay that begins late or again has the same log, KeyPackages of the others, and fences its past",
  async () => {
    const prefix = freshPrefix();
    const open = (
      relay: string,
      failed: (error: EngineError) => void = () => {},
    ): Promise<OpenCluster> => openTestCluster({ urls, prefix, relay, onFailed: failed });
    const first = await open("relay-1");
    const channelId = await createChannel(first.engine, 1);
    await Promise.all(
      Array.from({ length: 700 }, (_, i) => first.engine.append(channelId, message(`${i}`))),
    );
    const room = {
      account: sampleAccount(1),
      bytesPerAccount: 10_000,
      bytesGuaranteed: 0,
      bytesInAll: 10_000,
    };
    const upload = {
      keyPackages: [samplePackage(1), samplePackage(2)],
      replace: false,
      capacity: 10,
      nowMs: 1,
      ...room,
    };
    await first.engine.keyPackages.put(sampleAgent(1), upload);
    await first.engine.keyPackages.claim(sampleAgent(1), { key: "a", nowMs: 1 });
    const second = await open("relay-2");
    assertEquals(await readAll(second.engine, channelId), await readAll(first.engine, channelId));
    assertEquals((await second.engine.keyPackages.count(sampleAgent(1), 1)).keyPackages, 1);
    const again = await second.engine.keyPackages.claim(sampleAgent(1), { key: "a", nowMs: 1 });
    assertEquals(again?.keyPackage.at(-1), 1);
    // The same relay begins while its earlier life is still there.
    const heir = await open("relay-1");
    await assertRejects(() => first.engine.append(channelId, message("late")), EngineError);
    appended(await heir.engine.append(channelId, message("next")));
    for (const { engine } of [first, heir, second]) await engine.close();
  },
);

testWhen(
  natsInstalled,
  "the log is shortened behind a copy, and a relay that begins goes on from the copy",
  async () => {
    const prefix = freshPrefix();
    const folder = await Deno.makeTempDir({ prefix: "static-cluster-" });
    const events: string[] = [];
    const failures: EngineError[] = [];
    const open = (relay: string): Promise<OpenCluster> =>
      openTestCluster({
        urls,
        prefix,
        relay,
        path: `${folder}/${relay}.sqlite`,
        copyEvery: 60,
        log: (_, event) => events.push(event),
        onFailed: (error) => failures.push(error),
      });
    const first = await open("relay-1");
    const channelId = await createChannel(first.engine, 1);
    const copies = inCampaign ? 3 : 1;
    const shortened = (): number => events.filter((event) => event === "log_shortened").length;
    // Copies are made beside the appends: how many appends pass meanwhile depends on the machine,
    // so time is the bound.
    const until = performance.now() + 60_000;
    for (let sent = 0; shortened() < copies; sent++) {
      assert(performance.now() < until, `${sent} appended: ${events.join()}`);
      appended(await first.engine.append(channelId, message(`${sent}`)));
    }
    const session = await first.cluster.beginSession(sampleAgent(3));
    const second = await open("relay-2");
    assertEquals(await readAll(second.engine, channelId), await readAll(first.engine, channelId));
    assert(
      second.cluster.isOnline(sampleAgent(3)) && second.cluster.isNewest(sampleAgent(3), session),
    );
    // Its digests go on from the copy's.
    for (let i = 0; i < 140; i++) await second.engine.append(channelId, message(`more ${i}`));
    await eventually(
      { what: "digests are compared" },
      () => Promise.resolve(second.stats().digests),
      (n) => n > 0,
    );
    assertEquals([first.stats().differences, second.stats().differences, failures.length], [
      0,
      0,
      0,
    ]);
    for (const { engine } of [first, second]) await engine.close();
    await Deno.remove(folder, { recursive: true });
  },
);

testWhen(
  natsInstalled,
  "a relay's file becomes the beginning of a cluster, once, and is there exactly",
  async () => {
    const prefix = freshPrefix();
    const folder = await Deno.makeTempDir({ prefix: "static-cluster-" });
    const path = `${folder}/relay.sqlite`;
    const alone = await openSqliteEngine({ path });
    const channelId = await createChannel(alone, 1);
    await alone.append(channelId, commit("c", 0, { added: [sampleAgent(2)] }));
    for (let i = 0; i < 300; i++) await alone.append(channelId, message(`${i}`, { epoch: 1 }));
    await alone.moveCursors(channelId, [[sampleAgent(2), { consumed: 7, acknowledged: 5 }]]);
    await alone.records.put("k", { value: bytesOf(1), expiresAtMs: 9000 }, 0);
    await alone.leases.open(sampleLease());
    const [log, cursors, record] = [
      await readAll(alone, channelId),
      await alone.cursors(channelId),
      await alone.records.get("k"),
    ];
    const options = { urls, isTls: false, monitorUrls: [], prefix, replicas: 1, path };
    await assertRejects(() => importFile(options), Error);
    await alone.leases.forget("lease-1");
    await alone.close();
    await importFile(options);
    await assertRejects(() => importFile(options), Error);
    const relays = await Promise.all(
      ["relay-1", "relay-2"].map((relay) =>
        openTestCluster({ urls, prefix, relay, path: `${folder}/${relay}.sqlite` })
      ),
    );
    for (const { engine } of relays) {
      assertEquals(await readAll(engine, channelId), log);
      assertEquals(await engine.cursors(channelId), cursors);
      assertEquals(await engine.records.get("k"), record);
    }
    for (const { engine } of relays) {
      assertEquals((await engine.append(channelId, message("5", { epoch: 1 }))).kind, "duplicate");
      appended(await engine.append(channelId, message(`new ${crypto.randomUUID()}`, { epoch: 1 })));
    }
    for (const { engine } of relays) await engine.close();
    await Deno.remove(folder, { recursive: true });
  },
);

testWhen(
  natsInstalled,
  "a cluster of another draft is refused with what to do, and nothing of it is changed",
  async () => {
    const connection = await connectToNodes({ servers: [...urls] });
    const manager = await jetstreamManager(connection);
    for (const metadata of [undefined, { static_draft: "0" }]) {
      const prefix = freshPrefix();
      const old = { name: `${prefix}_COPY`, subjects: [`${prefix}.copy.>`] };
      await manager.streams.add({ ...old, ...(metadata && { metadata }) });
      const before = await manager.streams.info(old.name);
      const error = await assertRejects(() => openTestCluster({ urls, prefix }), EngineError);
      assertEquals([error.code, error.message], [
        "unsupported_version",
        `Cannot open the stream ${old.name} of the cluster: it was made by a checkout before 0.1.0; this version cannot ` +
        "open it. Choose another STATIC_RELAY_CLUSTER. Nothing was changed",
      ]);
      const { state, config } = await manager.streams.info(old.name);
      assertEquals([state, config], [before.state, before.config]);
      assertEquals(await manager.streams.info(`${prefix}_LOG`).catch(() => "none"), "none");
    }
    await connection.close();
  },
);

testWhen(
  natsInstalled,
  "a file of another draft is not imported: neither it nor the nodes are changed",
  async () => {
    const prefix = freshPrefix();
    const folder = await Deno.makeTempDir({ prefix: "static-cluster-" });
    const path = `${folder}/relay.sqlite`;
    await (await openSqliteEngine({ path })).close();
    const sqlite = new DatabaseSync(path);
    sqlite.exec("PRAGMA application_id = 0x53745265");
    sqlite.close();
    const before = await Deno.readFile(path);
    const options = { urls, isTls: false, monitorUrls: [], prefix, replicas: 1, path };
    await assertRejects(() => importFile(options), EngineError, "made by a checkout before 0.1.0");
    assertEquals(await Deno.readFile(path), before);
    const connection = await connectToNodes({ servers: [...urls] });
    const { streams } = await jetstreamManager(connection);
    assertEquals(await streams.info(`${prefix}_COPY`).catch(() => "none"), "none");
    await connection.close();
    await Deno.remove(folder, { recursive: true });
  },
);

testWhen(
  natsInstalled,
  "backUp() writes a file on which one relay goes on, again and again, for its owner's eyes only",
  async () => {
    const folder = await Deno.makeTempDir({ prefix: "static-cluster-" });
    const path = `${folder}/relay.sqlite.backup`;
    const { engine, cluster } = await openTestCluster({ urls, path: `${folder}/copy.sqlite` });
    const channelId = await createChannel(engine, 1);
    await cluster.beginSession(sampleAgent(1));
    for (let round = 1; round <= 2; round++) {
      appended(await engine.append(channelId, message(`${round}`)));
      await engine.backUp(path, 5_000);
      assertEquals(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
      const alone = await openSqliteEngine({ path });
      assertEquals(await readAll(alone, channelId), await readAll(engine, channelId));
      assertExists(await alone.records.get(copyKey));
      appended(await alone.append(channelId, message("alone")));
      await alone.close();
    }
    assertEquals(await engine.records.get(copyKey), undefined);
    await engine.close();
    await Deno.remove(folder, { recursive: true });
  },
);

testWhen(natsInstalled, "a relay whose nodes are gone still ends", async () => {
  await using alone = await startNats({ nodes: 1 });
  const { engine } = await openTestCluster({ ...alone.access, closeMs: 1_000 });
  const channelId = await createChannel(engine, 1);
  await alone.kill(0);
  const lost = assertRejects(() => engine.append(channelId, message("never")), EngineError);
  await engine.close();
  assertEquals((await lost).code, "closed");
});

const deaf: Parameters<OpenCluster["cluster"]["listen"]>[0] = {
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
