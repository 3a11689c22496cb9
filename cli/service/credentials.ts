/**
 * The per-user file that `signup` and `login` write and that the SDK reads: JSON, 0600. It holds one API key with the
 * addresses at which it is good, because a key must never be sent anywhere else.
 */
import { Failure } from "../failure.ts";
import type { Platform } from "../platform/platform.ts";

export interface Credentials {
  readonly api_key?: string;
  readonly api_url?: string;
  readonly relay_url?: string;
  readonly ca_file?: string;
  /** Whose key it is; for people. */
  readonly email?: string;
}

const fields = ["api_key", "api_url", "relay_url", "ca_file", "email"] as const;

export async function readCredentials({ files, folders }: Platform): Promise<Credentials> {
  const path = folders.credentialsFile;
  const text = await files.read(path).catch((cause) => {
    throw new Failure("auth_failed", `Cannot read ${path}: ${reasonOf(cause)}`, { cause });
  });
  if (text === undefined) return {};
  const parsed = parseObject(text);
  if (parsed === undefined) {
    // The parser's own message would quote the file, which holds a key.
    throw new Failure("auth_failed", `Cannot use ${path}: it is not a JSON object`, {
      advice: "Delete it and sign in again with: {} login",
    });
  }
  const known = fields.flatMap((name) => {
    const value: unknown = Reflect.get(parsed, name);
    return typeof value === "string" && value !== "" ? [[name, value]] : [];
  });
  return Object.fromEntries(known);
}

export async function writeCredentials({ files, folders }: Platform, credentials: Credentials): Promise<void> {
  const path = folders.credentialsFile;
  try {
    await files.writePrivate(path, `${JSON.stringify(credentials, null, 2)}\n`);
  } catch (cause) {
    throw new Failure("auth_failed", `Cannot write ${path}: ${reasonOf(cause)}`, {
      advice: "Make the folder writable, or set XDG_CONFIG_HOME to one that is; then use: {} login",
      exit: "unexpected",
      cause,
    });
  }
}

export async function removeCredentials({ files, folders }: Platform): Promise<void> {
  const path = folders.credentialsFile;
  await files.remove(path).catch((cause) => {
    throw new Failure("auth_failed", `Cannot delete ${path}: ${reasonOf(cause)}`, { exit: "unexpected", cause });
  });
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The system's word for it, as in "EACCES", is short and quotes nothing. */
export function reasonOf(cause: unknown): string {
  const code: unknown = cause instanceof Error ? Reflect.get(cause, "code") : undefined;
  if (typeof code === "string") return code;
  return cause instanceof Error ? cause.message : String(cause);
}
