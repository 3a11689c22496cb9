/**
 * Names that this user gave to agents (`proto/people/trust.ts`), on this machine and in the words
 * of this program.
 */
import { parseTrust, WireError } from "../proto/mod.ts";
import type { Context } from "./command.ts";
import { diskCodeOf, reasonOf } from "./disk.ts";
import { Failure } from "./failure.ts";

/** By agent id. */
export async function readNames(
  { platform: { files, folders } }: Pick<Context, "platform">,
): Promise<Map<string, string>> {
  const path = folders.trustFile;
  const text = await files.read(path).catch((cause) => {
    throw new Failure(
      diskCodeOf(cause) ?? "store_corrupt",
      `Cannot read ${path}: ${reasonOf(cause)}`,
      { cause },
    );
  });
  if (text === undefined) return new Map();
  try {
    return new Map(parseTrust(text, path).names);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    const advice = "Correct it, or delete it and name the agents again with: {} trust name";
    throw new Failure("store_corrupt", error.message, { advice });
  }
}
