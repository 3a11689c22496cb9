/**
 * `trust.json` (`proto/people/trust.ts`) on this machine and in the words of this program: names
 * that this user gave to agents, and domains whose badges the user believes.
 */
import { nobodyKnown, parseTrust, type Trust, WireError } from "../proto/mod.ts";
import type { Context } from "./command.ts";
import { diskCodeOf, reasonOf } from "./disk.ts";
import { Failure } from "./failure.ts";

export async function readTrust(
  { platform: { files, folders } }: Pick<Context, "platform">,
): Promise<Trust> {
  const path = folders.trustFile;
  const text = await files.read(path).catch((cause) => {
    throw new Failure(
      diskCodeOf(cause) ?? "store_corrupt",
      `Cannot read ${path}: ${reasonOf(cause)}`,
      { cause },
    );
  });
  if (text === undefined) return nobodyKnown;
  try {
    return parseTrust(text, path);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    const advice = "Correct it, or delete it and begin again with: {} trust name, {} trust add";
    throw new Failure("store_corrupt", error.message, { advice });
  }
}
