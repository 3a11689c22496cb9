// A server whose places for sockets are all taken, over real sockets: somebody new still comes in.
import { assert, assertEquals } from "@std/assert";
import { type Budgets, serve, type Server, SessionSockets } from "../../server/http2/mod.ts";
import { lineFor, ownLine, TestBalancer } from "../support/http2/balancer.ts";
import { RawClient } from "../support/http2/raw_client.ts";
import { createCertificate, eventually } from "../support/mod.ts";

const certificate = await createCertificate();
const crowd = Array.from({ length: 18 }, (_, i) => `198.51.100.${i + 1}`);

/** Clients come through balancers, so that each may have any address. */
class House implements AsyncDisposable {
  readonly #server: Server;
  readonly #opened = new AsyncDisposableStack();

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Its handler vouches for everybody that asks for `/member`. */
  static async open(budgets: Partial<Budgets>): Promise<House> {
    const session = new SessionSockets();
    const server = await serve({
      ...certificate,
      hostname: "127.0.0.1",
      port: 0,
      isBalancer: () => true,
      budgets,
      standingOf: ({ path }) => path === "/health" ? "check" : "stranger",
      handler: async (request) => {
        if (request.path === "/member") request.vouch(session);
        for await (const _ of request.body) { /* only its end matters */ }
        return { status: 200 };
      },
      onFault: () => {},
    });
    return new House(server);
  }

  get stats(): ReturnType<Server["stats"]> {
    return this.#server.stats();
  }

  async until(done: (stats: ReturnType<Server["stats"]>) => boolean, what: string): Promise<void> {
    await eventually({ what }, () => Promise.resolve(this.stats), done);
  }

  /** Says whose it is, and nothing more. */
  async silent(address: string): Promise<void> {
    const socket = await Deno.connect({ hostname: "127.0.0.1", port: this.#server.port });
    this.#opened.defer(() => {
      try {
        socket.close();
      } catch {
        // The server closed it before.
      }
    });
    await socket.write(lineFor(address));
  }

  /** The way of a client of this address. */
  way(
    header: Uint8Array,
  ): { readonly port: number; readonly certificate: { readonly cert: string } } {
    const { port } = this.#opened.use(
      new TestBalancer({ target: this.#server.port, header: () => header }),
    );
    return { port, certificate };
  }

  async ask(header: Uint8Array, path: string): Promise<number> {
    using client = Deno.createHttpClient({ caCerts: [certificate.cert] });
    const answer = await fetch(`https://localhost:${this.way(header).port}${path}`, { client });
    await answer.body?.cancel();
    return answer.status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
    await this.#server.shutdown();
  }
}

Deno.test("a house full of silent sockets lets somebody new in, and its balancer, and keeps its members", async () => {
  const perAddress = 5;
  const connections = 1 + perAddress * crowd.length;
  await using house = await House.open({ connections });
  using member = Deno.createHttpClient({ caCerts: [certificate.cert] });
  const { port } = house.way(lineFor("192.0.2.1"));
  const asMember = async (): Promise<number> => {
    const answer = await fetch(`https://localhost:${port}/member`, { client: member });
    await answer.body?.cancel();
    return answer.status;
  };
  assertEquals(await asMember(), 200);
  for (const address of crowd) for (let i = 0; i < perAddress; i++) await house.silent(address);
  await house.until(({ sockets }) => sockets === connections, "full");
  assertEquals(await house.ask(lineFor("203.0.113.9"), "/"), 200);
  assertEquals(await house.ask(ownLine, "/health"), 200);
  assertEquals(await asMember(), 200);
  assert(house.stats.sockets <= connections);
});

Deno.test("a connection that says nothing loses its place, and is told by its end", async () => {
  await using house = await House.open({ connections: 6 });
  const clients = await Promise.all(
    [1, 2, 3, 4, 5, 6].map(() => RawClient.open(house.way(lineFor("198.51.100.1")))),
  );
  await house.until(({ connections }) => connections === 6, "full");
  assertEquals(await house.ask(lineFor("203.0.113.9"), "/"), 200);
  await Promise.race(clients.map((client) => client.drain()));
  for (const client of clients) client[Symbol.dispose]();
  await house.until(({ sockets, connections }) => sockets === 0 && connections === 0, "empty");
});
