import { ed25519 } from "@noble/curves/ed25519.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { assertEquals } from "@std/assert";
import { commitStatement, parseChannelId } from "../../proto/mod.ts";
import { portableSignatures } from "../mls/crypto/signatures.ts";
import { createMemoryDisk, openMemory } from "../store/memory.ts";
import { RecordStore } from "../store/mod.ts";
import { newAnchor, readAnchor } from "./anchor.ts";
import { HealthLog } from "./health.ts";
import { StoreAge, type StoreAgeDeps } from "./store_age.ts";

const channelId = parseChannelId("A".repeat(22));
const membership = { channelId, epoch: 3, durable: { isUnknownOwn: () => Promise.resolve(false) } };

async function createStore(): Promise<RecordStore> {
  return await RecordStore.open(
    openMemory(createMemoryDisk(), (length) => crypto.getRandomValues(new Uint8Array(length))),
  );
}

/** Of an agent that has joined and done nothing else. */
function createAge(store: RecordStore): StoreAge {
  const deps: Pick<StoreAgeDeps, "store"> = { store };
  const health = new HealthLog(() => 0, () => {});
  return new StoreAge({ anchor: newAnchor(undefined), membership, health }, deps as StoreAgeDeps); // cast: no more is asked here
}

Deno.test("a commit that is given up does not undo what was written of the membership before its turn", async () => {
  const store = await createStore();
  const age = createAge(store);
  const hash = new Uint8Array(32).fill(7);
  const change = age.discarded({ epoch: 3, hash });
  // The group is busy; meanwhile the relay says where the membership began, which is written at once.
  await store.batch([age.noted({ ...age.anchor, joinedSequence: 5 })]);
  await store.batch([change()]);
  assertEquals(await readAnchor(store, channelId), { ...newAnchor(5), discarded: [{ epoch: 3, hash }] });
  await store.close();
});

Deno.test("a commit of our own from an earlier membership does not prove that the store is old, a later one does", async () => {
  const reportedFor = async (epoch: number): Promise<string[]> => {
    const store = await createStore();
    const random = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));
    const signingSeed = random(32);
    const identity = { identity: random(8), signingSeed, signatureKey: ed25519.getPublicKey(signingSeed) };
    const made = { epoch, generation: 0, added: [], removed: [], state: random(32), nextState: random(32) };
    const commit = random(100);
    const statement = commitStatement({ ...made, channelId, commitHash: sha256(commit), owners: undefined });
    const signature = portableSignatures.sign(signingSeed, statement);
    const deps = {
      store,
      identity,
      signatures: portableSignatures,
      runtime: { nowMs: () => 0 },
      session: { call: () => Promise.resolve({ commit: { ...made, commit, signature } }) },
    };
    const health = new HealthLog(() => 0);
    const anchor = newAnchor(5, { formerEpoch: 7 });
    const age = new StoreAge({ anchor, membership, health }, deps as unknown as StoreAgeDeps); // cast: no more is asked here
    const sent = { sequence: 6, counter: 0, epoch, commitHash: sha256(commit) };
    await age.behind("test", sent, false).settle?.(new AbortController().signal);
    await store.close();
    return health.issues.map(({ kind }) => kind);
  };
  assertEquals(await reportedFor(7), ["store_unproven"]);
  assertEquals(await reportedFor(8), ["store_rolled_back"]);
});

Deno.test("whoever gives an agent reasons to join anew gains twelve ways back in a day, and the thirteenth a day after the first", async () => {
  const store = await createStore();
  const [hourMs, waits] = [60 * 60 * 1000, [] as number[]];
  let nowMs = 1_000_000;
  const runtime = {
    nowMs: () => nowMs,
    after: (ms: number, run: () => void) => {
      waits.push(ms);
      nowMs += ms;
      queueMicrotask(run);
      return () => {};
    },
  };
  const deps: Pick<StoreAgeDeps, "store"> & { runtime: typeof runtime } = { store, runtime };
  const health = new HealthLog(() => nowMs);
  const age = new StoreAge({ anchor: newAnchor(undefined), membership, health }, deps as StoreAgeDeps); // cast: no more is asked here
  const comeBack = async (): Promise<void> =>
    await age.counted({ reason: "test" }).settle?.(new AbortController().signal);
  for (let times = 0; times < 12; times++) {
    await comeBack();
    nowMs += hourMs;
  }
  assertEquals([waits, health.issues], [[], []]);
  await comeBack();
  assertEquals(waits, [12 * hourMs]);
  assertEquals(health.issues.map(({ kind, text }) => [kind, text.includes("12 times within a day")]), [[
    "rejoined",
    true,
  ]]);
  // It is known to the next process.
  assertEquals((await readAnchor(store, channelId)).cameBackMs.length, 12);
  await store.close();
});
