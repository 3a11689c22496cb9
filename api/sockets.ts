/**
 * The API's port: plain or with TLS, with as many connections as this process may have files open,
 * and with a certificate that is read again when its files change.
 */
import {
  type CertificateFiles,
  type CertificateSource,
  describeFailure,
  every,
  type Log,
  naming,
  needed,
  openCertificate,
  openFileLimit,
  waits,
} from "../server/mod.ts";
import { backlog } from "../server/http2/mod.ts";
import { createRangeCheck } from "./client_address.ts";
import type { Config } from "./config.ts";
import { type ConnectionLimits, patience, socketsFor } from "./listeners/connections.ts";
import type { HttpHandler, HttpListener } from "./listeners/listener.ts";
import { listenPlain } from "./listeners/plain.ts";
import { listenTls } from "./listeners/tls.ts";

export interface Sockets {
  readonly url: string;
  connections(): number;
  readonly failed: Promise<Error>;
  /** Looks for another certificate now; it is looked for every few seconds anyway. */
  reloadCertificate(): Promise<void>;
  close(): Promise<void>;
}

const certificateCheckMs = 10_000;
/** Files kept for the database, logs, workers and files that are opened for a moment. */
const minFilesKept = 64;
const fewestConnections = 16;
/** Share of all connections that relays may have, on the internal port. */
const internalShare = 8;

/** Call it before anything else is opened. */
export function connectionLimits(config: Config): ConnectionLimits {
  const { maxConnections, databaseConnections, dataDir } = config;
  const limit = openFileLimit({ atMost: 2 * maxConnections, path: dataDir });
  const burst = config.tls === undefined ? 0 : 2 * backlog;
  const kept = databaseConnections + burst + Math.max(minFilesKept, Math.ceil(limit / 8));
  const free = Math.floor((limit - kept) * internalShare / (internalShare + 1));
  const files = socketsFor(maxConnections) / maxConnections;
  const connections = Math.max(
    fewestConnections,
    Math.min(maxConnections, Math.floor(free / files)),
  );
  return { connections, ...patience, isProxy: createRangeCheck(config.trustedProxies) };
}

export interface SocketOptions {
  readonly host: string;
  readonly port: number;
  /** The port's. */
  readonly variable: string;
  readonly tls: CertificateFiles | undefined;
  readonly limits: ConnectionLimits;
  readonly handler: HttpHandler;
  readonly maxBodyBytes: number;
  readonly log: Log;
}

/** The internal port's, besides the public one's. */
export function internalLimits({ connections, ...limits }: ConnectionLimits): ConnectionLimits {
  return { ...limits, connections: Math.ceil(connections / internalShare) };
}

export async function openSockets(
  { host, port, variable, tls, limits, handler, maxBodyBytes, log }: SocketOptions,
): Promise<Sockets> {
  const options = { host, port, handler, limits, maxBodyBytes };
  const at = { port, variable };
  if (tls !== undefined) {
    const certificate = await openCertificateFiles(tls);
    const listener = await naming(
      at,
      () => listenTls({ ...options, certificate: certificate.current }),
    );
    const reloadCertificate = (): Promise<void> => reload(certificate, listener, log);
    return socketsOf(listener, {
      reloadCertificate,
      stop: every(certificateCheckMs, reloadCertificate),
    });
  }
  const listener = await naming(at, () => listenPlain(options));
  return socketsOf(listener, { reloadCertificate: () => Promise.resolve(), stop: () => {} });
}

function socketsOf(
  { url, connections, failed, close }: HttpListener,
  { reloadCertificate, stop }: Pick<Sockets, "reloadCertificate"> & { stop(): void },
): Sockets {
  return {
    url,
    connections,
    failed,
    reloadCertificate,
    close: async () => {
      stop();
      await close(waits.requestsDone.ms);
    },
  };
}

async function openCertificateFiles(files: CertificateFiles): Promise<CertificateSource> {
  return await needed(
    "the certificate cannot be used (STATIC_TLS_CERT and STATIC_TLS_KEY)",
    openCertificate(files),
  );
}

async function reload(
  certificate: CertificateSource,
  listener: { setCertificate(pair: CertificateSource["current"]): void },
  log: Log,
): Promise<void> {
  try {
    const changed = await certificate.check();
    if (changed === undefined) return;
    listener.setCertificate(changed);
    log("info", "certificate_changed", {
      expires_at: new Date(certificate.expiresAtMs).toISOString(),
    });
  } catch (error) {
    log("error", "certificate_not_changed", { error: describeFailure(error) });
  }
}
