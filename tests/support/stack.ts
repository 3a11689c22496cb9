/**
 * A real API in this process and a real relay in one of its own, which can be killed and started
 * again on the same ports.
 */
import {
  anyBackend,
  type OpenBackend,
  relaySecret,
  type SignedUp,
  startTestApi,
  type TestApi,
} from "./api/harness.ts";
import { type RelayProcess, startRelayProcess } from "./relay/process.ts";
import { freePort } from "./mod.ts";

/** As its users have it: nothing here breaks it for others. */
export interface SharedStack {
  readonly api: Pick<TestApi, "url" | "call" | "signUp">;
  readonly backend: Pick<OpenBackend, "sql">;
  readonly account: SignedUp;
  readonly quicUrl: string;
  readonly grpcUrl: string;
  readonly caFile: string;
  /** SHA-256 of the relay's own certificate, in hexadecimal. */
  certificateHash(): Promise<string>;
}

export interface Stack extends SharedStack, AsyncDisposable {
  readonly api: TestApi;
  readonly backend: OpenBackend;
  /** Of the relay that runs now. */
  readonly relayPid: number;
  /** Where the relay keeps its file. */
  readonly relayDir: string;
  relayMetrics(): Promise<string>;
  signalRelay(signal: Deno.Signal): void;
  /** Nothing is said to anybody. */
  killRelay(): Promise<void>;
  /** On the same ports, with the same data. */
  startRelay(): Promise<void>;
}

export interface RelayPorts {
  readonly quicPort: number;
  readonly grpcPort: number;
}

export interface StackOptions {
  /**
   * Ports that clients are told instead of the relay's own: those of something that stands between
   * them.
   */
  readonly between?: (relay: RelayPorts) => RelayPorts;
  /** More variables of the API. */
  readonly apiVariables?: Readonly<Record<string, string>>;
  /** More variables of the relay. */
  readonly relayVariables?: Readonly<Record<string, string>>;
}

export async function startStack(
  { between = (relay) => relay, apiVariables = {}, relayVariables = {} }: StackOptions = {},
): Promise<Stack> {
  await using opened = new AsyncDisposableStack();
  const backend = await anyBackend.open();
  opened.defer(() => backend.close());
  const dataDir = await Deno.makeTempDir({ prefix: "static-relay-" });
  opened.defer(() => Deno.remove(dataDir, { recursive: true }));
  const [quicPort, grpcPort] = [freePort(), freePort()];
  const told = between({ quicPort, grpcPort });
  const api = await startTestApi({
    ...backend.environment,
    STATIC_RELAY_URL: `quic://localhost:${told.quicPort},https://localhost:${told.grpcPort}`,
    STATIC_CA_FILE: `${dataDir}/ca.pem`,
    ...apiVariables,
  });
  opened.defer(() => api.close());
  const environment = {
    STATIC_DATA_DIR: dataDir,
    STATIC_API_URL: api.url,
    STATIC_API_INTERNAL_URL: api.internalUrl,
    STATIC_RELAY_SECRET: relaySecret,
    STATIC_RELAY_QUIC_PORT: String(quicPort),
    STATIC_RELAY_GRPC_PORT: String(grpcPort),
    // Without this list the relay expects to be dialled at its own ports.
    ...((told.quicPort !== quicPort || told.grpcPort !== grpcPort) &&
      { STATIC_RELAY_ORIGINS: originsOf(told) }),
    ...relayVariables,
  };
  let relay: RelayProcess = await startRelayProcess(environment);
  opened.defer(() => relay.stop());
  const { quicUrl, grpcUrl, caFile } = relay;
  // Where both share a folder, the API finds the relay's certificate, whose hash it tells browsers.
  const apiDir = backend.environment["STATIC_DATA_DIR"];
  if (apiDir !== undefined) {
    await Deno.copyFile(`${dataDir}/relay_certificate.pem`, `${apiDir}/relay_certificate.pem`);
  }
  const account = await api.signUp();
  const running = opened.move();
  return {
    api,
    backend,
    account,
    quicUrl,
    grpcUrl,
    caFile,
    get relayPid(): number {
      return relay.pid;
    },
    relayDir: dataDir,
    certificateHash: () => firstCertificateHash(`${dataDir}/relay_certificate.pem`),
    relayMetrics: () => relay.metrics(),
    signalRelay: (signal) => relay.signal(signal),
    killRelay: () => relay.stop(),
    startRelay: async () => void (relay = await startRelayProcess(environment)),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** A browser dials both ports by https. */
function originsOf({ quicPort, grpcPort }: RelayPorts): string {
  return [
    `quic://localhost:${quicPort}`,
    `https://localhost:${quicPort}`,
    `https://localhost:${grpcPort}`,
  ].join(",");
}

async function firstCertificateHash(path: string): Promise<string> {
  const [, base64 = ""] =
    /-----BEGIN CERTIFICATE-----([^-]+)/.exec(await Deno.readTextFile(path)) ?? [];
  const der = Uint8Array.from(atob(base64.replace(/\s/g, "")), (letter) => letter.charCodeAt(0));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", der)).toHex();
}
