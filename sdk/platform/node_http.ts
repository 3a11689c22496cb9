/**
 * HTTP in Node, on `node:http` and `node:https`: its `fetch` takes no certificates, and follows
 * `HTTP_PROXY` where Node is told to, with a credential in clear. Without an agent these two
 * connect directly, whatever the environment says.
 */
import { type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestTls, type RequestOptions } from "node:https";
import { Readable } from "node:stream";
import { rootCertificates } from "node:tls";
import type { CertificateTrust, HttpClient } from "../transport/transport.ts";
import { openTunnelAgent } from "./proxy_tunnel.ts";

export function openHttp({ caCerts }: CertificateTrust): HttpClient {
  const trust = caCerts.length > 0 ? { ca: [...rootCertificates, ...caCerts] } : {};
  return {
    request: async (url, init) => {
      // Plain HTTP is for this machine alone, and for no proxy.
      if (!url.startsWith("https:")) return await send(requestPlain, url, init, {});
      const agent = await openTunnelAgent(url, trust, init.signal ?? undefined);
      return await send(requestTls, url, init, agent === undefined ? trust : { agent });
    },
    close: () => {},
  };
}

/** Redirects are never followed here. The SDK sends nothing to the API but text. */
function send(
  request: typeof requestPlain | typeof requestTls,
  url: string,
  { method, headers, body, signal }: RequestInit,
  more: RequestOptions,
): Promise<Response> {
  const sent = typeof body === "string" ? new TextEncoder().encode(body) : undefined;
  const options: RequestOptions = {
    method,
    headers: {
      ...Object.fromEntries(new Headers(headers)),
      ...(sent !== undefined && { "content-length": String(sent.length) }),
    },
    ...(signal && { signal }),
    agent: false,
    ...more,
  };
  return new Promise((resolve, reject) => {
    const call = request(url, options, (answer) => resolve(responseOf(answer)));
    call.on("error", reject);
    call.end(sent);
  });
}

function responseOf(answer: IncomingMessage): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) headers.set(name, String(value));
  const status = answer.statusCode ?? 0;
  if (status === 204 || status === 304) {
    answer.resume();
    return new Response(null, { status, headers });
  }
  // cast: Node's own type for the same stream
  const body = Readable.toWeb(answer) as ReadableStream<Uint8Array>;
  return new Response(body, { status, headers });
}
