/** The user's `tls` option, read and checked. */
import { createError } from "../base/errors.ts";
import type { CertificateTrust } from "../transport/transport.ts";

/** Certificates to trust beyond those that the runtime trusts. */
export interface TlsOptions {
  /** A file with certificates in PEM form. */
  readonly caFile?: string | undefined;
  /** Certificates in PEM form. */
  readonly caCerts?: readonly string[] | undefined;
  /** Certificates in PEM form that are good for the relay alone, and not for the API. */
  readonly relayCaCerts?: readonly string[] | undefined;
  /**
   * SHA-256 of the relay's own certificate: 32 bytes, or 64 hexadecimal digits with or without
   * colons.
   */
  readonly certificateHashes?: readonly (string | Uint8Array)[] | undefined;
}

/** Whom to trust as the API. Throws `invalid_request`. */
export async function readTlsOptions(
  { caFile, caCerts = [], certificateHashes = [] }: TlsOptions,
  readTextFile: (path: string) => Promise<string>,
): Promise<CertificateTrust> {
  const fromFile = caFile === undefined ? [] : [await readCaFile(caFile, readTextFile)];
  return {
    caCerts: [...fromFile, ...caCerts].map(checkPem),
    certificateHashes: certificateHashes.map(parseHash),
  };
}

/** Whom to trust as the relay: the same, and what is good for the relay alone. */
export function withRelayAuthorities(
  trust: CertificateTrust,
  certificates: readonly string[],
): CertificateTrust {
  return { ...trust, caCerts: [...trust.caCerts, ...certificates.map(checkPem)] };
}

export async function readCaFile(
  path: string,
  readTextFile: (path: string) => Promise<string>,
): Promise<string> {
  try {
    return await readTextFile(path);
  } catch (cause) {
    throw refused(`caFile ${path} cannot be read`, cause);
  }
}

function checkPem(text: string): string {
  if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  throw refused("a certificate is not in PEM form (-----BEGIN CERTIFICATE-----)");
}

function parseHash(hash: string | Uint8Array): Uint8Array<ArrayBuffer> {
  if (typeof hash !== "string") {
    if (hash.length === 32) return Uint8Array.from(hash);
    throw refused("a certificate hash has 32 bytes");
  }
  const digits = hash.replaceAll(":", "");
  if (!/^[\da-fA-F]{64}$/.test(digits)) {
    throw refused("a certificate hash has 64 hexadecimal digits (SHA-256)");
  }
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

function refused(why: string, cause?: unknown): Error {
  return createError("invalid_request", `Cannot use the tls options: ${why}`, { cause });
}
