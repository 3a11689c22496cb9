/**
 * Code of our own that a library could replace one day: its reasons are tested, and a failure says
 * what to delete.
 */
import { assert } from "@std/assert";
import { tried } from "./campaign.ts";

export interface OwnCode {
  /** The library, with its version. */
  readonly library: string;
  /** Each returns whether the reason still holds, and throws if it cannot tell. */
  readonly reasons: Readonly<Record<string, () => Promise<boolean>>>;
  /** The sentence for the day on which none holds. */
  readonly deletion: string;
}

export async function checkReasons({ library, reasons, deletion }: OwnCode): Promise<void> {
  const standing: string[] = [];
  for (const [reason, holds] of Object.entries(reasons)) if (await holds()) standing.push(reason);
  tried(`${library}: ${standing.join(", ") || "no reason is left"}`);
  assert(standing.length > 0, `Every reason against ${library} is gone. ${deletion}`);
}
