/**
 * QUIC in Deno, which has it behind `--unstable-net` (or `"unstable": ["net"]` in deno.json). The
 * part of the API that is used is described here, because it is in no stable type library.
 */
import { createError } from "../base/errors.ts";
import { createByteStream, endOf } from "../transport/byte_stream.ts";
import type { Connector } from "../transport/transport.ts";
import { after } from "./timers.ts";

interface DenoQuic {
  readonly QuicEndpoint: new (options: { readonly hostname: string }) => QuicEndpoint;
  connectQuic(options: {
    readonly hostname: string;
    readonly port: number;
    readonly alpnProtocols: readonly string[];
    readonly caCerts: readonly string[];
    readonly serverCertificateHashes?: readonly {
      readonly algorithm: "sha-256";
      readonly value: Uint8Array;
    }[];
    readonly endpoint: QuicEndpoint;
    readonly maxIdleTimeout: number;
    readonly congestionControl: "low-latency";
  }): Promise<QuicConnection>;
}

interface QuicEndpoint {
  close(info: QuicCloseInfo): void;
}

interface QuicConnection {
  createBidirectionalStream(): Promise<{
    readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
    readonly writable: WritableStream<Uint8Array<ArrayBuffer>>;
  }>;
  readonly closed: Promise<QuicCloseInfo>;
}

interface QuicCloseInfo {
  readonly closeCode: number;
  readonly reason: string;
}

const protocol = "static-relay/1";
/**
 * A relay that vanished is noticed after the idle time, or by the session's Ping before. The
 * relay's own keep-alives hold a quiet connection: each is answered, so that networks between keep
 * it open too. Ours as well would double what an idle agent costs.
 */
const liveness = { maxIdleTimeout: 36_000 };
/** The relay uses the same: BBR, which does not take a lossy network for a full one. */
const congestionControl = "low-latency";

export const quic: Connector = {
  transport: "quic",
  carrier: "udp",
  unusable: () =>
    denoQuic() === undefined ? "Deno offers QUIC only with --unstable-net" : undefined,
  connect: async ({ host, port, trust }, signal) => {
    const deno = denoQuic();
    if (deno === undefined) throw new Error("Deno offers QUIC only with --unstable-net");
    signal.throwIfAborted();
    const hashes = trust.certificateHashes.map((value) =>
      ({ algorithm: "sha-256", value }) as const
    );
    // One endpoint a connection: closing it is the only way to give up a handshake.
    const endpoint = openEndpoint(deno);
    const close = (closeCode: number): void => endpoint.close({ closeCode, reason: "" });
    const abort = (): void => close(0);
    signal.addEventListener("abort", abort);
    try {
      const connection = await deno.connectQuic({
        hostname: host,
        port,
        alpnProtocols: [protocol],
        caCerts: trust.caCerts,
        ...(hashes.length > 0 && { serverCertificateHashes: hashes }),
        endpoint,
        ...liveness,
        congestionControl,
      });
      const { readable, writable } = await connection.createBidirectionalStream().catch((error) =>
        refused(connection, error)
      );
      const closed = connection.closed.finally(() => close(0));
      return createByteStream({ readable, writable, closed, close, after });
    } catch (cause) {
      close(0);
      throw signal.aborted ? signal.reason : cause;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  },
};

/**
 * A relay without a place may close the connection before there is a stream. Throws why, or the
 * error.
 */
async function refused({ closed }: QuicConnection, error: unknown): Promise<never> {
  const { code, message } = await closed.then(({ closeCode }) => endOf(closeCode), () => endOf(0));
  throw code === undefined ? error : createError(code, message);
}

/** Opens an endpoint for IPv4 and IPv6 at once, or for IPv4 alone where a machine has no other. */
function openEndpoint({ QuicEndpoint }: DenoQuic): QuicEndpoint {
  try {
    return new QuicEndpoint({ hostname: "::" });
  } catch {
    return new QuicEndpoint({ hostname: "0.0.0.0" });
  }
}

function denoQuic(): DenoQuic | undefined {
  // cast: only what is described above is used
  const { Deno } = globalThis as { readonly Deno?: Partial<DenoQuic> };
  // cast: the two come together
  return Deno?.connectQuic === undefined ? undefined : Deno as DenoQuic;
}
