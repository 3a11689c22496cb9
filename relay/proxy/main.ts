/**
 * The stand-alone proxy: typed gRPC, `Session` and `CellUp`/`CellDown` on its own port, QUIC to a
 * relay elsewhere. SIGHUP reads the certificate again; SIGTERM ends it. The first line on its
 * output is its configuration, the second its address.
 */
import {
  after,
  type CertificateSource,
  createLog,
  describeError,
  describeFailure,
  guardProcess,
  type KeyedCertificate,
  naming,
  needed,
  openCertificate,
  openLogOutput,
  type RunningProcess,
  runUntil,
  untilAskedToStop,
} from "../../server/mod.ts";
import { type GrpcListener, listenGrpc } from "../grpc/listener.ts";
import { createGrpcService } from "../grpc/service.ts";
import { Strangers } from "../strangers.ts";
import { configFromEnvironment, type ProxyConfig } from "./config.ts";
import { createRemoteUpstream } from "./remote_upstream.ts";

const strangers = 1_000;
const idleTimeoutMs = 60_000;
const cover = { mode: "poisson", intervalMs: 10_000 } as const;

const output = openLogOutput();
const log = createLog({ write: output.write, nowMs: Date.now });

function randomFraction(): number {
  return (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32;
}

async function listen(config: ProxyConfig, certificate: KeyedCertificate): Promise<GrpcListener> {
  const nowMs = (): number => performance.now();
  const onFault = (error: unknown): void => log("error", "fault", { error: describeError(error) });
  const service = createGrpcService({
    upstream: createRemoteUpstream(config.relay, { cover, nowMs, after, random: randomFraction }),
    strangers: new Strangers(strangers),
    idleTimeoutMs,
    nowMs,
    after,
    randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    isServing: () => true,
    onFault,
  });
  const allowsOrigin = (origin: string): boolean => config.origins.includes(origin);
  return await naming(
    { port: config.listen.port, variable: "STATIC_RELAY_GRPC_PORT" },
    () =>
      listenGrpc({
        service,
        ...config.listen,
        certificate,
        allowsOrigin,
        notReady: () => undefined,
        onFault,
      }),
  );
}

async function reload(certificate: CertificateSource, listener: GrpcListener): Promise<void> {
  try {
    const changed = await certificate.check();
    if (changed !== undefined) listener.setCertificate(changed);
  } catch (error) {
    log("error", "certificate_not_changed", { error: describeFailure(error) });
  }
}

async function startProxy(config: ProxyConfig): Promise<RunningProcess> {
  const { relay: { hostname, port }, certificateFiles, origins } = config;
  log("info", "configuration", { relay: { hostname, port }, certificateFiles, origins });
  const certificate = await needed(
    "the proxy's certificate cannot be used (STATIC_TLS_CERT and STATIC_TLS_KEY)",
    openCertificate(certificateFiles),
  );
  const listener = await listen(config, certificate.current);
  log("info", "listening", { hostname: config.listen.hostname, port: listener.port });
  Deno.addSignalListener("SIGHUP", () => void reload(certificate, listener));
  return {
    failed: listener.failed,
    close: async () => {
      listener.drain();
      await listener.close();
    },
  };
}

const endAtOnce = (): void => {
  output.flush();
  Deno.exit(1);
};
guardProcess({ writeLog: output.write, end: endAtOnce });
const asked = untilAskedToStop(endAtOnce);
const code = await runUntil(asked, () => startProxy(configFromEnvironment()));
await output.close();
Deno.exit(code);
