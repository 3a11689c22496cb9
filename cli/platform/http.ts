/** HTTP on `node:http` and `node:https`, because `fetch` takes certificates in Deno only, and each of the two in its own way. */
import { type IncomingMessage, request as plainRequest } from "node:http";
import { request as tlsRequest, type RequestOptions } from "node:https";
import { isIP } from "node:net";
import { connect, rootCertificates } from "node:tls";
import type { HttpAnswer, HttpRequest, SeenCertificate } from "./platform.ts";

/** The largest answer of the API lists a hundred keys. */
const maxAnswerBytes = 1024 * 1024;
const inspectTimeoutMs = 5_000;

/** Redirects are not followed: they would carry a key to an address that nobody gave. */
export function request(url: string, { method, headers = {}, body, ...more }: HttpRequest): Promise<HttpAnswer> {
  const { caCerts, timeoutMs, signal } = more;
  const length = body === undefined ? {} : { "content-length": String(new TextEncoder().encode(body).length) };
  const options: RequestOptions = {
    method,
    headers: { ...headers, ...length },
    agent: false,
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  };
  return new Promise((resolve, reject) => {
    const receive = (answer: IncomingMessage): void => void readAnswer(answer).then(resolve, reject);
    const call = url.startsWith("https:")
      ? tlsRequest(url, { ...options, minVersion: "TLSv1.3", ...trusting(caCerts) }, receive)
      : plainRequest(url, options, receive);
    call.once("error", reject);
    call.end(body);
  });
}

async function readAnswer(answer: IncomingMessage): Promise<HttpAnswer> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of answer) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > maxAnswerBytes) throw new RangeError("The answer is too long to be one of the service");
  }
  const fields = Object.entries(answer.headers).map(([name, value]) => [name, String(value)]);
  return { status: answer.statusCode ?? 0, headers: Object.fromEntries(fields), text };
}

/** Nothing is sent: what is wrong with the certificate is what the user wants to know. */
export function inspectCertificate(
  { host, port }: { readonly host: string; readonly port: number },
  caCerts: readonly string[],
): Promise<SeenCertificate> {
  const name = isIP(host) === 0 ? { servername: host } : {};
  const options = { host, port, ...name, minVersion: "TLSv1.3", rejectUnauthorized: false } as const;
  return new Promise((resolve, reject) => {
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
    socket.setTimeout(inspectTimeoutMs, () => socket.destroy(new Error("no answer")));
    socket.once("error", reject);
  });
}

function trusting(caCerts: readonly string[]): { readonly ca?: string[] } {
  return caCerts.length === 0 ? {} : { ca: [...rootCertificates, ...caCerts] };
}
