// The promises of relays on one log, under random schedules of loss, delay, repetition, frozen
// relays and moving agents. One test for each change that the design's review asked for.
import { assert, assertEquals } from "@std/assert";
import { inCampaign, tried } from "../../../tests/support/campaign.ts";
import { createRandom, seedFromEnvironment } from "../../../tests/support/random.ts";
import type { AppendOutcome, LogItem } from "../../engine/engine.ts";
import {
  message,
  readAll,
  sampleAgent,
  sampleChannel,
  sampleChannelId,
  sampleLease,
} from "../../engine/testing/sample.ts";
import { openReplicaStore } from "../../engine/mod.ts";
import type { LogCommand } from "../log/command.ts";
import { Replica } from "./replica.ts";
import { type LossyRelay, LossyRelays } from "../testing/lossy_relays.ts";

const channelId = sampleChannelId(1);
const runs = inCampaign ? 200 : 2;

function testFold(name: string, run: (stage: LossyRelays) => Promise<void>): void {
  Deno.test(name, async (t) => {
    const seed = seedFromEnvironment();
    for (let i = 0; i < runs; i++) {
      await t.step(`seed ${seed + i}`, async () => {
        const stage = new LossyRelays(createRandom(seed + i));
        const first = await stage.start("relay-1");
        await stage.settle(first.write({ op: "create", channel: sampleChannel(1) }));
        await stage.start("relay-2");
        await stage.start("relay-3");
        await run(stage);
        await stage.heal();
        assertAgreed(stage);
        for (const { store } of stage.relays) await store.engine.close();
      });
    }
    tried(`${runs} histories of a fold`);
  });
}

function assertAgreed({ relays }: LossyRelays): void {
  const states = relays.filter(({ isRunning }) => isRunning).map((
    { replica: { state } },
  ) => [state.position, state.digest]);
  for (const state of states) assertEquals(state, states[0]);
}

function running({ relays }: LossyRelays): LossyRelay[] {
  return relays.filter(({ isRunning, isFrozen }) => isRunning && !isFrozen);
}

function append(
  key: string,
  changes: Partial<Extract<LogCommand, { op: "append" }>["entry"]> = {},
): LogCommand {
  const { welcomeBytes: _, ...entry } = message(key);
  return { op: "append", channelId, entry: { ...entry, ...changes } };
}

async function textsOf(relay: LossyRelay): Promise<string[]> {
  const items = await readAll(relay.engine, channelId);
  return items.map((item: LogItem) =>
    item.kind === "gap" ? "gap" : new TextDecoder().decode(item.body)
  );
}

/** Of a write that may have no answer. */
function outcomeOf(writing: Promise<unknown>): Promise<AppendOutcome | undefined> {
  // cast: verdict of an append
  return writing.then((outcome) => outcome as AppendOutcome, () => undefined);
}

async function pass({ time, random }: LossyRelays, mostMs: number): Promise<void> {
  await time.advance(random.below(mostMs));
}

testFold(
  "change 1: behind the beginning of an agent's session nothing of its older sessions counts",
  async (stage) => {
    const { random } = stage;
    const agentId = sampleAgent(1);
    const began: number[] = [];
    for (let move = 0; move < 6; move++) {
      const relay = random.pick(running(stage));
      const behind = relay.replica.position;
      const session = await stage.settle(
        relay.write({ op: "session", agentId, nowMs: 1, behind }).catch(() => undefined),
      );
      if (typeof session !== "number") continue;
      began.push(session);
      for (let i = 0; i < 8; i++) {
        void outcomeOf(relay.write(append(`${session} ${i}`, { by: { agentId, session } })));
      }
      await pass(stage, 200);
      // Its agent thinks it dead and goes elsewhere. It wakes up later, with all that it had taken.
      if (running(stage).length > 1 && random.chance(0.6)) {
        relay.isFrozen = true;
        stage.time.after(random.below(8_000), () => void (relay.isFrozen = false));
      }
    }
    await stage.heal();
    for (const { replica } of running(stage)) {
      assert(!replica.state.sessions.isReplaced(agentId, began.at(-1) ?? Infinity));
    }
    const sessions = (await textsOf(running(stage)[0] as LossyRelay)).map((text) =>
      Number(text.split(" ")[0])
    ); // cast: one runs
    assertEquals(sessions, [...sessions].sort((a, b) => began.indexOf(a) - began.indexOf(b)));
  },
);

