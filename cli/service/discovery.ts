/**
 * Finds the relay and what to trust from the API's address alone. The authority of a private
 * installation is pinned on first use: its fingerprint is shown, it is kept beside the credentials,
 * and another one is refused later. So is one that appears where there was none. It vouches for the
 * relay and never for the API, which told of it.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import {
  decodeBase64url,
  isLoopback,
  readDiscovery,
  type ServiceDiscovery,
} from "../../proto/mod.ts";
import type { Context } from "../command.ts";
import { Failure } from "../failure.ts";
import { openAccess } from "./api.ts";
import { localRelay, type Settings } from "./settings.ts";

export interface FoundService extends Settings {
  /** Where a development machine puts its mail. */
  readonly mailFolder: string | undefined;
}

const timeoutMs = 5_000;
/** Content of the file when the API names no authority. */
const none = "none";

/**
 * Settings with what the API tells where nobody else has said it. An API that tells nothing changes
 * nothing.
 */
export async function findService(context: Context, settings: Settings): Promise<FoundService> {
  const told = await ask(context, settings);
  const relayUrl = settings.relayUrl ?? told?.relayUrl ??
    (isLoopback(settings.apiUrl) ? localRelay : undefined);
  const found = { ...settings, relayUrl, mailFolder: told?.mailFolder };
  if (settings.caFile !== undefined || told === undefined) return found;
  return { ...found, ...await pin(context, settings.apiUrl, told.ca?.pem) };
}

/** Asks the API only if the relay's address or its authority is unknown. */
export async function findRelay(context: Context, settings: Settings): Promise<Settings> {
  return settings.relayUrl !== undefined && (settings.caFile ?? settings.relayCaFile) !== undefined
    ? settings
    : await findService(context, settings);
}

async function ask(
  { platform }: Context,
  { apiUrl: url, caCerts }: Settings,
): Promise<ServiceDiscovery | undefined> {
  const answer = await readDiscovery(openAccess(platform, { url, caCerts, timeoutMs }));
  return answer.outcome === "done" ? answer.value : undefined;
}

async function pin(
  { platform: { files, folders }, output }: Context,
  apiUrl: string,
  pem: string | undefined,
): Promise<Partial<Pick<Settings, "relayCaFile" | "relayCaCerts">>> {
  // A stack on this machine makes its authority a moment after its API answers.
  if (pem === undefined && isLoopback(apiUrl)) return {};
  const name = new URL(apiUrl).host.replaceAll(/[^\w.-]/g, "_");
  const path = files.join(folders.credentialsFile, "..", `ca_${name}.pem`);
  const digest = pem === undefined ? none : fingerprintOf(apiUrl, pem);
  const pinned = await files.read(path).catch(() => undefined);
  const before = pinned === undefined || pinned.trim() === none
    ? pinned?.trim()
    : fingerprintOf(path, pinned);
  if (before !== undefined && before !== digest) {
    const now = pem === undefined
      ? "it has none of its own any more"
      : `it is now SHA-256 ${digest}`;
    throw new Failure(
      "connection_error",
      `The certificate authority of ${apiUrl} has changed: ${now}`,
      {
        advice: `If you expect that, delete ${path} and try again`,
      },
    );
  }
  if (before === undefined) await files.writePrivate(path, pem ?? `${none}\n`);
  if (pem === undefined) return {};
  if (before === undefined) {
    await output.note(
      `Trusting the authority of ${apiUrl} from now on: SHA-256 ${digest}`,
      `  It is kept in ${path}`,
    );
  }
  return { relayCaFile: path, relayCaCerts: [pem] };
}

/**
 * Computed here: what the other side says of itself proves nothing. Of one certificate, because one
 * is shown.
 */
function fingerprintOf(whose: string, pem: string): string {
  const [base64, another] = Array.from(
    pem.matchAll(/-----BEGIN CERTIFICATE-----([\w+/=\s]+)-----END CERTIFICATE-----/g),
    ([, text = ""]) => text.replaceAll(/[\s=]/g, "").replaceAll("+", "-").replaceAll("/", "_"),
  );
  const bytes = base64 === undefined || another !== undefined ? undefined : decodeBase64url(base64);
  if (bytes !== undefined) return bytesToHex(sha256(bytes));
  throw new Failure(
    "connection_error",
    `${whose} names a certificate authority that is not one PEM certificate`,
    {
      advice: "Ask its operator for the certificates to trust, and give them with --ca-file",
    },
  );
}
