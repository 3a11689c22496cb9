/** HTTP in Node: its `fetch`, and `node:https` where certificates were given, because Node's `fetch` takes none. */
import { request, type RequestOptions } from "node:https";
import { Readable } from "node:stream";
import { rootCertificates } from "node:tls";
import type { HttpClient, Trust } from "../transport/transport.ts";

export function openHttp({ caCerts }: Trust): HttpClient {
  const ca = [...rootCertificates, ...caCerts];
  return {
    request: (url, init) => caCerts.length > 0 && url.startsWith("https:") ? post(url, init, ca) : fetch(url, init),
    close: () => {},
  };
}

/** Redirects are never followed here, and what the SDK sends to the API has no body. */
function post(url: string, { method, headers, signal }: RequestInit, ca: readonly string[]): Promise<Response> {
  return new Promise((resolve, reject) => {
    const options: RequestOptions = {
      ...(method !== undefined && { method }),
      headers: Object.fromEntries(new Headers(headers)),
      ...(signal && { signal }),
      ca: [...ca],
      agent: false,
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