testFold(
  "change 2: messages that are pipelined over the end of a lease keep their order, and all are paid",
  async (stage) => {
    const { random } = stage;
    const relay = random.pick(running(stage));
    for (const leaseId of ["a", "b"]) {
      await stage.settle(
        relay.write({ op: "lease", lease: sampleLease({ leaseId, granted: 64 }) }),
      );
    }
    const end = random.below(64);
    const outcomes: Promise<AppendOutcome | undefined>[] = [];
    for (let i = 0; i < 64; i++) {
      if (i === end) void relay.write({ op: "stop_lease", leaseId: "a" }).catch(() => {});
      const charge = { leaseId: i < end ? "a" : "b", fence: 7, messages: 1, payloadBytes: 1 };
      outcomes.push(outcomeOf(relay.write(append(`${i}`, { charge }))));
      if (random.chance(0.2)) await pass(stage, 100);
    }
    const kinds = await stage.settle(Promise.all(outcomes));
    assertEquals(kinds.filter((outcome) => outcome?.kind === "appended").length, 64);
    await stage.heal();
    assertEquals(await textsOf(relay), Array.from({ length: 64 }, (_, i) => `${i}`));
    const counts = (await relay.engine.leases.list()).map((
      { leaseId, consumed },
    ) => [leaseId, consumed]);
    assertEquals(counts.sort(), [["a", end], ["b", 64 - end]]);
  },
);

testFold(
  "change 3: the final count of a lease is that of the log, whoever stops it and when",
  async (stage) => {
    const { random } = stage;
    const [owner] = running(stage);
    assert(owner !== undefined);
    const leaseId = "relay-1/lease";
    await stage.settle(
      owner.write({ op: "lease", lease: sampleLease({ leaseId, granted: 1_000 }) }),
    );
    const charge = { leaseId, fence: 7, messages: 1, payloadBytes: 1 };
    for (let i = 0; i < 40; i++) void outcomeOf(owner.write(append(`${i}`, { charge })));
    await pass(stage, 300);
    owner.isFrozen = true;
    const caretaker = random.pick(running(stage));
    await stage.settle(caretaker.write({ op: "give_up", relay: "relay-1" }));
    const final = await stage.settle(caretaker.write({ op: "stop_lease", leaseId })) as {
      consumed: number;
    }; // cast: its verdict
    // It wakes up, and sends what it had.
    owner.isFrozen = false;
    await stage.time.advance(10_000);
    await stage.heal();
    assert(!owner.isRunning, "a relay that was given up notices");
    const texts = await textsOf(caretaker);
    assertEquals(final.consumed, texts.length);
    assertEquals(texts, texts.map((_, i) => `${i}`));
  },
);

testFold(
  "change 4: memory of writers is bounded by relays, and a copy with the rest is the whole",
  async (stage) => {
    const { random } = stage;
    // Late copies of first batches above all: they must bring no writer back.
    stage.faults = 0.5;
    for (let life = 0; life < 6; life++) {
      const relay = random.pick(running(stage));
      for (let i = 0; i < 10; i++) void outcomeOf(relay.write(append(`${life} ${i}`)));
      await pass(stage, 500);
      relay.end();
      await stage.start(relay.id);
    }
    const [one] = running(stage);
    assert(one !== undefined);
    const path = await Deno.makeTempFile();
    await Deno.remove(path);
    const position = await stage.settle(one.replica.atRest(() => one.store.database.copyNow(path)));
    for (let i = 0; i < 20; i++) {
      void outcomeOf(
        random.pick(running(stage)).write(append(`rest ${i}`)),
      );
    }
    await stage.heal();
    assertEquals([...one.replica.state.writers].length, 3);
    const later = await foldRest(path, stage, position);
    assertEquals(later, [one.replica.state.position, one.replica.state.digest]);
    await Deno.remove(path);
  },
);

async function foldRest(
  path: string,
  { entries }: LossyRelays,
  position: number,
): Promise<unknown[]> {
  const store = await openReplicaStore({ path });
  const ignore = (): void => {};
  const listener = {
    seen: ignore,
    session: ignore,
    cursor: ignore,
    trimmed: ignore,
    welcomed: ignore,
    digest: ignore,
  };
  const replica = new Replica(store, { ...listener, failed: ignore });
  assertEquals(replica.position, position);
  entries.slice(position).forEach((bytes, index) => replica.take(position + index + 1, bytes));
  await replica.idle();
  const state = [replica.state.position, replica.state.digest];
  await store.engine.close();
  return state;
}

testFold(
  "change 5: behind a mark a relay knows all that anybody was told before it asked",
  async (stage) => {
    const { random } = stage;
    const told = new Set<string>();
    const missing: string[] = [];
    const asked: Promise<void>[] = [];
    for (let i = 0; i < 60; i++) {
      const relay = random.pick(running(stage));
      if (random.chance(0.7)) {
        void outcomeOf(relay.write(append(`${i}`))).then((outcome) =>
          outcome?.kind === "appended" && told.add(`${i}`)
        );
      } else {
        const before = [...told];
        asked.push(
          relay.write({ op: "mark" }).then(async () => {
            const known = new Set(await textsOf(relay));
            missing.push(...before.filter((text) => !known.has(text)));
          }),
        );
      }
      await pass(stage, 60);
    }
    await stage.settle(Promise.all(asked));
    assertEquals(missing, []);
    assert(told.size > 0);
  },
);
