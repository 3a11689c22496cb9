/**
 * Durable puts per second of 4 KiB records, single and in batches of 100, encrypted beside plain,
 * in one run: the plain side is the same LevelDB with the same options, names of the same length
 * and the same bytes, without the store around it. One writer waits for every acknowledgement;
 * several keep the disk busy while the next batch is encrypted. A thousand records are written over
 * and over, as an agent's state is.
 */
import { rm } from "node:fs/promises";
import process from "node:process";
import { tmpdir } from "node:os";
import { ClassicLevel } from "classic-level";
import { openDirectoryStore } from "../sdk/platform/directory_store.ts";
import { median, reportRatio } from "./ratio.ts";

const recordBytes = 4096;
const records = 1000;
const rounds = 11;

interface Side {
  readonly write: (ids: readonly string[]) => Promise<void>;
  readonly close: () => Promise<void>;
}

interface Load {
  readonly name: string;
  readonly batch: number;
  readonly writers: number;
  /** Writes of a round: enough to be felt, few enough to keep compactions out of the figures. */
  readonly puts: number;
}

const loads: readonly Load[] = [
  { name: "single, 1 writer", batch: 1, writers: 1, puts: 300 },
  { name: "single, 8 writers", batch: 1, writers: 8, puts: 1200 },
  { name: "batch of 100, 1 writer", batch: 100, writers: 1, puts: 3000 },
  { name: "batch of 100, 3 writers", batch: 100, writers: 3, puts: 3000 },
];

const value = crypto.getRandomValues(new Uint8Array(recordBytes));

async function openEncrypted(folder: string): Promise<Side> {
  const store = await openDirectoryStore(folder);
  return {
    write: (ids) => store.batch(ids.map((id) => ({ type: "put", kind: "channel", id, value }))),
    close: () => store.close(),
  };
}

async function openPlain(folder: string): Promise<Side> {
  const encodings = { keyEncoding: "view", valueEncoding: "view" } as const;
  const level = new ClassicLevel<Uint8Array, Uint8Array>(folder, {
    ...encodings,
    compression: false,
  });
  await level.open();
  const nameOf = (id: string): Uint8Array => new TextEncoder().encode(id.padStart(49));
  return {
    write: (ids) =>
      level.batch(ids.map((id) => ({ type: "put", key: nameOf(id), value })), { sync: true }),
    close: () => level.close(),
  };
}

/** Puts per second. */
async function measure(side: Side, { batch, writers, puts }: Load): Promise<number> {
  let next = 0;
  const started = performance.now();
  await Promise.all(Array.from({ length: writers }, async () => {
    while (next < puts) {
      const first = next;
      next += batch;
      await side.write(Array.from({ length: batch }, (_, i) => `record ${(first + i) % records}`));
    }
  }));
  return puts / (performance.now() - started) * 1000;
}

interface Comparison {
  readonly plain: number;
  readonly encrypted: number;
  /** The median of pairs of neighbours: other work of the machine disturbs both alike. */
  readonly ratio: number;
}

/**
 * The sides take turns in new folders, so that neither profits from the other's compactions.
 * Returns medians.
 */
async function compare(load: Load): Promise<Comparison> {
  const pairs: Comparison[] = [];
  for (let round = 0; round < rounds; round++) {
    const plain = await measureOnce(openPlain, load);
    const encrypted = await measureOnce(openEncrypted, load);
    pairs.push({ plain, encrypted, ratio: encrypted / plain });
  }
  return {
    plain: median(pairs.map(({ plain }) => plain)),
    encrypted: median(pairs.map(({ encrypted }) => encrypted)),
    ratio: median(pairs.map(({ ratio }) => ratio)),
  };
}

async function measureOnce(open: (folder: string) => Promise<Side>, load: Load): Promise<number> {
  const folder = `${tmpdir()}/static-bench-${process.pid}`;
  const side = await open(folder);
  try {
    await side.write(["warm"]);
    return await measure(side, load);
  } finally {
    await side.close();
    await rm(folder, { recursive: true });
  }
}

const runtime = "Deno" in globalThis
  ? `Deno ${process.versions["deno"]}`
  : `Node ${process.versions.node}`;
console.log(`${runtime}, ${process.arch}, durable puts of ${recordBytes} bytes per second`);
for (const load of loads) {
  const { plain, encrypted, ratio } = await compare(load);
  const cost = (1 - ratio) * 100;
  const figures = {
    unit: "puts/s",
    ours: encrypted,
    peer: "LevelDB without encryption",
    theirs: plain,
    ratio,
  };
  reportRatio({ bench: "store", what: load.name, ...figures });
  const cells = [
    `plain ${plain.toFixed(0).padStart(6)}`,
    `encrypted ${encrypted.toFixed(0).padStart(6)}`,
  ];
  console.log(
    `${load.name.padEnd(26)}${cells.join("   ")}   encryption costs ${cost.toFixed(0)} %`,
  );
}
