/** Pictures of pages. */
import { assertGreater } from "@std/assert";
import type { Tab } from "./tab.ts";

/** A picture of one colour compresses to almost nothing. */
export async function photograph(tab: Tab, path: string): Promise<void> {
  await tab.screenshot(path);
  assertGreater((await Deno.stat(path)).size, 8_000);
}
