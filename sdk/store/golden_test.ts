/**
 * Frozen bytes. A change here raises the draft until 0.1.0; from then on it is a new format
 * version, never an edit.
 */
import { assert, assertEquals } from "@std/assert";
import { utf8 } from "./bytes.ts";
import type { PeriodStorage } from "./store_backend.ts";
import { createMemoryDisk, type MemoryDisk, openMemory } from "./memory.ts";
import { RecordStore } from "./record_store.ts";

/** Random bytes 1, 1, 1, … then 2, 2, 2, …: each call one higher. */
function createCountingRandom(): (length: number) => Uint8Array<ArrayBuffer> {
  let calls = 0;
  return (length) => new Uint8Array(length).fill(++calls);
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function unhex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16));
}

const cost = { memoryKiB: 64, iterations: 2, parallelism: 1 };

async function writeGolden(
  passphrase?: string,
  after?: PeriodStorage["after"],
): Promise<MemoryDisk> {
  const disk = createMemoryDisk();
  const options = passphrase === undefined ? {} : { passphrase, cost };
  const store = await RecordStore.open(openMemory(disk, createCountingRandom(), after), options);
  await store.batch([
    { type: "put", kind: "channel", id: "acme/ops/deploy", value: utf8("state") },
    { type: "put", kind: "identity", id: "self", value: new Uint8Array(3) },
  ]);
  await store.close();
  return disk;
}

const golden = {
  key:
    "53544b0c01010101010101010101010101010101010101010101010101010101010101010101bfffbac938588a74",
  wrappedKey:
    "53544b0c0102000000400000000201020202020202020202020202020202020303030303030303030303034f02b9aafa" +
    "28a45c7c641a99d766020d9eb3d36693c4d15821b33aa084b7a08d3f46a7a3514fbc8804770dada04c32da6956381c10" +
    "de9630",
  witness: "0100000000000000016a3756f1901c7e1d8c49e4b952089f62c471500db9beb2d8c4aac5cda42f9198",
  blobs: {
    "68":
      "0155d9072a6bd88c9b0505050505050505050505056fe0c7fa043a1e92de52440b670328450489ee33d9670e93dcb498" +
      "728f479a03db9d63ff6db15ee3cea722ca4da96604",
    "7293d123f371430c24e148c48b710a39dff43328b7d6e6e69259abead2ee405a82bd2c1edb2501f9dd01aef6aa8b71e8c9":
      "01000100000000000000010303030303030303030303031af0724cef9fd2301ce26bc79639868964e5950aa894c7972d" +
      "65ee10197702bdcfe4dfd59f6c",
    "72af2b07ea7023e710b4502836d1b49dd2458e5fa6cde6b589763614b6a7d825c8d376dbdd053b3f45a94fd843d9bafc9d":
      "0100010000000000000001040404040404040404040404ceb8f5cb4cdb23094e28f4f794db9547eb0ec8b9c77fb835ce",
  },
};

function show(disk: MemoryDisk): { key: string; witness: string; blobs: Record<string, string> } {
  return {
    key: hex(disk.key ?? new Uint8Array()),
    witness: hex(disk.witness ?? new Uint8Array()),
    blobs: Object.fromEntries(
      [...disk.blobs].sort().map(([name, { value }]) => [name, hex(value)]),
    ),
  };
}

const never: PeriodStorage["after"] = () => () => {};

const goldenPeriod: { readonly period: string; readonly blobs: Readonly<Record<string, string>> } =
  {
    period:
      "0100000000000000020a0a0a0a0a0a0a0a0a0a0a0a3c501bf3b69f4bda0e48c8b79e4d6f3ec05a788b04e0311af326039b" +
      "5983fa525d4ddd9d4acc7911349879986007eb8d",
    blobs: {
      "6b0000":
        "0100000001000000000000000200000000000000020b0b0b0b0b0b0b0b0b0b0b0b2f7aa2905d618eea69f2bc29851a" +
        "87561f1ecddc1fe77b4dba7fdaa03497f5d8192cc295491411ca8389a18ee559ae3c72d0c0014a3402605865921532a75826",
      "7293d123f371430c24e148c48b710a39dff43328b7d6e6e69259abead2ee405a82bd2c1edb2501f9dd01aef6aa8b71e8c9":
        "020001000000000000000106060606060606060606060623a0f2f4c33a32cc09886b59a6b19f6654e94c32ace0756a9bfb" +
        "38004620a1bc20dcd9d52a49",
      "72af2b07ea7023e710b4502836d1b49dd2458e5fa6cde6b589763614b6a7d825c8d376dbdd053b3f45a94fd843d9bafc9d":
        "01000100000000000000010707070707070707070707072c6efeb0aae92c7d339fce38be48f6cc51b34d159a898a227d",
    },
  };

function showPeriod({ period = new Uint8Array(), blobs }: MemoryDisk): typeof goldenPeriod {
  assertEquals(period.length, 8192);
  const isZero = (byte: number): boolean => byte === 0;
  assert(period.subarray(69).every(isZero));
  const names = [...blobs.keys()].filter((name) => !name.startsWith("68")).sort();
  return {
    period: hex(period.subarray(0, 69)),
    blobs: Object.fromEntries(
      names.map((name) => [name, hex(blobs.get(name)?.value ?? new Uint8Array())]),
    ),
  };
}

Deno.test("a store that forgets writes exactly the frozen bytes, and reads them", async () => {
  const disk = await writeGolden(undefined, never);
  const last = showPeriod(disk);
  assertEquals(last, goldenPeriod);
  const store = await RecordStore.open(openMemory(disk, createCountingRandom(), never));
  assertEquals(await store.get("channel", "acme/ops/deploy"), utf8("state"));
  await store.close();
});

Deno.test("the store writes exactly the frozen bytes", async () => {
  const { key, witness, blobs } = golden;
  assertEquals(show(await writeGolden()), { key, witness, blobs });
  assertEquals(show(await writeGolden("correct horse")).key, golden.wrappedKey);
});

Deno.test("the store reads the frozen bytes", async () => {
  const disk = createMemoryDisk();
  disk.key = unhex(golden.key);
  disk.witness = unhex(golden.witness);
  for (const [name, value] of Object.entries(golden.blobs)) {
    disk.blobs.set(name, { key: unhex(name), value: unhex(value) });
  }
  const store = await RecordStore.open(openMemory(disk, createCountingRandom()));
  assertEquals(await store.get("channel", "acme/ops/deploy"), utf8("state"));
  assertEquals(await store.list("identity"), [{ id: "self", value: new Uint8Array(3) }]);
  await store.close();
});
