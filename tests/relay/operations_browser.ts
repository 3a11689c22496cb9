/**
 * The operations suite in a page, over WebTransport. The server of the page puts the relay's
 * address before this bundle.
 */
import { errorCodeOfClose } from "../../proto/mod.ts";
import { runTests } from "../support/runtime/suite.ts";
import { type CellCarrier, CellClient } from "../support/relay/cell_client.ts";
import { createOperations } from "./operations_suite.ts";

interface Settings {
  readonly port: number;
  readonly origin: string;
  /** SHA-256 of the relay's certificate. */
  readonly certificateHash: readonly number[];
}

const settings = (globalThis as unknown as { relayUnderTest: Settings }).relayUnderTest;

async function open(): Promise<CellClient> {
  const value = Uint8Array.from(settings.certificateHash);
  const transport = new WebTransport(`https://localhost:${settings.port}/`, {
    serverCertificateHashes: [{ algorithm: "sha-256", value }],
  });
  await transport.ready;
  return new CellClient(await carry(transport));
}

async function carry(transport: WebTransport): Promise<CellCarrier> {
  const { readable, writable } = await transport.createBidirectionalStream();
  const writer = writable.getWriter();
  const reader = readable.getReader();
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  }
  transport.closed.catch(() => {});
  return {
    write: (cells) => writer.write(cells),
    chunks: chunks(),
    closeCode: async () => {
      await writer.close().catch(() => {});
      const info = await transport.closed.catch(() => undefined);
      return info === undefined ? "transport_error" : errorCodeOfClose(info.closeCode ?? 0);
    },
    close: () => transport.close(),
  };
}

const results = await runTests(createOperations({ open, origin: settings.origin }));
await fetch("/results", { method: "POST", body: JSON.stringify(results) });
