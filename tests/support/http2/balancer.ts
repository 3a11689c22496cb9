/**
 * Stands between clients and a server, as balancers do: passes bytes on unread, behind a header of
 * the PROXY protocol.
 */
import { concat } from "./wire.ts";

/** How the header and a client's first bytes come to the server. */
export type Delivery = "apart" | "in one piece" | "byte by byte" | "cut behind the first bytes";

export const deliveries: readonly Delivery[] = [
  "apart",
  "in one piece",
  "byte by byte",
  "cut behind the first bytes",
];

export interface BalancerOptions {
  readonly target: number;
  /** For the next connection; empty: none. */
  readonly header: () => Uint8Array;
  readonly delivery?: Delivery;
}

export class TestBalancer implements AsyncDisposable {
  readonly port: number;
  readonly #listener: Deno.TcpListener;
  readonly #options: BalancerOptions;
  readonly #passing: Promise<void>[] = [];
  readonly #open = new Set<Deno.TcpConn>();
  readonly #accepting: Promise<void>;

  constructor(options: BalancerOptions) {
    this.#options = options;
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.port = this.#listener.addr.port;
    this.#accepting = this.#accept();
  }

  async #accept(): Promise<void> {
    for await (const client of this.#listener) {
      this.#passing.push(this.#pass(client).catch(() => {}));
    }
  }

  async #pass(client: Deno.TcpConn): Promise<void> {
    this.#open.add(client);
    try {
      const server = await Deno.connect({ hostname: "127.0.0.1", port: this.#options.target });
      this.#open.add(server);
      server.setNoDelay(true);
      await this.#greet(client, server);
      // The end of either side is the other's too.
      await Promise.allSettled([
        client.readable.pipeTo(server.writable).finally(() => close(client)),
        server.readable.pipeTo(client.writable).finally(() => close(server)),
      ]);
      this.#open.delete(server);
    } finally {
      this.#open.delete(client);
      close(client);
    }
  }

  async #greet(client: Deno.TcpConn, server: Deno.TcpConn): Promise<void> {
    const { header, delivery = "apart" } = this.#options;
    const bytes = header();
    if (delivery === "apart") return await writeAll(server, bytes);
    const first = new Uint8Array(65_536);
    const all = concat(bytes, first.subarray(0, await client.read(first) ?? 0));
    const cuts = {
      "in one piece": [all.length],
      "byte by byte": Array.from({ length: bytes.length + 20 }, (_, i) => i + 1).concat(all.length),
      "cut behind the first bytes": [bytes.length + 7, all.length],
    }[delivery];
    let from = 0;
    for (const cut of cuts) {
      await writeAll(server, all.subarray(from, cut));
      from = cut;
      // wait: so that the pieces come apart
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const conn of this.#open) close(conn);
    await this.#accepting.catch(() => {});
    await Promise.all(this.#passing);
  }
}

async function writeAll(conn: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
}

function close(conn: Deno.TcpConn): void {
  try {
    conn.close();
  } catch {
    // It is closed already.
  }
}

/** `PROXY TCP4 …`, as nginx writes it. */
export function lineFor(client: string): Uint8Array {
  const [family, own] = client.includes(":") ? ["TCP6", "2001:db8::1"] : ["TCP4", "192.0.2.1"];
  return new TextEncoder().encode(`PROXY ${family} ${client} ${own} 50000 5000\r\n`);
}

const signature = new TextEncoder().encode("\r\n\r\n\0\r\nQUIT\n");

/** Version 2 for an IPv4 client, with an extension, as haproxy writes it. */
export function binaryFor(client: string): Uint8Array {
  const block = [
    ...client.split(".").map(Number),
    192,
    0,
    2,
    1,
    0xc3,
    0x50,
    0x13,
    0x88,
    0x04,
    0,
    2,
    0,
    0,
  ];
  return concat(signature, new Uint8Array([0x21, 0x11, 0, block.length, ...block]));
}

/** The balancer's own connection, in both versions. */
export const ownLine: Uint8Array = new TextEncoder().encode("PROXY UNKNOWN\r\n");
export const ownBinary: Uint8Array = concat(signature, new Uint8Array([0x20, 0, 0, 0]));
