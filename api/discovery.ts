/**
 * Everything that a client needs to know besides the API's address. The certificates of a private
 * installation lie where its relay keeps them; they are looked for again every few seconds, because
 * a relay may be started after the API and renews them.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { version } from "../proto/mod.ts";
import type { Clock } from "./domain/deps.ts";
import { type Config, isDevelopment } from "./config.ts";
import { mailFolder } from "./mail/file_mailer.ts";

export interface Certificates {
  readonly ca: { readonly pem: string; readonly sha256: string } | null;
  /** SHA-256 of the relay's own certificate, for browsers. */
  readonly certificateHashes: readonly string[];
}

export interface Discovery {
  readonly version: string;
  readonly environment: string;
  readonly relayUrls: readonly string[];
  readonly mail: { readonly by: "smtp" | "file"; readonly folder?: string };
  readonly maxActiveKeys: number;
  certificates(): Promise<Certificates>;
}

const freshMs = 5_000;

export function createDiscovery(config: Config, clock: Clock): Discovery {
  const { environment, relayUrls, caFile, dataDir, maxActiveKeys } = config;
  const isLocal = isDevelopment({ host: config.listen.host, tlsTerminated: config.tlsTerminated });
  const known: { certificates?: Certificates; atMs: number } = { atMs: -Infinity };
  const read = async (): Promise<Certificates> => {
    const ca = await readPem(caFile ?? (isLocal ? `${dataDir}/ca.pem` : undefined));
    const own = isLocal && ca !== undefined
      ? await readPem(`${dataDir}/relay_certificate.pem`)
      : undefined;
    return {
      ca: ca === undefined ? null : { pem: ca, sha256: fingerprint(ca) },
      certificateHashes: own === undefined ? [] : [fingerprint(own)],
    };
  };
  return {
    version,
    environment,
    relayUrls,
    maxActiveKeys,
    // A folder's name is nobody's business but of those who share the machine.
    mail: config.mail.server !== undefined
      ? { by: "smtp" }
      : { by: "file", ...(isLocal && { folder: mailFolder(dataDir) }) },
    certificates: async () => {
      if (known.certificates === undefined || clock() - known.atMs > freshMs) {
        known.certificates = await read();
        known.atMs = clock();
      }
      return known.certificates;
    },
  };
}

/** Returns the fingerprint of the first certificate in the file. */
function fingerprint(pem: string): string {
  const [, base64 = ""] = /-----BEGIN CERTIFICATE-----([^-]+)/.exec(pem) ?? [];
  return sha256(Uint8Array.fromBase64(base64.replaceAll(/\s/g, ""))).toHex();
}

async function readPem(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    const text = await Deno.readTextFile(path);
    return text.includes("-----BEGIN CERTIFICATE-----") ? text : undefined;
  } catch {
    return undefined; // not there yet, or not ours to read
  }
}
