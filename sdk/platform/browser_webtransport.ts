/**
 * WebTransport, for browsers that have it. The part that is used is described here: not every type
 * library has it.
 */
import { authorityOf } from "../transport/authority.ts";
import { createByteStream } from "../transport/byte_stream.ts";
import type { Connector } from "../transport/transport.ts";
import { after } from "./timers.ts";

interface WebTransportSession {
  readonly ready: Promise<unknown>;
  readonly closed: Promise<{ readonly closeCode?: number }>;
  createBidirectionalStream(): Promise<{
    readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
    readonly writable: WritableStream<Uint8Array<ArrayBuffer>>;
  }>;
  close(info: { readonly closeCode: number }): void;
}

interface BrowserTransportOptions {
  readonly serverCertificateHashes?: readonly {
    readonly algorithm: "sha-256";
    readonly value: Uint8Array;
  }[];
}

type WebTransportConstructor = new (
  url: string,
  options: BrowserTransportOptions,
) => WebTransportSession;

export const webtransport: Connector = {
  transport: "webtransport",
  carrier: "udp",
  unusable: ({ caCerts }) => {
    if (findWebTransport() === undefined) return "this browser has no WebTransport";
    return caCerts.length > 0
      ? "a browser takes no certificates; give tls.certificateHashes"
      : undefined;
  },
  connect: async ({ host, port, trust }, signal) => {
    const WebTransport = findWebTransport();
    if (WebTransport === undefined) throw new Error("this browser has no WebTransport");
    signal.throwIfAborted();
    const hashes = trust.certificateHashes.map((value) =>
      ({ algorithm: "sha-256", value }) as const
    );
    const session = new WebTransport(`https://${authorityOf({ host, port })}/`, {
      ...(hashes.length > 0 && { serverCertificateHashes: hashes }),
    });
    session.closed.catch(() => {});
    const close = (closeCode: number): void => session.close({ closeCode });
    const abort = (): void => close(0);
    signal.addEventListener("abort", abort);
    try {
      await session.ready;
      const { readable, writable } = await session.createBidirectionalStream();
      return createByteStream({ readable, writable, closed: session.closed, close, after });
    } catch (cause) {
      throw signal.aborted ? signal.reason : cause;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  },
};

function findWebTransport(): WebTransportConstructor | undefined {
  // cast: the part of it that is described above
  return (globalThis as unknown as { readonly WebTransport?: WebTransportConstructor })
    .WebTransport;
}
