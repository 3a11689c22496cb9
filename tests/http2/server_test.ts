// One port over real sockets: TLS 1.3 only, HTTP/2 and HTTP/1.1 by ALPN, CORS, admission, renewal,
// shutdown.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { defaultBudgets, serve } from "../../server/http2/mod.ts";
import { createCertificate, eventually, installed, runCommand, testWhen } from "../support/mod.ts";
import { RawClient } from "../support/http2/raw_client.ts";
import { ServerProcess } from "../support/http2/server_process.ts";
import { openConnections } from "../support/breaking_client.ts";
import { flag, getBlock, headers, ping } from "../support/http2/wire.ts";
import { openAndReset } from "../support/resetting_client.ts";
import { watchTlsSockets } from "../support/tls_sockets.ts";

const curl = installed("curl");
const openssl = installed("openssl");
const health = '{"status":"ok"}';

testWhen(curl, "curl gets /health by HTTP/2 and by HTTP/1.1", async () => {
  await using server = await ServerProcess.start();
  for (const [option, version] of [["--http2", "2"], ["--http1.1", "1.1"]] as const) {
    const url = `${server.origin}/health`;
    const output = await runCommand("curl", [
      "-s",
      option,
      "--cacert",
      server.certFile,
      "-w",
      " %{http_version}",
      url,
    ]);
    assertEquals(output, `${health} ${version}`);
  }
});

testWhen(curl, "curl uploads and downloads by both versions", async () => {
  await using server = await ServerProcess.start();
  const file = await Deno.makeTempFile();
  await Deno.writeFile(file, new Uint8Array(3_000_000));
  for (const option of ["--http2", "--http1.1"]) {
    const args = [
      "-s",
      option,
      "--cacert",
      server.certFile,
      "--data-binary",
      `@${file}`,
      `${server.origin}/sink`,
    ];
    assertEquals(await runCommand("curl", args), "3000000");
    const status = [
      "-s",
      option,
      "--cacert",
      server.certFile,
      "-o",
      "/dev/null",
      "-w",
      "%{http_code}",
    ];
    assertEquals(await runCommand("curl", [...status, `${server.origin}/throw`]), "500");
    assertEquals(await runCommand("curl", [...status, "--head", `${server.origin}/health`]), "200");
    assertEquals(await runCommand("curl", [...status, `${server.origin}/nowhere`]), "404");
    const unread = ["--data-binary", `@${file}`, `${server.origin}/nowhere`];
    for (let i = 0; i < 5; i++) {
      assertEquals(await runCommand("curl", [...status, ...unread]), "404");
    }
  }
  await server.until(
    ({ sockets }) => sockets === 0,
    "without sockets, although uploads were not read",
    5,
  );
  await Deno.remove(file);
});

testWhen(curl, "a Connect call works over HTTP/1.1, as browsers make it", async () => {
  await using server = await ServerProcess.start();
  const output = await runCommand("curl", [
    "-s",
    "--http1.1",
    "--cacert",
    server.certFile,
    "-H",
    "content-type: application/json",
    "-d",
    '{"data":"aGVsbG8="}',
    `${server.origin}/test.Echo/Unary`,
  ]);
  assertEquals(JSON.parse(output), { data: "aGVsbG8=" });
});

testWhen(openssl, "TLS 1.2 is refused, TLS 1.3 is spoken", async () => {
  await using server = await ServerProcess.start();
  const connect = (option: string): Promise<string> =>
    runCommand("openssl", [
      "s_client",
      "-connect",
      `127.0.0.1:${server.port}`,
      "-alpn",
      "h2",
      option,
    ], {
      mayFail: true,
    });
  assert((await connect("-tls1_3")).includes("ALPN protocol: h2"));
  assert((await connect("-tls1_2")).includes("Cipher is (NONE)"));
});

Deno.test("a browser's preflight and call are answered for allowed origins only", async () => {
  await using server = await ServerProcess.start();
  using client = Deno.createHttpClient({ caCerts: [server.certificate.cert] });
  const url = `${server.origin}/test.Echo/Unary`;
  const preflight = async (origin: string): Promise<[number, string | null, string | null]> => {
    const answer = await fetch(url, {
      client,
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type",
      },
    });
    await answer.body?.cancel();
    const { headers: fields, status } = answer;
    return [
      status,
      fields.get("access-control-allow-origin"),
      fields.get("access-control-allow-methods"),
    ];
  };
  assertEquals(await preflight("https://app.example"), [204, "https://app.example", "POST, GET"]);
  assertEquals(await preflight("https://evil.example"), [403, null, null]);

  const call = async (origin: string): Promise<Headers> => {
    const body = JSON.stringify({ data: "aGk=" });
    const answer = await fetch(url, {
      client,
      method: "POST",
      headers: { origin, "content-type": "application/json" },
      body,
    });
    assertEquals(await answer.json(), { data: "aGk=" });
    return answer.headers;
  };
  const allowed = await call("https://app.example");
  assertEquals(allowed.get("access-control-allow-origin"), "https://app.example");
  assert(allowed.get("access-control-expose-headers")?.includes("x-echo"));
  assertEquals((await call("https://evil.example")).get("access-control-allow-origin"), null);
});

