import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type CallName,
  equalBytes,
  readKeyPackage,
  type ReplyBody,
  type RequestBody,
  verifyKeyPackage,
} from "../../../proto/mod.ts";
import { createRandom } from "../../../tests/support/mod.ts";
import { createNodeEd25519 } from "../../platform/node_ed25519.ts";
import { createSignatures } from "../../mls/crypto/signatures.ts";
import { MlsFault } from "../../mls/codec.ts";
import type { ConnectionInfo, SessionState } from "../../session/relay_session.ts";
import { createMemoryDisk, openMemory, RecordStore } from "../../store/mod.ts";
import { openIdentity } from "../../mls/identity.ts";
import { KeyPackages } from "./key_package_runner.ts";

const dayMs = 24 * 60 * 60 * 1000;
type Upload = RequestBody<"UploadKeyPackage">;

interface Bench {
  readonly keyPackages: KeyPackages;
  readonly uploads: Upload[];
  readonly store: RecordStore;
  now: number;
}

async function createBench(): Promise<Bench> {
  const random = createRandom(5);
  const runtime = {
    nowMs: () => 0,
    after: () => () => {},
    randomBytes: (length: number) => random.bytes(length),
  };
  const store = await RecordStore.open(
    openMemory(createMemoryDisk(), (length) => random.bytes(length)),
  );
  const uploads: Upload[] = [];
  const bench = { uploads, store, now: 1_790_000_000_000 };
  const call = <Name extends CallName>(
    _operation: Name,
    body: RequestBody<Name>,
  ): Promise<ReplyBody<Name>> => {
    uploads.push(body as Upload);
    return Promise.resolve({ stored: 0, hasLastResort: true } as ReplyBody<Name>);
  };
  const keyPackages = new KeyPackages({
    store,
    // cast: nothing more is asked of it
    session: { call, state: { kind: "online" } as SessionState },
    identity: await openIdentity(store, new TextEncoder().encode("agent"), runtime),
    signatures: await createSignatures({ ed25519: createNodeEd25519() }),
    runtime,
    relayNowMs: () => bench.now,
  });
  return Object.assign(bench, { keyPackages });
}

function connection(
  keyPackages: number,
  hasLastResort: boolean,
  keyPackagesPerAgent = 100,
): ConnectionInfo {
  // Fields that the pool does not look at are left out.
  return { keyPackages, hasLastResort, limits: { keyPackagesPerAgent } } as ConnectionInfo;
}

async function settle(keyPackages: KeyPackages, act: () => void): Promise<void> {
  act();
  // wait: only promises are in the way, no time
  while (!keyPackages.isResting) await new Promise((resolve) => setTimeout(resolve));
}

Deno.test("a relay that has none is given a pool and one of last resort, each valid and stored", async () => {
  const { keyPackages, uploads, store, now } = await createBench();
  await settle(keyPackages, () => keyPackages.connected(connection(0, false)));
  const [upload] = uploads;
  assert(upload);
  assertEquals([upload.keyPackages.length, upload.replace], [10, false]);
  assert(upload.lastResort);
  for (const message of [...upload.keyPackages, upload.lastResort]) {
    verifyKeyPackage(readKeyPackage(message), now);
  }
  assertEquals((await store.list("keypackages")).length, 11);
});

Deno.test("a relay that has enough is given nothing", async () => {
  const { keyPackages, uploads } = await createBench();
  await settle(keyPackages, () => keyPackages.connected(connection(0, false)));
  await settle(keyPackages, () => keyPackages.connected(connection(9, true)));
  assertEquals(uploads.length, 1);
});

Deno.test("KeyPackages whose private keys are gone are replaced", async () => {
  const { keyPackages, uploads } = await createBench();
  await settle(keyPackages, () => keyPackages.connected(connection(10, true)));
  assertEquals(uploads.map(({ replace, keyPackages: { length } }) => [replace, length]), [[
    true,
    10,
  ]]);
});

