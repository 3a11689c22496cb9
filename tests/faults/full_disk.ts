/** A store on a disk that is full or read-only, in any runtime: what must hold. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { inCampaign, tried } from "../support/campaign.ts";
import { SmallDisk } from "./small_disk.ts";
import type { StoreUse } from "./store_use.ts";

export type Use = (folder: string, numbers: readonly number[]) => Promise<StoreUse>;

/**
 * Pages that are free: a new store takes ten, and its first records and its clean copy thirty more.
 */
const places = inCampaign
  ? Array.from({ length: 60 }, (_, i) => i)
  : [0, 1, 2, 4, 6, 7, 8, 9, 14, 24, 34];
const perUse = 8;
export const valueBytes = 5000;

/**
 * Uses a new store twice on a disk with so much room, then once more with all of it. Returns the
 * steps that were refused.
 */
async function fillAt(leavingPages: number, use: Use): Promise<readonly string[]> {
  await using disk = await SmallDisk.mount(2);
  const folder = `${disk.folder}/agent`;
  await disk.fill({ leavingPages });
  const uses = [await use(folder, range(0, perUse)), await use(folder, range(perUse, perUse))];
  await disk.free();
  const after = await use(folder, range(2 * perUse, perUse));
  const where = `${leavingPages} pages: ${JSON.stringify({ uses, after })}`;
  for (const { refused } of uses) {
    if (refused === undefined) continue;
    assertEquals(refused.code, "store_full", where);
    assertStringIncludes(refused.text, "the disk is full", where);
  }
  assertEquals(after.refused, undefined, where);
  for (const number of uses.flatMap(({ acknowledged }) => acknowledged)) {
    assert(after.found.includes(number), where);
  }
  return uses.flatMap(({ refused }) => refused === undefined ? [] : [refused.step]);
}

export function range(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => first + i);
}

/** At one place after the other. Every step is hit somewhere, and there is an end to it. */
export async function fillEverywhere(use: Use): Promise<void> {
  const steps = new Set<string>();
  for (const pages of places) for (const step of await fillAt(pages, use)) steps.add(step);
  assertEquals([...steps].toSorted(), ["open", "write"]);
  assertEquals(await fillAt(100, use), []);
  tried(`a disk that is full at ${places.length} places of the store`);
}

export async function refuseReadOnly(use: Use): Promise<void> {
  await using disk = await SmallDisk.mount(2);
  const folder = `${disk.folder}/agent`;
  assertEquals((await use(folder, range(0, perUse))).refused, undefined);
  await disk.setReadOnly(true);
  for (const path of [folder, `${disk.folder}/new`]) {
    const { refused } = await use(path, []);
    assertEquals([refused?.step, refused?.code], ["open", "store_failed"]);
    assertStringIncludes(refused?.text ?? "", "mounted read-only");
  }
  await disk.setReadOnly(false);
  assertEquals((await use(folder, [])).found.toSorted((a, b) => a - b), range(0, perUse));
}
