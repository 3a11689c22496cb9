// A server behind balancers that pass TCP on: whose connection it is, is said before TLS, and
// limits count that client.
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type Budgets,
  serve,
  type Server,
  type ServerRequest,
  SessionSockets,
} from "../../server/http2/mod.ts";
import { createCertificate, eventually } from "../support/mod.ts";
import {
  binaryFor,
  deliveries,
  lineFor,
  ownBinary,
  ownLine,
  TestBalancer,
} from "../support/http2/balancer.ts";
import { RawClient } from "../support/http2/raw_client.ts";
import { getBlock, headers } from "../support/http2/wire.ts";

const certificate = await createCertificate();

interface Options {
  readonly budgets?: Partial<Budgets>;
  readonly isBalancer?: (address: string) => boolean;
  readonly handle?: (request: ServerRequest) => void;
}

class BehindBalancers implements AsyncDisposable {
  readonly #server: Server;
  readonly certificate = certificate;
  readonly port: number;
  readonly faults: unknown[];

  private constructor(server: Server, faults: unknown[]) {
    this.#server = server;
    this.port = server.port;
    this.faults = faults;
  }

  static async start(
    { budgets = {}, isBalancer = () => true, handle }: Options = {},
  ): Promise<BehindBalancers> {
    const faults: unknown[] = [];
    const server = await serve({
      ...certificate,
      hostname: "127.0.0.1",
      port: 0,
      isBalancer,
      budgets,
      standingOf: ({ path }) => path === "/health" ? "check" : "stranger",
      handler: async (request) => {
        handle?.(request);
        let length = 0;
        for await (const chunk of request.body) length += chunk.length;
        return {
          status: 200,
          body: new TextEncoder().encode(`${request.remoteAddress} ${length}`),
        };
      },
      onFault: (error) => faults.push(error),
    });
    return new BehindBalancers(server, faults);
  }

  get stats(): ReturnType<Server["stats"]> {
    return this.#server.stats();
  }

  async until(done: (stats: ReturnType<Server["stats"]>) => boolean, what: string): Promise<void> {
    await eventually({ what }, () => Promise.resolve(this.stats), done);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
    assertEquals(this.faults, []);
  }
}

/** Asks through a balancer, in either version of HTTP, on a connection of its own. */
async function ask(
  { port }: { readonly port: number },
  { path = "/", http2 = true, body }: {
    path?: string;
    http2?: boolean;
    body?: Uint8Array<ArrayBuffer>;
  } = {},
): Promise<[status: number, text: string]> {
  using client = Deno.createHttpClient({ caCerts: [certificate.cert], http1: !http2, http2 });
  const answer = await fetch(`https://localhost:${port}${path}`, {
    client,
    ...(body && { method: "POST", body }),
  });
  return [answer.status, await answer.text()];
}

for (const delivery of deliveries) {
  Deno.test(`a balancer's header that comes ${delivery} says who the client is, in both versions of each protocol`, async () => {
    await using server = await BehindBalancers.start();
    const clients = [[lineFor("203.0.113.9"), "203.0.113.9"], [
      lineFor("2001:db8::9"),
      "2001:db8::9",
    ], [
      binaryFor("198.51.100.3"),
      "198.51.100.3",
    ]] as const;
    for (const [header, address] of clients) {
      await using balancer = new TestBalancer({
        target: server.port,
        header: () => header,
        delivery,
      });
      for (const http2 of [true, false]) {
        const body = new Uint8Array(300_000);
        assertEquals(await ask(balancer, { http2, body }), [200, `${address} ${body.length}`]);
      }
    }
    await server.until(({ sockets }) => sockets === 0, "without sockets");
  });
}

Deno.test("a balancer's socket without a header is closed; elsewhere a header is garbage", async () => {
  await using behind = await BehindBalancers.start();
  await assertRejects(() => RawClient.open(behind), Error);
  assertEquals(behind.stats.peers.refusedSockets, 1);

  await using open = await BehindBalancers.start({ isBalancer: () => false });
  for (const header of [lineFor("203.0.113.9"), binaryFor("203.0.113.9"), ownLine, ownBinary]) {
    await using stranger = new TestBalancer({ target: open.port, header: () => header });
    await assertRejects(() => RawClient.open({ port: stranger.port, certificate }), Error);
  }
  assertEquals(await ask(open), [200, "127.0.0.1 0"]);
});

