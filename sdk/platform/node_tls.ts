/**
 * TLS 1.3 connections of Node, with the relay's certificate checked as the user asked. A connection
 * has an owner for its errors from its first moment to its last, also while it is handed on.
 */
import { createHash } from "node:crypto";
import { isIP, type Socket } from "node:net";
import { connect, rootCertificates, type TLSSocket } from "node:tls";
import { equalBytes } from "../../proto/mod.ts";
import type { CertificateTrust, ConnectTarget } from "../transport/transport.ts";
import { openTunnel } from "./proxy_tunnel.ts";

/**
 * Resolves when the handshake is done and the certificate is believed. Goes through a proxy where
 * the environment names one.
 */
export async function connectTls(
  target: ConnectTarget,
  protocol: string,
  signal: AbortSignal,
): Promise<TLSSocket> {
  return await shakeHands(target, { tunnel: await openTunnel(target, signal), protocol, signal });
}

interface Handshake {
  readonly tunnel: Socket | undefined;
  readonly protocol: string;
  readonly signal: AbortSignal;
}

function shakeHands(
  { host, port, trust }: ConnectTarget,
  { tunnel, protocol, signal }: Handshake,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      tunnel?.destroy();
      return reject(signal.reason);
    }
    const pinned = trust.certificateHashes.length > 0;
    const socket = connect({
      host,
      port,
      ...(tunnel && { socket: tunnel }),
      ...(isIP(host) === 0 && { servername: host }),
      ALPNProtocols: [protocol],
      minVersion: "TLSv1.3",
      ...(trust.caCerts.length > 0 && { ca: [...rootCertificates, ...trust.caCerts] }),
      // With hashes the chain does not matter; the certificate itself is compared below, before a
      // byte is sent.
      rejectUnauthorized: !pinned,
    });
    const fail = (error: unknown): void => {
      signal.removeEventListener("abort", abort);
      socket.destroy();
      // Without effect once it is resolved: then "close" tells its user.
      reject(error);
    };
    const abort = (): void => fail(signal.reason);
    signal.addEventListener("abort", abort);
    socket.on("error", fail);
    socket.once("secureConnect", () => {
      if (pinned && !isPinned(socket, trust)) {
        return fail(new Error("the relay's certificate is none of tls.certificateHashes"));
      }
      if (socket.alpnProtocol !== protocol) {
        return fail(new Error(`the server does not speak ${protocol}`));
      }
      signal.removeEventListener("abort", abort);
      resolve(socket);
    });
  });
}

function isPinned(socket: TLSSocket, { certificateHashes }: CertificateTrust): boolean {
  const hash = createHash("sha256").update(socket.getPeerCertificate().raw).digest();
  return certificateHashes.some((pin) => equalBytes(pin, hash));
}
