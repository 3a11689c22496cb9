import { assert, assertEquals, assertRejects } from "@std/assert";
import { createCertificate, eventually, installed, testWhen } from "../tests/support/mod.ts";
import { type Listener, listenPlain, listenTls } from "./listen.ts";

const handler = (): Response => new Response("answered");
const deadlineMs = 300;

/** Closes a listener to which somebody has a connection that never becomes a request. */
async function closeBeside(listener: Listener, sent: string, client: Deno.HttpClient): Promise<number> {
  const { port } = new URL(listener.url);
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
  await connection.write(new TextEncoder().encode(sent));
  // Connections are accepted in their order, so after this answer the listener has the other one too.
  assertEquals(await (await fetch(listener.url, { client })).text(), "answered");
  const started = performance.now();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<string>((resolve) => timer = setTimeout(() => resolve("still open"), 20 * deadlineMs));
  assertEquals(await Promise.race([listener.close(deadlineMs).then(() => "closed"), late]), "closed");
  clearTimeout(timer);
  connection.close();
  return performance.now() - started;
}

testWhen(
  installed("openssl"),
  "a stop ends at its deadline although somebody holds a connection without a request or even a handshake",
  async () => {
    const { cert: certificate, key } = await createCertificate();
    const local = { host: "127.0.0.1", port: 0, handler };
    using client = Deno.createHttpClient({ caCerts: [certificate] });
    for (const sent of ["", "GET / HTTP/1.1\r\nHos"]) {
      for (const listener of [listenPlain(local), await listenTls({ ...local, certificate, key })]) {
        const ms = await closeBeside(listener, sent, client);
        assert(ms < 10 * deadlineMs, `${listener.url} closed after ${ms} ms`);
      }
    }
  },
);

testWhen(
  installed("openssl"),
  "connections beyond the most there may be are closed, and there is room again",
  async () => {
    const { cert: certificate, key } = await createCertificate();
    const listener = await listenTls({ host: "127.0.0.1", port: 0, handler, certificate, key, maxConnections: 2 });
    using client = Deno.createHttpClient({ caCerts: [certificate], poolMaxIdlePerHost: 0 });
    const ask = async (): Promise<string> => await (await fetch(listener.url, { client })).text();
    const port = Number(new URL(listener.url).port);
    const held = [
      await Deno.connect({ hostname: "127.0.0.1", port }),
      await Deno.connect({ hostname: "127.0.0.1", port }),
    ];
    try {
      await assertRejects(ask, TypeError);
    } finally {
      for (const connection of held) connection.close();
    }
    await eventually(
      { withinMs: 5000, what: "an answer" },
      () => ask().catch(() => "none"),
      (text) => text === "answered",
    );
    await listener.close(deadlineMs);
  },
);

testWhen(installed("openssl"), "whoever does not finish a handshake, a head or a body is closed", async () => {
  const { cert: certificate, key } = await createCertificate();
  const readAll = async (request: Request): Promise<Response> => new Response(await request.text());
  const listener = await listenTls({ host: "127.0.0.1", port: 0, handler: readAll, certificate, key, patienceMs: 100 });
  const address = { hostname: "localhost", port: Number(new URL(listener.url).port) };
  const head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n";
  for (const sent of [undefined, "", "GET / HTTP/1.1\r\nHos", `${head}half`]) {
    using connection = sent === undefined
      ? await Deno.connect({ ...address, hostname: "127.0.0.1" })
      : await Deno.connectTls({ ...address, caCerts: [certificate] });
    // Ends when the other side closes; a reset will do.
    const read = async (): Promise<string> => {
      if (sent !== undefined) await connection.write(new TextEncoder().encode(sent));
      while (await connection.read(new Uint8Array(1024)) !== null);
      return "closed";
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<string>((resolve) => timer = setTimeout(() => resolve("still open"), 5000));
    assertEquals(await Promise.race([read().catch(() => "closed"), late]), "closed", `after ${sent}`);
    clearTimeout(timer);
  }
  await listener.close(deadlineMs);
});
