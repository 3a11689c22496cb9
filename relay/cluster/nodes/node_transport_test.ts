// A connection to a node breaks in each of its states and in each way: the client hears of it,
// nothing is left open, and no error is without an owner (the test runner fails for those).
import { assertEquals, assertRejects } from "@std/assert";
import { connect, createServer, type Server, type Socket } from "node:net";
import { inCampaign, tried } from "../../../tests/support/campaign.ts";
import { type CertificateNames, createCertificate } from "../../../tests/support/certificate.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { natsInstalled, startNats, type TestNats } from "../../../tests/support/nats.ts";
import { testWhen } from "../../../tests/support/requirement.ts";
import { connectToNodes } from "./node_connection.ts";
import { NodeTransport } from "./node_transport.ts";

/**
 * When the way to the node breaks: at once, when the node has said what it is, at the client's
 * first bytes, or on command.
 */
const moments = ["accepted", "told", "answered", "connected"] as const;
const ways = ["reset", "end", "garbage", "silence"] as const;
type Moment = typeof moments[number];
type Way = typeof ways[number];

const burst = inCampaign ? 100 : 5;
/** A busy machine takes long for many handshakes at once, and silence must be waited for. */
const timeoutMs = inCampaign ? 10_000 : 3_000;

/** A way to a node that breaks. */
class BreakingWay implements AsyncDisposable {
  readonly #server: Server;
  readonly #near = new Set<Socket>();
  readonly #far = new Set<Socket>();
  readonly #silent = new WeakSet<Socket>();
  readonly #break: { readonly at: Moment; readonly by: Way };