Deno.test("an address gets no more sockets than its budget, and gets them back", async () => {
  await using server = await ServerProcess.start({ budgets: { connectionsPerAddress: 3 } });
  const clients = await Promise.all([1, 2, 3].map(() => RawClient.open(server)));
  await server.until(({ connections }) => connections === 3, "three connections");
  await assertRejects(() => RawClient.open(server), Error);
  for (const client of clients) client[Symbol.dispose]();
  await server.until(({ sockets }) => sockets === 0, "all sockets closed");
  using again = await RawClient.open(server);
  await again.send(headers(1, getBlock));
  await again.until("HEADERS 1 END_STREAM");
});

Deno.test("two hundred connections that are opened and reset leave the server serving", async () => {
  // Some are reset in their handshake, most while they wait for it, and the rest is refused.
  const { handshakes } = defaultBudgets;
  await using server = await ServerProcess.start({ budgets: { handshakes } });
  await openAndReset({ port: server.port, count: 200 });
  await server.until(({ sockets }) => sockets === 0, "without sockets");
  using client = Deno.createHttpClient({ caCerts: [server.certificate.cert] });
  assertEquals(await (await fetch(`${server.origin}/health`, { client })).text(), health);
  assertEquals((await server.stats()).faults, []);
});

Deno.test("connections that were reset while they waited for their handshake keep nobody waiting", async () => {
  // A turn for each of them would take more than a minute.
  await using server = await ServerProcess.start({
    budgets: { handshakes: { burst: 5, perSecond: 1 } },
  });
  const door = { name: "server", at: { port: server.port }, speaks: "h2" } as const;
  const { breakOff } = await openConnections(door, "waiting", 100);
  await server.until(({ sockets }) => sockets === 100, "with all of them");
  breakOff("RST");
  await server.until(({ sockets }) => sockets === 0, "without sockets");
  using client = Deno.createHttpClient({ caCerts: [server.certificate.cert] });
  const answer = await fetch(`${server.origin}/health`, {
    client,
    signal: AbortSignal.timeout(60_000),
  });
  assertEquals(await answer.text(), health);
});

Deno.test("sockets that do not finish their handshake, preface or request in time are closed", async () => {
  // Long enough for a busy machine to open all three.
  await using server = await ServerProcess.start({ budgets: { handshakeTimeoutMs: 10_000 } });
  const silent = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  const unintroduced = await RawClient.connect(server);
  const http1 = await Deno.connectTls({
    hostname: "localhost",
    port: server.port,
    caCerts: [server.certificate.cert],
    alpnProtocols: ["http/1.1"],
  });
  await http1.write(new TextEncoder().encode("GET /health HTT"));
  await server.until(({ sockets }) => sockets === 3, "three sockets");
  await server.until(({ sockets }) => sockets === 0, "all closed", 40);
  for (const socket of [silent, http1, unintroduced]) {
    "close" in socket ? socket.close() : socket[Symbol.dispose]();
  }
});

