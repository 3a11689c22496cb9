/**
 * The source of a certificate, and its changes. Configured files are read again and used when they
 * have become another valid pair; without them a development certificate is kept in the data
 * directory and renewed before it ends. Clients trust `ca.pem` there. Files that cannot be used
 * leave the present certificate in force.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readIfPresent, writeOwned } from "./owned_file.ts";
import type { VariableReader } from "./variables.ts";
import { createAuthority, createServerCertificate, type KeyedCertificate } from "./x509.ts";

export interface CertificateSource {
  /** The last one that `check` returned. */
  readonly current: KeyedCertificate;
  readonly expiresAtMs: number;
  /** Development only: the authority that clients trust. */
  readonly caFile: string | undefined;
  /**
   * Another certificate than the current one, if there is. Rejects when the files do not hold a
   * usable one.
   */
  check(): Promise<KeyedCertificate | undefined>;
}

/** PEM files of a certificate and of its private key. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

const dayMs = 86_400_000;
/** Clients that pin the certificate's hash have this long to hear of the next one. */
const renewBeforeMs = 3 * dayMs;
/** An authority ends later than anything that it signs. */
const replaceAuthorityBeforeMs = 30 * dayMs;

/** STATIC_TLS_CERT and STATIC_TLS_KEY. */
export function readCertificateFiles(read: VariableReader): CertificateFiles | undefined {
  const files = read.together("STATIC_TLS_CERT", "STATIC_TLS_KEY");
  return files && { certFile: files[0], keyFile: files[1] };
}

export async function openCertificate(files: CertificateFiles): Promise<CertificateSource> {
  return await openSource(() => readFiles(files), undefined);
}

/** Kept in the data directory, for loopback names. */
export async function openDevelopmentCertificate(
  { dataDir, nowMs }: { readonly dataDir: string; readonly nowMs: () => number },
): Promise<CertificateSource> {
  return await openSource(() => keepDevelopmentCertificate(dataDir, nowMs()), `${dataDir}/ca.pem`);
}

/** With another key a server would listen, and every handshake fail. */
export function isPair({ cert, key }: KeyedCertificate): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

async function openSource(
  load: () => Promise<KeyedCertificate>,
  caFile: string | undefined,
): Promise<CertificateSource> {
  let current = await load();
  return {
    get current() {
      return current;
    },
    get expiresAtMs() {
      return endOf(current);
    },
    caFile,
    check: async () => {
      const found = await load();
      if (found.cert === current.cert && found.key === current.key) return undefined;
      current = found;
      return found;
    },
  };
}

async function readFiles({ certFile, keyFile }: CertificateFiles): Promise<KeyedCertificate> {
  const pair = { cert: await Deno.readTextFile(certFile), key: await Deno.readTextFile(keyFile) };
  if (!isPair(pair)) {
    throw new Error(
      `Cannot use the certificate: ${certFile} and ${keyFile} are not a certificate and its private key`,
    );
  }
  return pair;
}

/** Each pair is one file, so that no crash can leave a certificate with another's key. */
async function keepDevelopmentCertificate(
  dataDir: string,
  nowMs: number,
): Promise<KeyedCertificate> {
  const authority = await keep(
    `${dataDir}/ca_key.pem`,
    nowMs + replaceAuthorityBeforeMs,
    () => createAuthority(nowMs),
  );
  if (await readIfPresent(`${dataDir}/ca.pem`) !== authority.cert) {
    await writeOwned(`${dataDir}/ca.pem`, authority.cert, 0o644);
  }
  return await keep(
    `${dataDir}/relay_certificate.pem`,
    nowMs + renewBeforeMs,
    () => createServerCertificate(authority, nowMs),
    authority,
  );
}

/**
 * Returns the certificate in the file if it is valid until then (and of this issuer); otherwise a
 * new one.
 */
async function keep(
  path: string,
  untilMs: number,
  create: () => Promise<KeyedCertificate>,
  issuer?: KeyedCertificate,
): Promise<KeyedCertificate> {
  const kept = splitPair(await readIfPresent(path) ?? "");
  if (isPair(kept) && endOf(kept) > untilMs && (issuer === undefined || isSignedBy(kept, issuer))) {
    return kept;
  }
  const created = await create();
  await writeOwned(path, created.cert + created.key);
  return created;
}

function splitPair(text: string): KeyedCertificate {
  const keyStart = text.indexOf("-----BEGIN PRIVATE KEY-----");
  return keyStart < 0
    ? { cert: text, key: "" }
    : { cert: text.slice(0, keyStart), key: text.slice(keyStart) };
}

function isSignedBy({ cert }: KeyedCertificate, issuer: KeyedCertificate): boolean {
  return new X509Certificate(cert).verify(new X509Certificate(issuer.cert).publicKey);
}

function endOf({ cert }: KeyedCertificate): number {
  return Date.parse(new X509Certificate(cert).validTo);
}