/** A socket that sends this, and a promise that resolves when the server has closed it. */
async function greet(
  port: number,
  bytes: Uint8Array,
): Promise<{ leave: () => Promise<void>; ended: Promise<void> }> {
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  await conn.write(bytes);
  const ended = conn.read(new Uint8Array(1)).then(() => {}, () => {}).finally(() => conn.close());
  return { leave: () => conn.closeWrite(), ended };
}

const halves = [
  new Uint8Array(0),
  lineFor("203.0.113.9").subarray(0, 20),
  ownBinary.subarray(0, 13),
];

Deno.test("sockets of a balancer that say nothing, half a header or too much are closed", async () => {
  await using server = await BehindBalancers.start({ budgets: { headerMs: 100 } });
  const tooLong = new TextEncoder().encode(`PROXY UNKNOWN ${"x".repeat(600)}`);
  const sockets = await Promise.all([...halves, tooLong].map((bytes) => greet(server.port, bytes)));
  await Promise.all(sockets.map(({ ended }) => ended));
  assertEquals(server.stats.peers.refusedSockets, sockets.length);
});

Deno.test("few sockets wait for a header, and one that goes away makes room", async () => {
  await using server = await BehindBalancers.start({
    budgets: { headerMs: 600_000, headerSockets: 3 },
  });
  const [first, ...others] = await Promise.all(halves.map((bytes) => greet(server.port, bytes)));
  await server.until(({ sockets }) => sockets === 3, "three sockets that wait");
  await (await greet(server.port, ownLine)).ended;
  assertEquals([server.stats.sockets, server.stats.peers.refusedSockets], [3, 1]);
  await first?.leave();
  await first?.ended;
  await using balancer = new TestBalancer({
    target: server.port,
    header: () => lineFor("203.0.113.9"),
  });
  assertEquals(await ask(balancer), [200, "203.0.113.9 0"]);
  for (const { leave, ended } of others) {
    await leave();
    await ended;
  }
  await server.until(({ sockets }) => sockets === 0, "without sockets");
});

Deno.test("a balancer's own connection may ask for health and nothing else", async () => {
  await using server = await BehindBalancers.start();
  for (const header of [ownLine, ownBinary]) {
    await using balancer = new TestBalancer({ target: server.port, header: () => header });
    for (const http2 of [true, false]) {
      assertEquals((await ask(balancer, { path: "/health", http2 }))[0], 200);
      assertEquals(await ask(balancer, { http2 }), [403, ""]);
    }
  }
});

Deno.test("limits count the client and not its balancer, also for one at the balancer's own address", async () => {
  await using server = await BehindBalancers.start({ budgets: { connectionsPerAddress: 2 } });
  let header = lineFor("203.0.113.9");
  await using balancer = new TestBalancer({ target: server.port, header: () => header });
  const way = { port: balancer.port, certificate };
  using _first = await RawClient.open(way);
  using _second = await RawClient.open(way);
  await server.until(({ connections }) => connections === 2, "two connections");
  await assertRejects(() => RawClient.open(way), Error);
  for (const next of [lineFor("203.0.113.10"), lineFor("127.0.0.1"), ownLine]) {
    header = next;
    using client = await RawClient.open(way);
    await client.send(headers(1, getBlock));
    await client.until(next === ownLine ? "HEADERS 1 END_STREAM" : "HEADERS 1");
  }
});

Deno.test("sockets that a member's session carries take no place of their address", async () => {
  const sessions = new Map<string, SessionSockets>();
  await using server = await BehindBalancers.start({
    budgets: { connectionsPerAddress: 3 },
    isBalancer: () => false,
    handle: (request) => {
      const name = new URL(request.path, "https://localhost").searchParams.get("session") ?? "";
      const session = sessions.get(name) ?? new SessionSockets();
      sessions.set(name, session);
      request.vouch(session);
    },
  });
  using clients = new DisposableStack();
  const visit = async (session: number): Promise<void> => {
    const client = clients.use(
      Deno.createHttpClient({ caCerts: [certificate.cert], http1: session % 2 === 0 }),
    );
    const answer = await fetch(`https://localhost:${server.port}/?session=${session}`, { client });
    assertEquals(answer.status, 200);
    await answer.text();
  };
  for (let session = 0; session < 12; session++) for (let i = 0; i < 2; i++) await visit(session);
  assertEquals([server.stats.sockets, server.stats.peers.refusedSockets], [24, 0]);
  // When sessions end, their sockets count again, and the address has no place left.
  for (const session of sessions.values()) session.end();
  await assertRejects(() => visit(99), Error);
  assert(server.stats.peers.refusedSockets > 0);
});
