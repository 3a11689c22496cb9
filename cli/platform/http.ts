/**
 * HTTP on `node:http` and `node:https`, because `fetch` takes certificates in Deno only, and each
 * of the two in its own way.
 */
import { type IncomingMessage, request as plainRequest } from "node:http";
import { request as tlsRequest, type RequestOptions } from "node:https";
import { isIP } from "node:net";
import { Readable } from "node:stream";
import { connect, rootCertificates } from "node:tls";
import type { HttpFetch } from "../../proto/mod.ts";
import { openTunnel, openTunnelAgent } from "../../sdk/machine.ts";
import type { SeenCertificate } from "./platform.ts";

export function openHttp(caCerts: readonly string[]): HttpFetch {
  return async (url, { method, headers, body, signal }) => {
    const trust = { minVersion: "TLSv1.3", ...trusting(caCerts) } as const;
    const isPlain = !url.startsWith("https:");
    // Plain HTTP is for this machine alone, and for no proxy.
    const tunnel = isPlain ? undefined : await openTunnelAgent(url, trust, signal ?? undefined);
    const sent = typeof body === "string" ? new TextEncoder().encode(body) : undefined;
    const options: RequestOptions = {
      method,
      headers: {
        ...Object.fromEntries(new Headers(headers)),
        ...(sent !== undefined && { "content-length": String(sent.length) }),
      },
      agent: tunnel ?? false,
      ...(signal && { signal }),
    };
    return await new Promise((resolve, reject) => {
      const receive = (answer: IncomingMessage): void => resolve(responseOf(answer));
      const call = isPlain
        ? plainRequest(url, options, receive)
        : tlsRequest(url, { ...options, ...trust }, receive);
      call.on("error", reject);
      call.end(sent);
    });
  };
}

function responseOf(answer: IncomingMessage): Awaited<ReturnType<HttpFetch>> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) headers.set(name, String(value));
  // cast: Node's own type for the same stream
  const body = Readable.toWeb(answer) as ReadableStream<Uint8Array<ArrayBuffer>>;
  return { status: answer.statusCode ?? 0, headers, body };
}

/**
 * Reads the certificate without sending anything, so that the user learns what is wrong with it.
 */
export async function inspectCertificate(
  { host, port }: { readonly host: string; readonly port: number },
  caCerts: readonly string[],
  timeoutMs = 5_000,
): Promise<SeenCertificate> {
  const name = isIP(host) === 0 ? { servername: host } : {};
  const tunnel = await openTunnel({ host, port }, AbortSignal.timeout(timeoutMs));
  const options = {
    host,
    port,
    ...(tunnel && { socket: tunnel }),
    ...name,
    minVersion: "TLSv1.3",
    rejectUnauthorized: false,
  } as const;
  return await new Promise((resolve, reject) => {
    const socket = connect({ ...options, ...trusting(caCerts) }, () => {
      const { valid_to } = socket.getPeerCertificate();
      const why: unknown = socket.authorizationError;
      resolve({
        expiresAtMs: Date.parse(valid_to),
        refused: socket.authorized ? undefined : why instanceof Error ? why.message : String(why),
        protocol: socket.getProtocol() ?? "",
      });
      socket.destroy();
    });
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error("no answer")));
    socket.on("error", reject);
  });
}

function trusting(caCerts: readonly string[]): { readonly ca?: string[] } {
  return caCerts.length === 0 ? {} : { ca: [...rootCertificates, ...caCerts] };
}
