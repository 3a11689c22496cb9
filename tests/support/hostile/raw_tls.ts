/**
 * TLS sockets of an attacker, from any address of the loopback network, with nothing above them.
 */
import { connect as connectTcp } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";

export interface RawTlsOptions {
  readonly port: number;
  /** Where it comes from, as `127.0.1.7`. */
  readonly from: string;
  readonly alpn: string;
}

/**
 * Resolves with an open socket, or undefined when the service refused it. Nobody checks
 * certificates here.
 */
export function openRawTls({ port, from, alpn }: RawTlsOptions): Promise<TLSSocket | undefined> {
  const { promise, resolve } = Promise.withResolvers<TLSSocket | undefined>();
  const tcp = connectTcp({ port, host: "127.0.0.1", localAddress: from });
  tcp.on("error", () => resolve(undefined));
  tcp.on("close", () => resolve(undefined));
  tcp.on("connect", () => {
    const socket = connectTls({ socket: tcp, ALPNProtocols: [alpn], rejectUnauthorized: false });
    socket.on("error", () => resolve(undefined));
    socket.on("close", () => resolve(undefined));
    socket.on("secureConnect", () => resolve(socket));
  });
  return promise;
}
