/** Mistakes that a person could make in the product, by list. `tools/planted_faults.ts` plants them. */
import { faultsEverywhere } from "./faults_everywhere.ts";
import { heartFaults } from "./heart_faults.ts";

export interface Fault {
  readonly name: string;
  readonly path: string;
  /** Stands exactly once in the file. */
  readonly from: string;
  readonly to: string;
}

/** The text with the mistake. Throws when the text is not as the list knows it: then the list has to be mended. */
export function withFault(text: string, { name, path, from, to }: Fault): string {
  const parts = text.split(from);
  if (parts.length !== 2) {
    throw new Error(`${path} has the text of "${name}" ${parts.length - 1} times, not once; mend it in tools/`);
  }
  return parts.join(to);
}

/** By the name that picks the list. */
export const faultLists = { everywhere: faultsEverywhere, heart: heartFaults } as const;
