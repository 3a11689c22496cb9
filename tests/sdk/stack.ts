/** A real API in this process and a real relay in one of its own, which can be killed and started again on the same ports. */
import { anyBackend, type SignedUp, startTestApi, type TestApi } from "../api/harness.ts";
import { relaySecret } from "../api/harness.ts";

export interface Stack {
  readonly api: TestApi;
  readonly account: SignedUp;
  readonly quicUrl: string;
  readonly grpcUrl: string;
  readonly caFile: string;
  /** As a crash of the machine would end it: nothing is said to anybody. */
  killRelay(): Promise<void>;
  /** On the same ports, with the same data. */
  startRelay(): Promise<void>;
  close(): Promise<void>;
}

export async function startStack(): Promise<Stack> {
  await using opened = new AsyncDisposableStack();
  const backend = await anyBackend.open();
  opened.defer(() => backend.close());
  const api = await startTestApi(backend.environment);
  opened.defer(() => api.close());
  const dataDir = await Deno.makeTempDir({ prefix: "static-relay-" });
  opened.defer(() => Deno.remove(dataDir, { recursive: true }));
  const account = await api.signUp();
  let relay = await startRelayProcess(dataDir, api.url, { quic: 0, grpc: 0 });
  opened.defer(() => relay.kill());
  const { quicUrl, grpcUrl, caFile } = relay;
  const ports = { quic: Number(new URL(quicUrl).port), grpc: Number(new URL(grpcUrl).port) };
  const running = opened.move();
  return {
    api,
    account,
    quicUrl,
    grpcUrl,
    caFile,
    killRelay: () => relay.kill(),
    startRelay: async () => void (relay = await startRelayProcess(dataDir, api.url, ports)),
    close: () => running.disposeAsync(),
  };
}

interface RelayProcess {
  readonly quicUrl: string;
  readonly grpcUrl: string;
  readonly caFile: string;
  kill(): Promise<void>;
}

async function startRelayProcess(
  dataDir: string,
  apiUrl: string,
  ports: { readonly quic: number; readonly grpc: number },
): Promise<RelayProcess> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--unstable-net", new URL("../../relay/main.ts", import.meta.url).pathname],
    env: {
      STATIC_DATA_DIR: dataDir,
      STATIC_API_URL: apiUrl,
      STATIC_RELAY_SECRET: relaySecret,
      STATIC_RELAY_QUIC_PORT: String(ports.quic),
      STATIC_RELAY_GRPC_PORT: String(ports.grpc),
      STATIC_ADMIN_PORT: "0",
    },
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const kill = async (): Promise<void> => {
    try {
      child.kill("SIGKILL");
    } catch {
      return; // it has ended already
    }
    await child.status;
    await drained;
  };
  const { found, drained } = readUntilListening(child.stdout);
  const line = await found;
  return { quicUrl: line.quic_url, grpcUrl: line.url, caFile: line.ca_file, kill };
}

interface Listening {
  readonly url: string;
  readonly quic_url: string;
  readonly ca_file: string;
}

/** The log line that says where it listens; the rest of the log is read and dropped. */
function readUntilListening(
  output: ReadableStream<Uint8Array>,
): { readonly found: Promise<Listening>; readonly drained: Promise<void> } {
  const { promise: found, resolve, reject } = Promise.withResolvers<Listening>();
  const drain = async (): Promise<void> => {
    let text = "";
    let listening = false;
    for await (const chunk of output.pipeThrough(new TextDecoderStream())) {
      if (Deno.env.get("RELAY_LOG")) console.error(chunk);
      if (listening) continue;
      text += chunk;
      const line = text.split("\n").slice(0, -1).find((line) => line.includes('"listening"'));
      if (line === undefined) continue;
      listening = true;
      resolve(JSON.parse(line));
    }
    reject(new Error(`The relay ended before it listened: ${text}`));
  };
  return { found, drained: drain() };
}
