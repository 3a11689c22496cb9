import { EventEmitter } from "node:events";
import { connect as connectTcp, Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { connectionKey } from "../../server/http2/mod.ts";
import { createCertificate, eventually } from "../../tests/support/mod.ts";
import { openAndReset } from "../../tests/support/resetting_client.ts";
import { watchTlsSockets } from "../../tests/support/tls_sockets.ts";
import { type ConnectionLimits, Connections, patience } from "./connections.ts";
import type { HttpHandler, HttpListener } from "./listener.ts";
import { admitSockets } from "./node_server.ts";
import { listenPlain } from "./plain.ts";
import { listenTls } from "./tls.ts";

const handler = (): Response => new Response("answered");
const deadlineMs = 300;
const certificate = await createCertificate();

const usual: ConnectionLimits = { connections: 100, ...patience, isProxy: () => false };

type Mode = "plain" | "tls";
const modes: readonly Mode[] = ["plain", "tls"];

async function listen(
  mode: Mode,
  limits: Partial<ConnectionLimits> = {},
  serve: HttpHandler = handler,
  host = "127.0.0.1",
): Promise<HttpListener> {
  const options = {
    host,
    port: 0,
    handler: serve,
    limits: { ...usual, ...limits },
    maxBodyBytes: 1_000,
  };
  return mode === "tls" ? await listenTls({ ...options, certificate }) : await listenPlain(options);
}

/** A machine without IPv6 has no second address. */
const loopbacks = ["127.0.0.1", "::1"].filter((hostname) => {
  try {
    Deno.listen({ hostname, port: 0 }).close();
    return true;
  } catch {
    return false;
  }
});

for (const mode of modes) {
  Deno.test(`${mode}: localhost is every loopback address of this machine`, async () => {
    const listener = await listen(mode, {}, handler, "localhost");
    for (const hostname of loopbacks) {
      using connection = await Deno.connect({ hostname, port: portOf(listener) });
      assertEquals(connection.remoteAddr.transport, "tcp");
    }
    await listener.close(deadlineMs);
  });
}

function portOf({ url }: HttpListener): number {
  return Number(new URL(url).port);
}

/** As far as the mode's own protocol goes: with TLS, the handshake is done. */
async function connect(mode: Mode, listener: HttpListener): Promise<Deno.Conn> {
  const port = portOf(listener);
  if (mode !== "tls") return await Deno.connect({ hostname: "127.0.0.1", port });
  const connection = await Deno.connectTls({
    hostname: "localhost",
    port,
    caCerts: [certificate.cert],
  });
  await connection.handshake();
  return connection;
}

/**
 * A connection from an address of its own whose body does not come. Resolves when the listener has
 * its head, or has refused it.
 */
function hold(mode: Mode, port: number, localAddress: string): Promise<Socket> {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const tcp = connectTcp({ host: "127.0.0.1", port, localAddress });
  tcp.on("error", () => {});
  tcp.on("close", () => resolve(tcp));
  const socket = mode === "tls" ? connectTls({ socket: tcp, rejectUnauthorized: false }) : tcp;
  socket.on("error", () => {});
  socket.resume(); // Otherwise it would not notice that it is closed.
  socket.once(mode === "tls" ? "secureConnect" : "connect", () => {
    socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{", () => resolve(tcp));
  });
  return promise;
}

async function send(connection: Deno.Conn, text: string): Promise<void> {
  await connection.write(new TextEncoder().encode(text));
}

/** Everything until the other side closes; a reset will do. */
async function readAll(connection: Deno.Conn): Promise<string> {
  let text = "";
  const buffer = new Uint8Array(4096);
  try {
    for (
      let read = await connection.read(buffer);
      read !== null;
      read = await connection.read(buffer)
    ) {
      text += new TextDecoder().decode(buffer.subarray(0, read));
    }
  } catch {
    // Reset.
  }
  return text;
}

async function within<T>(ms: number, work: Promise<T>): Promise<T | "still open"> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"still open">((resolve) =>
    timer = setTimeout(() => resolve("still open"), ms)
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

for (const mode of modes) {
  Deno.test(`${mode}: a stop ends at its deadline although somebody holds a connection without a request or even a handshake`, async () => {
    using client = Deno.createHttpClient({ caCerts: [certificate.cert] });
    for (const sent of ["", "GET / HTTP/1.1\r\nHos"]) {
      const listener = await listen(mode);
      using connection = await Deno.connect({ hostname: "127.0.0.1", port: portOf(listener) });
      await send(connection, sent);
      // Connections are accepted in their order, so after this answer the listener has the other
      // one too.
      assertEquals(await (await fetch(listener.url, { client })).text(), "answered");
      const closing = listener.close(deadlineMs).then(() => "closed");
      assertEquals(await within(20 * deadlineMs, closing), "closed", `after ${sent}`);
    }
  });

  Deno.test(`${mode}: a stop ends at its deadline although somebody holds a request whose body does not come`, async () => {
    const listener = await listen(mode);
    using connection = await connect(mode, listener);
    await send(connection, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{");
    await eventually({ what: "it" }, () => Promise.resolve(listener.connections()), (n) => n === 1);
    const closing = listener.close(deadlineMs).then(() => "closed");
    assertEquals(await within(60_000, closing), "closed");
  });

  Deno.test(`${mode}: a stop ends at its deadline although the app does not answer`, async () => {
    const asked = Promise.withResolvers<void>();
    const listener = await listen(mode, {}, () => {
      asked.resolve();
      return new Promise<Response>(() => {});
    });
    using connection = await connect(mode, listener);
    await send(connection, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await asked.promise;
    const closing = listener.close(deadlineMs).then(() => "closed");
    assertEquals(await within(20 * deadlineMs, closing), "closed");
  });

  Deno.test(`${mode}: a stop lets a request in flight finish`, async () => {
    const started = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const listener = await listen(mode, {}, async () => {
      started.resolve();
      await go.promise;
      return new Response("late");
    });
    using client = Deno.createHttpClient({ caCerts: [certificate.cert], poolMaxIdlePerHost: 0 });
    const answer = fetch(listener.url, { client }).then((response) => response.text());
    await started.promise;
    const closed = listener.close(20_000);
    go.resolve();
    assertEquals([await answer, await within(10_000, closed)], ["late", undefined]);
  });

  Deno.test(`${mode}: four addresses that hold all places with unfinished bodies keep no newcomer out`, async () => {
    const echo = async (request: Request): Promise<Response> => new Response(await request.text());
    const listener = await listen(
      mode,
      { connections: 8, minimumMs: 200, requestMs: 600_000 },
      echo,
    );
    using held = new DisposableStack();
    const attack = (count: number): Promise<Socket>[] =>
      Array.from({ length: count }, (_, i) => hold(mode, portOf(listener), `127.0.1.${i % 4 + 1}`));
    const attackers = await Promise.all(attack(8));
    held.defer(() => attackers.forEach((socket) => socket.destroy()));
    await eventually(
      { what: "all" },
      () => Promise.resolve(listener.connections()),
      (n) => n === 8,
    );
    const ask = async (localAddress: string): Promise<string> => {
      using client = Deno.createHttpClient({
        caCerts: [certificate.cert],
        localAddress,
        poolMaxIdlePerHost: 0,
      });
      return await (await fetch(listener.url, { client, method: "POST", body: "whole" })).text();
    };
    // The first may come while all are safe.
    const answer = (): Promise<string> => ask("127.0.2.1").catch(() => "none");
    await eventually({ what: "an answer" }, answer, (text) => text === "whole");
    for (let newcomer = 2; newcomer < 12; newcomer++) {
      attackers.push(...await Promise.all(attack(4)));
      assertEquals(await ask(`127.0.2.${newcomer}`), "whole");
    }
    assert(attackers.filter(({ closed }) => closed).length >= 10);
    await listener.close(deadlineMs);
  });

  Deno.test(`${mode}: clients that do not finish a handshake, a head, a body or a pause are closed`, async () => {
    const echo = async (request: Request): Promise<Response> => new Response(await request.text());
    const listener = await listen(mode, { headMs: 100, idleMs: 200, requestMs: 300 }, echo);
    const post = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n";
    for (
      const sent of [undefined, "", "GET / HTTP/1.1\r\nHos", `${post}half`, `${post}complete!`]
    ) {
      using connection = sent === undefined
        ? await Deno.connect({ hostname: "127.0.0.1", port: portOf(listener) })
        : await connect(mode, listener);
      const read = async (): Promise<string> => {
        if (sent !== undefined) await send(connection, sent);
        await readAll(connection);
        return "closed";
      };
      assertEquals(await within(10_000, read()), "closed", `after ${sent}`);
    }
    await eventually(
      { what: "none" },
      () => Promise.resolve(listener.connections()),
      (n) => n === 0,
    );
    await listener.close(deadlineMs);
  });

  Deno.test(`${mode}: connections that are reset before or after they are accepted leave the listener serving`, async () => {
    const listener = await listen(mode);
    const port = portOf(listener);
    const script = new URL("../../tests/support/resetting_client.ts", import.meta.url).pathname;
    const args = [
      "run",
      "--no-check",
      "--quiet",
      "--allow-net=127.0.0.1",
      script,
      String(port),
      "90",
    ];
    // Nothing is accepted while this process waits for the client.
    const { success, stderr } = new Deno.Command(Deno.execPath(), { args }).outputSync();
    assert(success, new TextDecoder().decode(stderr));
    using client = Deno.createHttpClient({ caCerts: [certificate.cert] });
    const answered = async (): Promise<void> => {
      const answer = fetch(listener.url, { client }).then((response) => response.text());
      assertEquals(await within(10_000, answer), "answered");
    };
    await answered();
    await openAndReset({ port, count: 90 });
    await answered();
    await listener.close(deadlineMs);
  });

  Deno.test(`${mode}: HTTP/0.9, two Host headers and garbage are refused, and the next client is served`, async () => {
    const listener = await listen(mode);
    const bad = [
      "GET /\r\n\r\n",
      "GET / HTTP/0.9\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
      "GARBAGE\r\n\r\n",
    ];
    for (const sent of bad) {
      using connection = await connect(mode, listener);
      await send(connection, sent);
      const text = await within(30_000, readAll(connection));
      assert(text === "" || /^HTTP\/1\.[01] 4\d\d /.test(text), `${sent} → ${text}`);
    }
    using connection = await connect(mode, listener);
    await send(connection, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assertStringIncludes(await readAll(connection), "answered");
    await listener.close(deadlineMs);
  });
}

Deno.test("tls: every answer tells browsers to use TLS only, refusals in the shape of all refusals", async () => {
  const listener = await listen("tls");
  for (const host of ["Host: localhost", "Host: localhost\r\nHost: localhost"]) {
    using connection = await connect("tls", listener);
    await send(connection, `GET / HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`);
    const text = await readAll(connection);
    assertMatch(text, /strict-transport-security: max-age=31536000/i);
    if (text.startsWith("HTTP/1.1 400")) {
      assertMatch(text, /"code":"invalid_request","request_id":"/);
    }
  }
  await listener.close(deadlineMs);
});

Deno.test("tls: another certificate is shown to new connections, and open ones stay", async () => {
  const listener = await listenTls({
    host: "127.0.0.1",
    port: 0,
    handler,
    limits: usual,
    maxBodyBytes: 1_000,
    certificate,
  });
  using before = await connect("tls", listener);
  const renewed = await createCertificate();
  listener.setCertificate(renewed);
  await assertRejects(() => connect("tls", listener), Error);
  using after = Deno.createHttpClient({ caCerts: [renewed.cert] });
  assertEquals(
    await (await fetch(`https://localhost:${portOf(listener)}`, { client: after })).text(),
    "answered",
  );
  await send(before, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  assertStringIncludes(await readAll(before), "answered");
  await listener.close(deadlineMs);
});

Deno.test("tls: a client that leaves in its handshake leaves nothing behind, although it had time left", async () => {
  using sockets = watchTlsSockets();
  const listener = await listen("tls", { headMs: 60_000 });
  for (const sent of [[], [22, 3, 1]]) {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port: portOf(listener) });
    await connection.write(Uint8Array.from(sent));
    await eventually({ what: "it" }, () => Promise.resolve(listener.connections()), (n) => n === 1);
    connection.close();
    await eventually(
      { what: "none" },
      () => Promise.resolve(listener.connections()),
      (n) => n === 0,
    );
  }
  // The listener asks itself from time to time, too.
  assert(sockets.made >= 2);
  const left = (): Promise<number> => Promise.resolve(sockets.left());
  await eventually({ what: "no socket in memory" }, left, (n) => n === 0);
  await listener.close(deadlineMs);
});

Deno.test("a connection whose port is used again keeps its own place when its predecessor is told closed", () => {
  const server = new EventEmitter();
  const places = admitSockets(server, new Connections(usual, { nowMs: () => 0, random: () => 0 }));
  const [first, second] = [1, 2].map(() => {
    const socket = new Socket();
    Object.defineProperties(socket, {
      remoteAddress: { value: "127.0.0.1" },
      remotePort: { value: 5000 },
    });
    server.emit("connection", socket);
    return socket;
  });
  assert(first !== undefined && second !== undefined);
  const place = places.get(connectionKey(second));
  first.emit("close");
  assert(place !== undefined && places.get(connectionKey(second)) === place);
  second.emit("close");
  assertEquals(places.size, 0);
});
