/** A mistake that a person could make in the product; `tools/planted_faults.ts` plants it. */

export interface PlantedFault {
  readonly name: string;
  readonly path: string;
  /** Stands exactly once in the file. */
  readonly from: string;
  readonly to: string;
}

/**
 * The text with the mistake. Throws when the text is not as the list knows it: then the list has to
 * be mended.
 */
export function withFault(text: string, { name, path, from, to }: PlantedFault): string {
  const parts = text.split(from);
  if (parts.length !== 2) {
    throw new Error(
      `${path} has the text of "${name}" ${parts.length - 1} times, not once; mend it in tools/`,
    );
  }
  return parts.join(to);
}
