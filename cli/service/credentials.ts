/**
 * The user's credentials file (`proto/api/credentials.ts`), on this machine and in the words of
 * this program.
 */
import {
  type Credentials,
  formatCredentials,
  parseCredentials,
  WireError,
} from "../../proto/mod.ts";
import { diskCodeOf, reasonOf } from "../disk.ts";
import { Failure } from "../failure.ts";
import type { CommandPlatform } from "../platform/platform.ts";

export async function readCredentials({ files, folders }: CommandPlatform): Promise<Credentials> {
  const path = folders.credentialsFile;
  const text = await files.read(path).catch((cause) => {
    throw new Failure(
      diskCodeOf(cause) ?? "auth_failed",
      `Cannot read ${path}: ${reasonOf(cause)}`,
      { cause },
    );
  });
  if (text === undefined) return {};
  try {
    return parseCredentials(text, path);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw new Failure(error.code, error.message, {
      advice: "Delete it and sign in again with: {} login",
    });
  }
}

export async function writeCredentials(
  { files, folders }: CommandPlatform,
  credentials: Credentials,
): Promise<void> {
  const path = folders.credentialsFile;
  try {
    await files.writePrivate(path, formatCredentials(credentials));
  } catch (cause) {
    throw new Failure(diskCodeOf(cause) ?? "internal", `Cannot write ${path}: ${reasonOf(cause)}`, {
      advice: "Make the folder writable, or set XDG_CONFIG_HOME to one that is; then use: {} login",
      exit: "unexpected",
      cause,
    });
  }
}

/** The key is over; the addresses stay. */
export async function forgetKey(
  platform: CommandPlatform,
  { api_key: _, ...rest }: Credentials,
): Promise<void> {
  await writeCredentials(platform, rest);
}

export async function removeCredentials({ files, folders }: CommandPlatform): Promise<void> {
  const path = folders.credentialsFile;
  await files.remove(path).catch((cause) => {
    throw new Failure(
      diskCodeOf(cause) ?? "internal",
      `Cannot delete ${path}: ${reasonOf(cause)}`,
      {
        exit: "unexpected",
        cause,
      },
    );
  });
}
