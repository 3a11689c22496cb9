/** Clients that run in Deno: QUIC, and Connect over fetch for typed calls and `CellUp`/`CellDown`. */
import type { Transport } from "@connectrpc/connect";
import { createFetchClient } from "@connectrpc/connect/protocol";
import { createTransport } from "@connectrpc/connect/protocol-connect";
import { errorCodeOfClose } from "../../proto/mod.ts";
import { type CellCarrier, CellClient } from "./cell_client.ts";

export async function openQuic(port: number, ca: string): Promise<CellClient> {
  return new CellClient(await quicCarrier(port, ca));
}

async function quicCarrier(port: number, ca: string): Promise<CellCarrier> {
  const conn = await Deno.connectQuic<false>({
    hostname: "localhost",
    port,
    alpnProtocols: ["static-relay/1"],
    caCerts: [ca],
    maxIdleTimeout: 10_000,
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

export interface FetchTransport extends Disposable {
  readonly transport: Transport;
}

export function connectTransport(port: number, ca: string): FetchTransport {
  const client = Deno.createHttpClient({ caCerts: [ca] });
  const fetchWith: typeof fetch = (input, init) => fetch(input, { ...init, client });
  const transport = createTransport({
    httpClient: createFetchClient(fetchWith),
    baseUrl: `https://localhost:${port}`,
    useBinaryFormat: true,
    interceptors: [],
    acceptCompression: [],
    sendCompression: null,
    compressMinBytes: 1024,
    readMaxBytes: 2 ** 24,
    writeMaxBytes: 2 ** 24,
  });
  return { transport, [Symbol.dispose]: () => client.close() };
}
