/**
 * The stand-alone proxy: typed gRPC, `Session` and `CellUp`/`CellDown` on its own port, QUIC to a relay elsewhere. SIGHUP
 * reads the certificate again; SIGTERM ends it. The first line on its output is its configuration, the second its address.
 */
import { Admission } from "../../server/http2/mod.ts";
import type { KeyedCertificate } from "../../server/mod.ts";
import { type GrpcListener, listenGrpc } from "../grpc/listener.ts";
import { createGrpcService } from "../grpc/service.ts";
import {
  type ProxyConfig,
  ProxyConfigError,
  proxyConfigFrom,
  type ProxyEnvironment,
  readCertificate,
} from "./config.ts";
import { createRemoteUpstream } from "./remote_upstream.ts";

/** One address may be a whole company behind a translator; the relay has its own limits. */
const strangers = { connections: 1_000, connectionsPerAddress: 256 };
const idleTimeoutMs = 60_000;
const cover = { mode: "poisson", intervalMs: 10_000 } as const;

const environment: ProxyEnvironment = {
  get: (name) => Deno.env.get(name),
  readTextFile: (path) => Deno.readTextFileSync(path),
};

const after = (ms: number, run: () => void): () => void => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};

function randomFraction(): number {
  return (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32;
}

function report(what: string, error: unknown): void {
  console.error(JSON.stringify({ level: "error", event: what, error: String(error) }));
}

async function startProxy(config: ProxyConfig): Promise<GrpcListener> {
  const nowMs = (): number => performance.now();
  const upstream = createRemoteUpstream(config.relay, { cover, nowMs, after, random: randomFraction });
  const onFault = (error: unknown): void => report("fault", error);
  const service = createGrpcService({
    upstream,
    strangers: new Admission(strangers),
    idleTimeoutMs,
    nowMs,
    after,
    randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    onFault,
  });
  return await listenGrpc({
    service,
    ...config.listen,
    certificate: firstCertificate(config),
    allowsOrigin: (origin) => config.origins.includes(origin),
    onFault,
  });
}

function firstCertificate(config: ProxyConfig): KeyedCertificate {
  try {
    return readCertificate(environment, config);
  } catch (error) {
    throw new ProxyConfigError([`STATIC_TLS_CERT and STATIC_TLS_KEY cannot be read: ${String(error)}`]);
  }
}

function reloadCertificate(listener: GrpcListener, config: ProxyConfig): void {
  try {
    listener.setCertificate(readCertificate(environment, config));
  } catch (error) {
    report("certificate_reload_failed", error);
  }
}

try {
  // Asked for before anything runs, so that no moment is left in which a signal would simply end the process.
  const asked = new Promise<void>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) Deno.addSignalListener(signal, resolve);
  });
  const config = proxyConfigFrom(environment);
  const { relay: { hostname, port }, certificateFiles, origins } = config;
  console.log(JSON.stringify({ event: "configuration", relay: { hostname, port }, certificateFiles, origins }));
  const listener = await startProxy(config);
  console.log(JSON.stringify({ event: "listening", hostname: config.listen.hostname, port: listener.port }));
  Deno.addSignalListener("SIGHUP", () => reloadCertificate(listener, config));
  await asked;
  listener.drain();
  await listener.close();
  Deno.exit(0);
} catch (error) {
  console.error(error instanceof ProxyConfigError ? error.message : error);
  Deno.exit(1);
}