Deno.test("connections of both protocols outlive the time for a handshake", async () => {
  await using server = await ServerProcess.start({ budgets: { handshakeTimeoutMs: 3_000 } });
  using client = await RawClient.open(server);
  const http1 = await Deno.connectTls({
    hostname: "localhost",
    port: server.port,
    caCerts: [server.certificate.cert],
    alpnProtocols: ["http/1.1"],
  });
  await http1.write(new TextEncoder().encode("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  await http1.read(new Uint8Array(1_000));
  const silent = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  await server.until(({ sockets }) => sockets === 3, "three sockets");
  await server.until(({ sockets }) => sockets === 2, "one late");
  await client.send(headers(1, getBlock));
  await client.until("HEADERS 1 END_STREAM");
  await http1.write(new TextEncoder().encode("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  assert(await http1.read(new Uint8Array(1_000)) !== null);
  for (const each of [http1, silent]) each.close();
});

/**
 * From one port of its own: a TLS connection to one address, and a silent one to another. Prints
 * whether that is closed, and an answer of the first.
 */
const twoAddresses = `
import select, socket, ssl, sys
port, context = int(sys.argv[1]), ssl._create_unverified_context()
context.set_alpn_protocols(["http/1.1"])
def connect(address, own):
    each = socket.socket()
    each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    each.bind(("127.0.0.1", own))
    each.connect((address, port))
    return each
first = connect("127.0.0.1", 0)
silent = connect("127.0.0.2", first.getsockname()[1])
spoken = context.wrap_socket(first)
late, _, _ = select.select([silent], [], [], 10)
spoken.sendall(b"GET / HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
print(len(late), spoken.recv(15).decode())
`;

testWhen(
  installed("python3"),
  "the time for a handshake is each connection's own, from one port to two addresses too",
  async () => {
    const server = await serve({
      ...await createCertificate(),
      hostname: "0.0.0.0",
      port: 0,
      budgets: { handshakeTimeoutMs: 1_000 },
      onFault: (error) => {
        throw error;
      },
      handler: () => Promise.resolve({ status: 200 }),
    });
    assertEquals(
      await runCommand("python3", ["-c", twoAddresses, String(server.port)]),
      "1 HTTP/1.1 200 OK\n",
    );
    await server.shutdown();
  },
);

Deno.test("a client that leaves in its handshake leaves nothing behind, although it had time left", async () => {
  using sockets = watchTlsSockets();
  const server = await serve({
    ...await createCertificate(),
    hostname: "127.0.0.1",
    port: 0,
    onFault: (error) => {
      throw error;
    },
    handler: () => Promise.resolve({ status: 200 }),
  });
  const open = (): Promise<number> => Promise.resolve(server.stats().sockets);
  for (const sent of [[], [22, 3, 1]]) {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
    await connection.write(Uint8Array.from(sent));
    await eventually({ what: "it" }, open, (count) => count === 1);
    connection.close();
    await eventually({ what: "none" }, open, (count) => count === 0);
  }
  assert(sockets.made >= 2);
  const left = (): Promise<number> => Promise.resolve(sockets.left());
  await eventually({ what: "no socket in memory" }, left, (count) => count === 0);
  await server.shutdown();
});

Deno.test("shutdown lets a running call finish, refuses new connections, and ends", async () => {
  const certificate = await createCertificate();
  let finish: () => void = () => {};
  const server = await serve({
    ...certificate,
    hostname: "127.0.0.1",
    port: 0,
    onFault: (error) => {
      throw error;
    },
    handler: () => new Promise((resolve) => finish = () => resolve({ status: 200 })),
  });
  using client = await RawClient.open({ port: server.port, certificate });
  await client.send(headers(1, getBlock));
  await client.until("SETTINGS ACK");
  const ended = server.shutdown();
  await client.until("PING");
  await client.send(ping(new TextEncoder().encode("shutdown"), flag.ACK));
  await client.until("GOAWAY 1 NO_ERROR");
  await assertRejects(() => RawClient.connect({ port: server.port, certificate }), Error);
  finish();
  assertEquals(await client.drain(), ["HEADERS 1 END_STREAM"]);
  client[Symbol.dispose]();
  await ended;
});

Deno.test("a renewed certificate serves new handshakes while old connections live", async () => {
  const [first, second] = [await createCertificate(), await createCertificate()];
  const server = await serve({
    ...first,
    hostname: "127.0.0.1",
    port: 0,
    onFault: (error) => {
      throw error;
    },
    handler: () => ({ status: 200 }),
  });
  using old = await RawClient.open({ port: server.port, certificate: first });
  server.setCertificate(second);
  await assertRejects(() => RawClient.open({ port: server.port, certificate: first }), Error);
  using fresh = await RawClient.open({ port: server.port, certificate: second });
  for (const client of [old, fresh]) {
    await client.send(headers(1, getBlock));
    await client.until("HEADERS 1 END_STREAM");
    client[Symbol.dispose]();
  }
  await server.shutdown();
});

testWhen(
  curl,
  "an HTTP/1.1 client that leaves ends the endless body that it asked for",
  async () => {
    await using server = await ServerProcess.start();
    const args = [
      "-s",
      "--http1.1",
      "--max-time",
      "0.3",
      "--limit-rate",
      "100k",
      "--cacert",
      server.certFile,
      "-o",
      "/dev/null",
    ];
    await runCommand("curl", [...args, `${server.origin}/endless`], { mayFail: true });
    await runCommand("curl", [...args, `${server.origin}/hang`], { mayFail: true });
    const { faults } = await server.until(({ sockets }) => sockets === 0, "without sockets", 5);
    assertEquals(faults, []);
  },
);
