// A copy of the log comes to the verdicts of an engine alone, however many commands it carries out
// at once.
import { assertEquals } from "@std/assert";
import { inCampaign, tried } from "../../../tests/support/campaign.ts";
import { createRandom, type Random, seedFromEnvironment } from "../../../tests/support/random.ts";
import {
  type Engine,
  type EngineError,
  openReplicaStore,
  openSqliteEngine,
} from "../../engine/mod.ts";
import type { LeaseState, NewEntry } from "../../engine/engine.ts";
import {
  commit,
  message,
  readAll,
  sampleAgent,
  sampleChannel,
  sampleLease,
} from "../../engine/testing/sample.ts";
import { encodeBatch } from "../log/batch.ts";
import { encodeCommand, type LogCommand } from "../log/command.ts";
import { Replica } from "./replica.ts";

const runs = inCampaign ? 200 : 2;
const commandsPerRun = 150;
const channels = [1, 2];
const leases = ["lease-1", "lease-2"];
/** Less than a run wants, so that some are spent. */
const granted = 12;

type Appending = Extract<LogCommand, { op: "append" }>;
type Chosen = Appending | Extract<LogCommand, { op: "stop_lease" }>;

/**
 * Entries that are repeated, of another epoch, or paid from a lease that may be spent or stopped.
 */
async function randomCommand(random: Random, engine: Engine): Promise<Chosen> {
  if (random.chance(0.02)) return { op: "stop_lease", leaseId: random.pick(leases) };
  const number = random.pick(channels);
  const { channelId } = sampleChannel(number);
  const { epoch: current = 0 } = await engine.findChannel(channelId) ?? {};
  const epoch = Math.max(0, current + random.pick([0, 0, 0, 0, -1, 1]));
  const key = `key ${random.below(commandsPerRun)}`;
  const timeMs = 2_000;
  if (random.chance(0.15)) {
    const [added, removed] = [[sampleAgent(random.below(4) + 2)], [
      sampleAgent(random.below(4) + 2),
    ]];
    const members = random.chance(0.5) ? { added } : { removed };
    return {
      op: "append",
      channelId,
      entry: withoutWelcomes(commit(key, epoch, { timeMs, ...members })),
    };
  }
  const charge = { leaseId: random.pick(leases), fence: 7, messages: 1, payloadBytes: 10 };
  const entry = message(key, { epoch, timeMs, ...(random.chance(0.5) && { charge }) });
  return { op: "append", channelId, entry: withoutWelcomes(entry) };
}

function withoutWelcomes({ welcomeBytes: _, ...entry }: NewEntry): Appending["entry"] {
  return entry;
}

async function carryOut(engine: Engine, command: Chosen): Promise<unknown> {
  if (command.op === "stop_lease") return await engine.leases.stop(command.leaseId);
  const { welcomeBytes: _, ...entry } = command.entry;
  return await engine.append(command.channelId, entry);
}

/** Batches of random sizes, all taken before the first is carried out. */
function takeAll(replica: Replica, commands: readonly LogCommand[], random: Random): void {
  const batch = (number: number, some: readonly LogCommand[]): Uint8Array =>
    encodeBatch({ writer: "w", relay: "relay-1", number, commands: some.map(encodeCommand) });
  replica.take(1, batch(1, []));
  for (let [at, number] = [0, 2]; at < commands.length; number++) {
    const count = 1 + random.below(40);
    replica.take(number, batch(number, commands.slice(at, at + count)));
    at += count;
  }
}

async function contentOf(engine: Engine): Promise<unknown> {
  const states: readonly LeaseState[] = await engine.leases.list();
  const ids = channels.map((number) => sampleChannel(number).channelId);
  return {
    logs: await Promise.all(ids.map((channelId) => readAll(engine, channelId))),
    cursors: await Promise.all(ids.map((channelId) => engine.cursors(channelId))),
    records: await Promise.all(ids.map((channelId) => engine.findChannel(channelId))),
    leases: states.toSorted((a, b) => a.leaseId.localeCompare(b.leaseId)),
  };
}

Deno.test("a copy whose disk has no room for the next entry says so, once, to the owner of its failure", async () => {
  const store = await openReplicaStore({ path: ":memory:" });
  // SQLite then refuses as it does when the disk refuses.
  store.database.prepare("PRAGMA max_page_count = 100").get();
  const ignore = (): void => {};
  const failures: EngineError[] = [];
  const { promise: failed, resolve } = Promise.withResolvers<void>();
  const replica = new Replica(store, {
    seen: ignore,
    session: ignore,
    cursor: ignore,
    trimmed: ignore,
    welcomed: ignore,
    digest: ignore,
    failed: (error) => {
      failures.push(error);
      resolve();
    },
  });
  const { channelId } = sampleChannel(1);
  const body = new Uint8Array(64 * 1024);
  const entries = Array.from(
    { length: 16 },
    (_, i) => withoutWelcomes(message(`key ${i}`, { body })),
  );
  const appends = entries.map((entry): LogCommand => ({ op: "append", channelId, entry }));
  takeAll(replica, [{ op: "create", channel: sampleChannel(1) }, ...appends], createRandom(1));
  // Nobody waits for the copy: an error without an owner would end the process.
  await failed;
  assertEquals(failures.map(({ code }) => code), ["io"]);
  await store.engine.close();
});

Deno.test("random commands come to the same verdicts in a copy of the log as in an engine alone", async (t) => {
  const seed = seedFromEnvironment();
  for (let run = 0; run < runs; run++) {
    await t.step(`seed ${seed + run}`, async () => {
      const random = createRandom(seed + run);
      const [alone, store] = [
        await openSqliteEngine({ path: ":memory:" }),
        await openReplicaStore({ path: ":memory:" }),
      ];
      const ignore = (): void => {};
      const verdicts: unknown[] = [];
      const replica = new Replica(store, {
        seen: (_, __, results) => void verdicts.push(...results),
        session: ignore,
        cursor: ignore,
        trimmed: ignore,
        welcomed: ignore,
        digest: ignore,
        failed: (error) => {
          throw error;
        },
      });
      const held = leases.map((leaseId) => sampleLease({ leaseId, granted }));
      const prepared: LogCommand[] = [
        ...channels.map((number): LogCommand => ({ op: "create", channel: sampleChannel(number) })),
        ...held.map((lease): LogCommand => ({ op: "lease", lease })),
      ];
      for (const number of channels) await alone.createChannel(sampleChannel(number));
      for (const lease of held) await alone.leases.open(lease);
      const [chosen, expected]: [LogCommand[], unknown[]] = [[], []];
      for (let i = 0; i < commandsPerRun; i++) {
        const command = await randomCommand(random, alone);
        chosen.push(command);
        expected.push(await carryOut(alone, command));
      }
      takeAll(replica, [...prepared, ...chosen], random);
      await replica.idle();
      assertEquals((await Promise.all(verdicts)).slice(prepared.length), expected);
      assertEquals(await contentOf(store.engine), await contentOf(alone));
      const kinds = new Set(
        expected.map((verdict) => (verdict as { kind?: string } | undefined)?.kind),
      ); // cast: only read
      for (const kind of ["appended", "conflict", "duplicate"]) {
        assertEquals([kind, kinds.has(kind)], [kind, true]);
      }
      await alone.close();
      await store.engine.close();
    });
  }
  tried(`${runs} runs of ${commandsPerRun} commands`);
});
