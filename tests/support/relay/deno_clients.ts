/**
 * Clients that run in Deno: QUIC, and Connect over fetch for typed calls and `CellUp`/`CellDown`.
 */
import type { Transport } from "@connectrpc/connect";
import { createFetchClient } from "@connectrpc/connect/protocol";
import { createTransport } from "@connectrpc/connect/protocol-connect";
import { errorCodeOfClose } from "../../../proto/mod.ts";
import { type CellCarrier, CellClient } from "./cell_client.ts";

/** How long silence lasts before the relay is believed to be gone. */
const idleMs = 10_000;

export async function openQuic(port: number, ca: string, silenceMs = idleMs): Promise<CellClient> {
  return new CellClient(await quicCarrier(port, ca, silenceMs));
}

export async function quicCarrier(
  port: number,
  ca: string,
  silenceMs = idleMs,
): Promise<CellCarrier> {
  const conn = await Deno.connectQuic<false>({
    hostname: "localhost",
    port,
    alpnProtocols: ["static-relay/1"],
    caCerts: [ca],
    maxIdleTimeout: silenceMs,
    keepAliveInterval: silenceMs / 4,
  });
  const stream = await conn.createBidirectionalStream();
  const writer = stream.writable.getWriter();
  writer.closed.catch(() => {});
  conn.closed.catch(() => {});
  return {
    write: (cells) => writer.write(cells),
    chunks: stream.readable,
    closeCode: async () => {
      await writer.close().catch(() => {});
      const info = await conn.closed.catch(() => undefined);
      return info === undefined ? "transport_error" : errorCodeOfClose(info.closeCode);
    },
    close: () => conn.close(),
  };
}

/** Deno's own WebTransport client, which trusts a certificate by its hash. */
export async function openWebTransport(
  port: number,
  certificateHash: Uint8Array<ArrayBuffer>,
): Promise<CellClient> {
  const serverCertificateHashes = [{ algorithm: "sha-256", value: certificateHash }];
  const transport = new WebTransport(`https://localhost:${port}/`, { serverCertificateHashes });
  await transport.ready;
  transport.closed.catch(() => {});
  const { readable, writable } = await transport.createBidirectionalStream();
  const writer = writable.getWriter();
  writer.closed.catch(() => {});
  return new CellClient({
    write: (cells) => writer.write(cells),
    chunks: readable,
    closeCode: () => Promise.resolve(undefined),
    close: () => transport.close(),
  });
}

export async function certificateHash(pem: string): Promise<Uint8Array<ArrayBuffer>> {
  const der = Uint8Array.from(
    atob(pem.replace(/-----[^-]+-----|\s/g, "")),
    (character) => character.charCodeAt(0),
  );
  return new Uint8Array(await crypto.subtle.digest("SHA-256", der));
}

export interface FetchTransport extends Disposable {
  readonly transport: Transport;
  /** Trusts the relay under test. */
  readonly fetch: typeof fetch;
}

/** `localAddress`: of this machine, from which it calls; without it, any. */
export function connectTransport(port: number, ca: string, localAddress?: string): FetchTransport {
  const from = localAddress === undefined ? undefined : { localAddress, http1: false };
  const client = Deno.createHttpClient({ caCerts: [ca], ...from });
  const fetchWith: typeof fetch = (input, init) => fetch(input, { ...init, client });
  const transport = createTransport({
    httpClient: createFetchClient(fetchWith),
    baseUrl: `https://${from === undefined ? "localhost" : "127.0.0.1"}:${port}`,
    useBinaryFormat: true,
    interceptors: [],
    acceptCompression: [],
    sendCompression: null,
    compressMinBytes: 1024,
    readMaxBytes: 2 ** 24,
    writeMaxBytes: 2 ** 24,
  });
  return { transport, fetch: fetchWith, [Symbol.dispose]: () => client.close() };
}
