/** Pictures of pages. */
import { assertGreater } from "@std/assert";
import type { Tab } from "./tab.ts";

/** Kept where `STATIC_TEST_SCREENSHOTS` says; a picture of one colour compresses to almost nothing. */
export async function photograph(tab: Tab, path: string): Promise<void> {
  await tab.screenshot(path);
  assertGreater((await Deno.stat(path)).size, 8_000);
  const kept = Deno.env.get("STATIC_TEST_SCREENSHOTS");
  if (kept !== undefined) await Deno.copyFile(path, `${kept}/${path.slice(path.lastIndexOf("/") + 1)}`);
}
