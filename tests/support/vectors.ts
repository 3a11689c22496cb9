/** Third-party test vectors, read from beside the checkout and never committed. */
import type { Requirement } from "./requirement.ts";

const folder = new URL("../../../shared/vectors/", import.meta.url);

/** The requirement that one vector file is there, for `testWhen`. */
export function vectors(file: string): Requirement {
  try {
    return { met: Deno.statSync(new URL(file, folder)).isFile, reason: "" };
  } catch {
    return { met: false, reason: `third-party vectors ../shared/vectors/${file} are not on this machine` };
  }
}

export function readVectors(file: string): unknown {
  return JSON.parse(Deno.readTextFileSync(new URL(file, folder)));
}
