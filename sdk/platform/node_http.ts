/**
 * HTTP in Node: its `fetch`, and `node:https` where certificates were given or a proxy is on the way, because Node's `fetch`
 * takes neither.
 */
import { request, type RequestOptions } from "node:https";
import { Readable } from "node:stream";
import { rootCertificates } from "node:tls";
import type { HttpClient, Trust } from "../transport/transport.ts";
import { openTunnelAgent } from "./proxy_tunnel.ts";

export function openHttp({ caCerts }: Trust): HttpClient {
  const trust = caCerts.length > 0 ? { ca: [...rootCertificates, ...caCerts] } : {};
  return {
    request: async (url, init) => {
      if (!url.startsWith("https:")) return await fetch(url, init);
      const agent = await openTunnelAgent(url, trust, init.signal ?? undefined);
      if (agent === undefined && caCerts.length === 0) return await fetch(url, init);
      return await post(url, init, agent === undefined ? trust : { agent });
    },
    close: () => {},
  };
}

/** Redirects are never followed here, and what the SDK sends to the API has no body. */
function post(url: string, { method, headers, signal }: RequestInit, more: RequestOptions): Promise<Response> {
  return new Promise((resolve, reject) => {
    const options: RequestOptions = {
      ...(method !== undefined && { method }),
      headers: Object.fromEntries(new Headers(headers)),
      ...(signal && { signal }),
      agent: false,
      ...more,
    };
    const call = request(url, options, (answer) => {
      const fields = new Headers();
      for (const [name, value] of Object.entries(answer.headers)) fields.set(name, String(value));
      const body = Readable.toWeb(answer) as ReadableStream<Uint8Array>; // cast: Node's own type for the same stream
      resolve(new Response(body, { status: answer.statusCode ?? 0, headers: fields }));
    });
    call.on("error", reject);
    call.end();
  });
}