  constructor(nodePort: number, how: { readonly at: Moment; readonly by: Way }) {
    this.#break = how;
    this.#server = createServer({ allowHalfOpen: true }, (near) => this.#accept(near, nodePort));
    this.#server.listen(0, "127.0.0.1");
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  /** Connections that the client has not let go of. */
  get open(): number {
    return this.#near.size;
  }

  breakAll(): void {
    for (const near of this.#near) this.#breakOne(near);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of [...this.#near, ...this.#far]) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(near: Socket, nodePort: number): void {
    const far = connect({ port: nodePort, host: "127.0.0.1" });
    const { at } = this.#break;
    this.#near.add(near);
    this.#far.add(far);
    near.on("error", () => {}).on("close", () => {
      this.#near.delete(near);
      far.destroy();
    });
    far.on("error", () => {}).on("close", () => this.#far.delete(far));
    // An end that the client does not answer with its own is left open.
    near.on("end", () => near.destroy());
    near.on("data", (bytes) => {
      if (this.#silent.has(near)) return;
      if (at === "answered") this.#breakOne(near);
      else far.write(bytes);
    });
    far.on("data", (bytes) => {
      if (this.#silent.has(near)) return;
      near.write(bytes, () => {
        if (at === "told") this.#breakOne(near);
      });
    });
    if (at === "accepted") this.#breakOne(near);
  }

  #breakOne(near: Socket): void {
    if (this.#silent.has(near)) return;
    this.#silent.add(near);
    switch (this.#break.by) {
      case "reset":
        return void near.resetAndDestroy();
      case "end":
        return void near.end();
      case "garbage":
        return void near.write("\u0000\u0001 no node says this\r\n\r\n");
      case "silence":
        return;
    }
  }
}

interface Node {
  readonly nats: TestNats;
  readonly tls: { readonly ca: string } | undefined;
}

async function assertHeard({ nats, tls }: Node, at: Moment, by: Way): Promise<void> {
  await using way = new BreakingWay(Number(new URL(nats.access.urls[0] ?? "").port), { at, by });
  await eventually({ what: "a port" }, () => Promise.resolve(way.port), (port) => port > 0);
  const open = (): ReturnType<typeof connectToNodes> =>
    connectToNodes({
      servers: `localhost:${way.port}`,
      timeout: timeoutMs,
      reconnect: false,
      pingInterval: timeoutMs / 10,
      maxPingOut: 2,
      ...(tls && { tls }),
    });
  const each = Array.from({ length: burst });
  if (at === "connected") {
    const connections = await Promise.all(each.map(open));
    way.breakAll();
    await Promise.all(connections.map((connection) => connection.closed()));
  } else {
    await Promise.all(each.map(() => assertRejects(open, Error)));
  }
  const what = `${at}, ${by}: the client lets go of every connection`;
  await eventually({ what }, () => Promise.resolve(way.open), (count) => count === 0);
}

async function assertAllHeard(node: Node): Promise<void> {
  const breaks = moments.map((at) => ways.map((by) => ({ at, by })));
  // Silence is waited for, so all of them break at the same time. The bursts of a campaign would
  // keep each other waiting.
  for (const together of inCampaign ? breaks : [breaks.flat()]) {
    await Promise.all(together.map(({ at, by }) => assertHeard(node, at, by)));
  }
  const count = moments.length * ways.length * burst;
  tried(`${count} broken connections to a node ${node.tls ? "with" : "without"} TLS`);
}

testWhen(
  natsInstalled,
  "a connection to a node that breaks in any state is heard of and let go",
  async () => {
    await using nats = await startNats({ nodes: 1, plain: true });
    await assertAllHeard({ nats, tls: undefined });
  },
);

/** A node with a certificate of its own. */
async function withTlsNode(
  names: CertificateNames | undefined,
  use: (node: Node) => Promise<void>,
): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const { cert, key } = await createCertificate(names);
  const folder = await Deno.makeTempDir({ prefix: "static-nats-" });
  opened.defer(() => Deno.remove(folder, { recursive: true }));
  await Deno.writeTextFile(`${folder}/cert.pem`, cert);
  await Deno.writeTextFile(`${folder}/key.pem`, key, { mode: 0o600 });
  const settings =
    `tls { cert_file: "${folder}/cert.pem", key_file: "${folder}/key.pem", timeout: 30 }`;
  const nats = opened.use(await startNats({ nodes: 1, settings, plain: true }));
  await use({ nats, tls: { ca: cert } });
}

testWhen(natsInstalled, "over TLS too", () => withTlsNode(undefined, assertAllHeard));

testWhen(
  natsInstalled,
  "a node whose certificate is for another name or address is refused",
  async () => {
    const cases: readonly (CertificateNames & { readonly taken: readonly string[] })[] = [
      { dns: ["localhost"], taken: ["localhost"] },
      { dns: ["nats-2.example.com"], addresses: [[127, 0, 0, 1]], taken: ["127.0.0.1"] },
      { dns: ["nats-2.example.com"], addresses: [[127, 0, 0, 2]], taken: [] },
    ];
    for (const { taken, ...names } of cases) {
      await withTlsNode(names, async ({ nats, tls = { ca: "" } }) => {
        const { port } = new URL(nats.access.urls[0] ?? "");
        for (const host of ["localhost", "127.0.0.1"]) {
          const open = (): ReturnType<typeof connectToNodes> =>
            connectToNodes({ servers: `${host}:${port}`, timeout: 60_000, reconnect: false, tls });
          if (taken.includes(host)) await (await open()).close();
          else await assertRejects(open, Error, "does not match certificate");
        }
      });
    }
  },
);

testWhen(
  natsInstalled,
  "a connection that is closed in the moment in which it stands is not held",
  async () => {
    await using nats = await startNats({ nodes: 1, plain: true });
    const { hostname, port } = new URL(nats.access.urls[0] ?? "");
    const transport = new NodeTransport();
    // Looked at last, when everything else is done.
    const options = {
      get tls(): null {
        queueMicrotask(() => void transport.close(new Error("closed meanwhile")));
        return null;
      },
    };
    const past = { reconnects: 0, lastConnect: 0, gossiped: false, didConnect: false };
    const server = { hostname, port: Number(port), listen: "", src: "", tlsName: "", ...past };
    await assertRejects(() => transport.connect(server, options), Error, "closed meanwhile");
  },
);

testWhen(natsInstalled, "a connection whose reader throws is made anew", async () => {
  await using nats = await startNats({ nodes: 1, plain: true });
  const connection = await connectToNodes({
    servers: [...nats.access.urls],
    reconnectTimeWait: 50,
  });
  const heard: string[] = [];
  connection.subscribe("words", {
    callback: (_, message) => {
      heard.push(message.string());
      if (heard.length === 1) throw new Error("the reader fails");
    },
  });
  connection.publish("words", "first");
  const say = (): Promise<readonly string[]> => {
    if (heard.length > 0) connection.publish("words", "again");
    return Promise.resolve(heard);
  };
  await eventually({ what: "the next message is heard" }, say, ({ length }) => length > 1);
  assertEquals(heard.slice(0, 2), ["first", "again"]);
  await connection.close();
});