Deno.test("a relay with room for few is given few, and not more at the next connection", async () => {
  const { keyPackages, uploads } = await createBench();
  await settle(keyPackages, () => keyPackages.connected(connection(0, false, 2)));
  await settle(keyPackages, () => keyPackages.connected(connection(2, true, 2)));
  await settle(
    keyPackages,
    () => keyPackages.low({ remaining: 1, wanted: 1, hasLastResort: true }),
  );
  assertEquals(uploads.map(({ keyPackages: { length } }) => length), [2, 1]);
});

Deno.test("the relay's reminder is answered with what the pool lacks, once for many of them", async () => {
  const { keyPackages, uploads } = await createBench();
  const low = { remaining: 2, wanted: 98, hasLastResort: true };
  await settle(keyPackages, () => [low, low, low].forEach((each) => keyPackages.low(each)));
  assertEquals(uploads.map(({ keyPackages: { length }, lastResort }) => [length, lastResort]), [[
    8,
    undefined,
  ]]);
});

Deno.test("a relay that asks without end does not fill the disk", async () => {
  const bench = await createBench();
  for (let asked = 0; asked < 12; asked++) {
    bench.now += 1000;
    await settle(
      bench.keyPackages,
      () => bench.keyPackages.low({ remaining: 0, wanted: 100, hasLastResort: true }),
    );
  }
  assertEquals((await bench.store.list("keypackages")).length, 100);
  const newest = bench.uploads.at(-1)?.keyPackages[0];
  assert(newest && await bench.keyPackages.find(readKeyPackage(newest).reference));
});

const entered = (
  group: number,
  epoch = 0,
): { groupId: Uint8Array; confirmationTag: Uint8Array } => ({
  groupId: new Uint8Array(16).fill(group),
  confirmationTag: new Uint8Array(32).fill(epoch),
});

Deno.test("private keys go when they were used, those of last resort stay, and all go when they expire", async () => {
  const bench = await createBench();
  const { keyPackages, store, uploads } = bench;
  await settle(keyPackages, () => keyPackages.connected(connection(0, false)));
  const own = await keyPackages.create();
  await store.batch(await keyPackages.used(own, entered(1)));
  assertEquals(await keyPackages.find(own.reference), undefined);

  const lastResort = uploads[0]?.lastResort;
  assert(lastResort);
  const kept = await keyPackages.find(readKeyPackage(lastResort).reference);
  assert(kept);
  await store.batch(await keyPackages.used(kept, entered(1)));
  assert(await keyPackages.find(kept.reference));
  for (const epoch of [0, 1]) {
    await assertRejects(
      () => keyPackages.used(kept, entered(1, epoch)),
      MlsFault,
      "followed the Welcome before",
    );
  }
  // Two channels are asked about at once, and written one after the other.
  for (const group of [2, 3]) await keyPackages.used(kept, entered(group));
  for (const group of [2, 3]) await store.batch(await keyPackages.usedNow(kept, entered(group)));
  for (const group of [1, 2, 3]) {
    await assertRejects(
      () => keyPackages.used(kept, entered(group)),
      MlsFault,
      "followed the Welcome before",
    );
  }

  bench.now += 31 * dayMs;
  await settle(keyPackages, () => keyPackages.connected(connection(0, false)));
  const left = await store.list("keypackages");
  assertEquals(left.length, 11, "only the fresh ones");
});

Deno.test("a last resort is renewed once it was used, and not before", async () => {
  const { keyPackages, store, uploads } = await createBench();
  await settle(keyPackages, () => keyPackages.connected(connection(0, false)));
  await settle(keyPackages, () => keyPackages.renew());
  assertEquals(uploads.length, 1);
  const first = uploads[0]?.lastResort;
  assert(first);
  const own = await keyPackages.find(readKeyPackage(first).reference);
  assert(own);
  await store.batch(await keyPackages.used(own, entered(1)));
  await settle(keyPackages, () => keyPackages.renew());
  const second = uploads[1]?.lastResort;
  assert(second && !equalBytes(first, second));
  await settle(keyPackages, () => keyPackages.renew());
  assertEquals(uploads.length, 2);
});

Deno.test("bytes that are no Welcome, or a Welcome for somebody else, are refused", async () => {
  const { keyPackages } = await createBench();
  await assertRejects(() => keyPackages.findFor(new Uint8Array(20)), MlsFault, "no Welcome");
});
