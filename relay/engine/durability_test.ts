import { assert, assertEquals, assertGreater, assertLess, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { createRandom, seedFromEnvironment } from "../../tests/support/mod.ts";
import type { Engine } from "./engine.ts";
import { EngineError } from "./errors.ts";
import { openSqliteEngine } from "./sqlite.ts";
import { type OpenForSync, openForSync as openReally } from "./sync_handle.ts";
import {
  appendAll,
  appended,
  bytesOf,
  commit,
  createChannel,
  describeLog,
  founding,
  message,
  readAll,
  sampleAccount,
  sampleAgent,
  sampleChannelId,
  sampleLease,
  samplePackage,
} from "./testing/sample.ts";

function testWithFolder(guarantee: string, run: (folder: string) => Promise<void>): void {
  Deno.test(guarantee, async () => {
    const folder = await Deno.makeTempDir({ prefix: "static-engine-" });
    try {
      await run(folder);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

/** Files that are really synced, around a step of the test's own. */
function openAround(step: (path: string, sync: () => Promise<void>) => Promise<void>): OpenForSync {
  return async (path, kind) => {
    const handle = await openReally(path, kind);
    return { syncData: () => step(path, () => handle.syncData()), close: () => handle.close() };
  };
}

testWithFolder("a reopened engine has everything but KeyPackages", async (folder) => {
  const path = `${folder}/engine.sqlite`;
  const look = async (engine: Engine): Promise<unknown> => ({
    channels: await Promise.all(
      [1, 2].map((number) => engine.findChannel(sampleChannelId(number))),
    ),
    log: await describeLog(engine, sampleChannelId(1)),
    bodies: await readAll(engine, sampleChannelId(1)),
    size: await engine.queueSize(sampleChannelId(1)),
    cursors: await engine.cursors(sampleChannelId(1)),
    key: await engine.findKey(sampleChannelId(1), "a"),
    commit: await engine.findCommit(sampleChannelId(1), 0),
    aged: await engine.agedChannels({ beforeMs: 9000, limit: 9 }),
    list: await engine.listChannels({
      agentId: sampleAgent(2),
      account: sampleAccount(8),
      limit: 9,
    }),
    record: await engine.records.get("r"),
    leases: await engine.leases.list(),
    accountBytes: await engine.accountBytes(sampleAccount(1)),
  });
  const first = await openSqliteEngine({ path });
  const channelId = await createChannel(first, 1);
  const closed = await createChannel(first, 2);
  await first.leases.open(sampleLease());
  await appendAll(first, channelId, [
    message("a", { charge: { leaseId: "lease-1", fence: 7, messages: 1, payloadBytes: 5 } }),
    commit("b", 0, { added: [sampleAgent(2)] }),
    message("c", { epoch: 1 }),
    message("d", { epoch: 1 }),
  ]);
  await first.append(closed, message("end", { kind: "close" }));
  await first.dropMessages(channelId, 3, "age");
  await first.saveSnapshot(channelId, { sequence: 2, state: bytesOf(4) });
  await first.moveCursors(channelId, [[sampleAgent(2), { consumed: 3, acknowledged: 2 }]]);
  await first.records.put("r", { value: bytesOf(5), expiresAtMs: 7 }, 0);
  await first.leases.stop("lease-1");
  const room = {
    capacity: 1,
    account: sampleAccount(1),
    bytesPerAccount: 1_000,
    bytesGuaranteed: 0,
    bytesInAll: 1_000,
  };
  await first.keyPackages.put(sampleAgent(1), {
    keyPackages: [samplePackage(1)],
    replace: false,
    nowMs: 1,
    ...room,
  });
  const before = await look(first);
  await first.close();
  const again = await openSqliteEngine({ path });
  assertEquals(await look(again), before);
  assertEquals((await again.keyPackages.count(sampleAgent(1), 1)).keyPackages, 0);
  const charge = { leaseId: "lease-1", fence: 7, messages: 1, payloadBytes: 5 };
  assertEquals(await again.append(channelId, message("e", { epoch: 1, charge })), {
    kind: "lease_spent",
  });
  assertEquals(appended(await again.append(channelId, message("e", { epoch: 1 }))).sequence, 5);
  await again.close();
});

testWithFolder(
  "a reopened engine takes no founding behind a change that it had before",
  async (folder) => {
    const path = `${folder}/engine.sqlite`;
    const first = await openSqliteEngine({ path });
    const channelId = await createChannel(first, 1);
    const judgedAt = await appendAll(first, channelId, [message("a")]);
    const changed = await appendAll(first, channelId, [commit("b", 0)]);
    await appendAll(first, channelId, [message("c", { epoch: 1 })]);
    await first.close();
    const again = await openSqliteEngine({ path });
    const late = founding("late", { epoch: 10, fromEpoch: 0 }, { judgedAt });
    assertEquals(await again.append(channelId, late), { kind: "conflict", epoch: 1 });
    appended(await again.append(channelId, { ...late, judgedAt: changed }));
    await again.close();
  },
);

testWithFolder("100 appends at once share one sync, and a duplicate needs none", async (folder) => {
  let syncs = 0;
  const openForSync = openAround((_, sync) => {
    syncs++;
    return sync();
  });
  const engine = await openSqliteEngine({ path: `${folder}/engine.sqlite`, openForSync });
  const channelId = await createChannel(engine, 1);
  const before = syncs;
  const entries = Array.from({ length: 100 }, (_, i) => message(`${i}`));
  await Promise.all(entries.map((entry) => engine.append(channelId, entry)));
  assertEquals(syncs - before, 1);
  await Promise.all(entries.map((entry) => engine.append(channelId, entry)));
  await engine.append(channelId, message("late", { epoch: 4 }));
  assertEquals(syncs - before, 1);
  await engine.close();
});

testWithFolder(
  "a group is synced when a part of it wrote, also when its last part did not",
  async (folder) => {
    let syncs = 0;
    const openForSync = openAround((_, sync) => {
      syncs++;
      return sync();
    });
    const engine = await openSqliteEngine({ path: `${folder}/engine.sqlite`, openForSync });
    const channelId = await createChannel(engine, 1);
    await engine.append(channelId, message("known"));
    const before = syncs;
    // Two parts of 32.
    const fresh = Array.from({ length: 32 }, (_, i) => message(`${i}`));
    const known = Array.from({ length: 32 }, () => message("known"));
    await Promise.all([...fresh, ...known].map((entry) => engine.append(channelId, entry)));
    assertEquals(syncs - before, 1);
    await engine.close();
  },
);

testWithFolder("what is not confirmed yet is neither told nor read", async (folder) => {
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  const syncing = Promise.withResolvers<void>();
  let held = false;
  const openForSync = openAround(async (_, sync) => {
    if (held) syncing.resolve();
    await gate.promise;
    await sync();
  });
  const engine = await openSqliteEngine({ path: `${folder}/engine.sqlite`, openForSync });
  const channelId = await createChannel(engine, 1);
  const heard: string[] = [];
  engine.watch(channelId, () => heard.push("watcher"));
  gate = Promise.withResolvers<void>();
  held = true;
  const append = engine.append(channelId, message("a")).then(() => heard.push("sender"));
  await syncing.promise;
  const read = engine.read(channelId, { after: 0, maxBytes: 9 }).then(({ length }) =>
    heard.push(`reader ${length}`)
  );
  for (let turn = 0; turn < 100; turn++) await undefined;
  assertEquals(heard, []);
  gate.resolve();
  await Promise.all([append, read]);
  assertEquals(heard.toSorted(), ["reader 1", "sender", "watcher"]);
  await engine.close();
});

for (const [which, suffix] of [["log", "-wal"], ["file", ".sqlite"]] as const) {
  testWithFolder(
    `a failed sync of the ${which} stops the engine: nothing more is accepted or read`,
    async (folder) => {
      const path = `${folder}/engine.sqlite`;
      let broken = false;
      const openForSync = openAround(async (name, sync) => {
        if (broken && name.endsWith(suffix)) throw new Error("EIO: the disk is gone");
        await sync();
      });
      const failures: string[] = [];
      const onFailed = ({ code }: EngineError): void => void failures.push(code);
      const engine = await openSqliteEngine({ path, openForSync, checkpointPages: 20, onFailed });
      const channelId = await createChannel(engine, 1);
      await engine.append(channelId, message("kept"));
      broken = true;
      let accepted = 1;
      const error = await assertRejects(async () => {
        for (;; accepted++) {
          await Promise.all([
            engine.append(channelId, message(`${accepted}`)),
            engine.findChannel(channelId),
          ]);
        }
      }, EngineError);
      assertEquals([error.code, failures], ["failed", ["failed"]]);
      for (
        const call of [
          () => engine.append(channelId, message("late")),
          () => engine.findChannel(channelId),
        ]
      ) {
        assertEquals((await assertRejects<EngineError>(call, EngineError)).code, "failed");
      }
      await engine.close();

      // The process would end here; its files are what a new one finds.
      const copy = await copyDatabase(path, `${folder}/copy`);
      const again = await openSqliteEngine({ path: copy });
      assertGreater((await again.findChannel(channelId))?.head ?? 0, accepted - 1);
      await again.close();
    },
  );
}

async function copyDatabase(path: string, folder: string): Promise<string> {
  await Deno.mkdir(folder);
  for (const suffix of ["", "-wal"]) {
    await Deno.copyFile(path + suffix, `${folder}/engine.sqlite${suffix}`);
  }
  return `${folder}/engine.sqlite`;
}

/**
 * A disk after a loss of power in the worst case: each file has exactly the content that it had
 * when its last confirmed sync began.
 */
class WorstDisk {
  #files = new Map<string, Uint8Array>();

  readonly openForSync: OpenForSync = async (path, kind) => {
    // The first page of a new file was confirmed by SQLite when it made the file.
    await this.#keep(path, () => Promise.resolve());
    return await openAround((path, sync) => this.#keep(path, sync))(path, kind);
  };

  async #keep(path: string, sync: () => Promise<void>): Promise<void> {
    const content = await Deno.readFile(path);
    await sync();
    this.#files.set(path.endsWith("-wal") ? "engine.sqlite-wal" : "engine.sqlite", content);
  }

  /** Returns the path of a database as it would be found after a loss of power now. */
  losePower(folder: string): string {
    Deno.mkdirSync(folder);
    for (const [name, content] of this.#files) Deno.writeFileSync(`${folder}/${name}`, content);
    return `${folder}/engine.sqlite`;
  }
}

testWithFolder(
  "what was confirmed, and nothing else, holds every accepted entry at any loss of power",
  async (folder) => {
    const random = createRandom(seedFromEnvironment());
    const path = `${folder}/engine.sqlite`;
    const disk = new WorstDisk();
    const engine = await openSqliteEngine({
      path,
      openForSync: disk.openForSync,
      checkpointPages: 30,
    });
    const channelId = await createChannel(engine, 1);
    let accepted = 0;
    for (let round = 0; round < 25; round++) {
      for (let group = random.below(6); group >= 0; group--) {
        const entries = Array.from(
          { length: 1 + random.below(8) },
          (_, i) => `${round}/${group}/${i}`,
        );
        await Promise.all(
          entries.map((key) =>
            engine.append(channelId, message(key, { body: random.bytes(random.below(6000)) }))
          ),
        );
        accepted += entries.length;
      }
      const after = await openSqliteEngine({ path: disk.losePower(`${folder}/round${round}`) });
      const where = `seed ${random.seed}, round ${round}`;
      assertEquals(
        (await readAll(after, channelId)).map(({ sequence }) => sequence),
        sequences(accepted),
        where,
      );
      assertEquals((await after.findChannel(channelId))?.head, accepted, where);
      await after.close();
    }
    await engine.close();
  },
);

function sequences(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i + 1);
}

testWithFolder("the log is copied back again and again, so that it stays short", async (folder) => {
  const path = `${folder}/engine.sqlite`;
  const checkpointPages = 100;
  const engine = await openSqliteEngine({ path, checkpointPages });
  const channelId = await createChannel(engine, 1);
  for (let i = 0; i < 40; i++) {
    const bodies = Array.from(
      { length: 20 },
      (_, j) => message(`${i}/${j}`, { body: new Uint8Array(2000) }),
    );
    await Promise.all(bodies.map((entry) => engine.append(channelId, entry)));
  }
  const [log, file] = await Promise.all([Deno.stat(`${path}-wal`), Deno.stat(path)]);
  assertGreater(file.size, 1_000_000);
  // The limit, and the one group that went above it.
  assertLess(log.size, 2 * checkpointPages * 4096);
  await engine.close();
});

testWithFolder("only its owner may read the files", async (folder) => {
  const path = `${folder}/engine.sqlite`;
  const engine = await openSqliteEngine({ path });
  await createChannel(engine, 1);
  for (const suffix of ["", "-wal"]) {
    assertEquals(((await Deno.stat(path + suffix)).mode ?? 0) & 0o777, 0o600);
  }
  await engine.close();
});

testWithFolder(
  "a second engine of the same process is refused, and the first one keeps its lock",
  async (folder) => {
    const path = `${folder}/engine.sqlite`;
    const engine = await openSqliteEngine({ path });
    for (let attempt = 0; attempt < 2; attempt++) {
      assertEquals(
        (await assertRejects(() => openSqliteEngine({ path }), EngineError)).code,
        "locked",
      );
    }
    await createChannel(engine, 1);
    await engine.close();
    await (await openSqliteEngine({ path })).close();
  },
);

testWithFolder(
  "files that are damaged, foreign, newer or out of reach are refused with a reason",
  async (folder) => {
    const path = `${folder}/engine.sqlite`;
    const refusal = async (file: string): Promise<string> => {
      const error = await assertRejects(
        () => openSqliteEngine({ path: file }),
        EngineError,
        "Cannot open",
      );
      assert(error.message.includes(file), error.message);
      return error.code;
    };
    await Deno.writeTextFile(path, "this is not a database, whatever its name says".repeat(100));
    assertEquals(await refusal(path), "corrupt");

    const foreign = new DatabaseSync(`${folder}/foreign.sqlite`);
    foreign.exec("CREATE TABLE someone_elses (x)");
    foreign.close();
    const before = await Deno.readFile(`${folder}/foreign.sqlite`);
    assertEquals(await refusal(`${folder}/foreign.sqlite`), "corrupt");
    assertEquals(await Deno.readFile(`${folder}/foreign.sqlite`), before);

    await (await openSqliteEngine({ path: `${folder}/newer.sqlite` })).close();
    const newer = new DatabaseSync(`${folder}/newer.sqlite`);
    newer.exec("PRAGMA user_version = 99");
    newer.close();
    assertEquals(await refusal(`${folder}/newer.sqlite`), "unsupported_version");

    assertEquals(await refusal(`${folder}/nowhere/engine.sqlite`), "io");
  },
);

testWithFolder(
  "damage inside a file is noticed when it is met, and stops the engine",
  async (folder) => {
    const path = `${folder}/engine.sqlite`;
    const engine = await openSqliteEngine({ path });
    const channelId = await createChannel(engine, 1);
    await Promise.all(
      Array.from(
        { length: 400 },
        (_, i) => engine.append(channelId, message(`${i}`, { body: new Uint8Array(2000) })),
      ),
    );
    await engine.close();
    // Everything after the schema and its roots.
    const file = await Deno.open(path, { write: true });
    const { size } = await file.stat();
    for (let at = 40 * 4096; at < size; at += 4096) {
      await file.seek(at, Deno.SeekMode.Start);
      await file.write(new Uint8Array(4096).fill(0xa5));
    }
    file.close();
    const damaged = await openSqliteEngine({ path });
    const read = await assertRejects(() => readAll(damaged, channelId), EngineError);
    assertEquals(read.code, "corrupt");
    const error = await assertRejects(async () => {
      for (let i = 0; i < 400; i++) await damaged.append(channelId, message(`${i}`));
    }, EngineError);
    assertEquals(error.code, "corrupt");
    assertEquals(
      (await assertRejects(() => damaged.append(channelId, message("x")), EngineError)).code,
      "failed",
    );
    await damaged.close();
  },
);
