// Every kind of listener, with connections that break in every state and every way, in bursts: an
// honest client is answered after each, no process ends, none has an error of a socket that nobody
// took care of, and none keeps a socket. A campaign has every port.
import { assert, assertEquals } from "@std/assert";
import { protocolVersion } from "../../proto/mod.ts";
import {
  breakConnections,
  type Door,
  openConnections,
  statesOf,
  type Way,
  ways,
} from "../support/breaking_client.ts";
import { anyBackend } from "../support/api/harness.ts";
import { type ApiProcess, startProcess } from "../support/api/process.ts";
import { inCampaign, tried } from "../support/campaign.ts";
import { createCertificate, eventually } from "../support/mod.ts";
import type { PartProcess } from "../support/part_process.ts";
import { openQuic } from "../support/relay/deno_clients.ts";
import { type RelayProcess, startRelayProcess } from "../support/relay/process.ts";
import { startProxyProcess } from "../support/relay/proxy_process.ts";

/**
 * In one burst. Sockets without TLS are cheap, a handshake is work for both sides, and more than 50
 * at once wait for theirs.
 */
const [cheap, waiting, dear, quic] = inCampaign ? [500, 500, 500, 500] : [8, 60, 1, 3];
const patienceMs = 60_000;

interface TcpDoor extends Door {
  readonly at: { readonly port: number };
}

interface Part {
  readonly process: PartProcess;
  /**
   * At a stop they close one after the other, the one for clients, which is first here, last.
   * Silence holds a stop up for seconds.
   */
  readonly doors: readonly TcpDoor[];
  /** Throws when an honest client is not answered. */
  readonly ask: (door: TcpDoor) => Promise<void>;
}

/** Counts what was tried; every row of the page on reliability names how much that is. */
let broken = 0;

async function breakAll(part: Part): Promise<void> {
  const { process, doors, ask } = part;
  for (const door of doors) await ask(door);
  for (const door of doors) {
    for (const state of statesOf(door).filter((each) => each !== "draining")) {
      for (const way of ways) {
        const count = state === "waiting"
          ? waiting
          : ["accepted", "handshake"].includes(state)
          ? cheap
          : dear;
        const end = await breakConnections(door, { state, way, count });
        broken += count;
        await ask(door);
        end();
      }
    }
  }
  await eventually(
    { withinMs: patienceMs, what: "no socket left of those that broke" },
    () => brokenSockets(process.pid),
    (count) => count === 0,
  );
  await drain(part);
}

/**
 * Connections that are there when the process is asked to stop break while it does: each when its
 * port takes nobody any more.
 */
async function drain({ process, doors, ask }: Part): Promise<void> {
  const held = await Promise.all(doors.map(async (door, index) => {
    const inWays = inCampaign && index === 0 ? ways : ways.filter((way) => way !== "silence");
    return { door, breakAll: await holdAll(door, inWays) };
  }));
  // The half requests that came before this one are read by now: a connection that has asked for
  // nothing is let go at once.
  for (const door of doors) await ask(door);
  process.signal("SIGTERM");
  await Promise.all(held.map(async ({ door, breakAll }) => {
    await eventually(
      { withinMs: patienceMs, what: `${door.name} takes nobody` },
      () => refuses(door),
      Boolean,
    );
    // The other ports answer strangers in the middle of a request, and let them go at once.
    if (door === doors[0]) {
      assert(await brokenSockets(process.pid, door) > 0, `${door.name} has nobody left`);
    }
    breakAll();
  }));
  assertEquals(await process.finished(), 0, process.output());
  assert(!process.output().includes('"event":"fault"'), process.output());
}

/** One burst for all states and ways together: they are open at once. Returns how to break them. */
async function holdAll(door: TcpDoor, inWays: readonly Way[]): Promise<() => void> {
  const cells = (["idle", "mid-frame", "answering"] as const).flatMap((state) =>
    inWays.map((way) => ({ state, way }))
  );
  const count = Math.ceil(dear / cells.length);
  const held = await Promise.all(cells.map(async ({ state, way }) => {
    const { breakOff } = await openConnections(door, state, count);
    return () => breakOff(way);
  }));
  broken += held.length * count;
  return () => held.forEach((breakOff) => breakOff());
}

async function refuses({ at }: TcpDoor): Promise<boolean> {
  try {
    (await Deno.connect({ hostname: "127.0.0.1", port: at.port })).close();
    return false;
  } catch (error) {
    // One that was in the queue of the port when it closed.
    if (error instanceof Deno.errors.ConnectionReset) return false;
    if (!(error instanceof Deno.errors.ConnectionRefused)) throw error;
    return true;
  }
}

/**
 * Sockets of a process to the addresses of `breaking_client.ts`, as the system counts them; on one
 * port, if it is named.
 */
async function brokenSockets(pid: number, on?: TcpDoor): Promise<number> {
  const own = new Set<string>();
  for await (const { name } of Deno.readDir(`/proc/${pid}/fd`)) {
    const target = await Deno.readLink(`/proc/${pid}/fd/${name}`).catch(() => "");
    own.add(/^socket:\[(\d+)\]$/.exec(target)?.[1] ?? "");
  }
  // Addresses of 127.7.0.0/16 as they are written there, the last byte first.
  const theirs = /077F$/;
  const port = on?.at.port.toString(16).toUpperCase().padStart(4, "0") ?? "";
  return ["tcp", "tcp6"].flatMap((protocol) => {
    const rows = Deno.readTextFileSync(`/proc/${pid}/net/${protocol}`).trim().split("\n").slice(1);
    return rows.map((row) => row.trim().split(/\s+/)).filter(
      ([, local = "", remote = "", , , , , , , inode = ""]) => {
        return local.endsWith(port) && theirs.test(remote.replace(/:.*/, "")) && own.has(inode);
      },
    );
  }).length;
}

async function answered(url: string, ca?: string): Promise<void> {
  using client = Deno.createHttpClient(ca === undefined ? {} : { caCerts: [ca] });
  const answer = await fetch(url, { client });
  assertEquals(answer.status, 200, await answer.text());
}

function port(url: string): number {
  return Number(new URL(url).port);
}

async function withApi(
  environment: Readonly<Record<string, string>>,
  run: (api: ApiProcess) => Promise<void>,
): Promise<void> {
  const backend = await anyBackend.open();
  const api = await startProcess({ ...backend.environment, ...environment });
  try {
    await run(api);
  } finally {
    await api.stop();
    await backend.close();
  }
}

Deno.test("broken connections: the API's ports without TLS, and its admin port", async () => {
  await withApi({}, async (process) => {
    const urls = {
      API: process.url,
      ...(inCampaign && { internal: process.internalUrl }),
      admin: process.adminUrl,
    };
    const doors = Object.entries(urls).map(([name, url]): TcpDoor => ({
      name,
      at: { port: port(url) },
      speaks: "http",
    }));
    const ask = async ({ name }: TcpDoor): Promise<void> => {
      if (name === "admin") await process.metrics();
      else await answered(`${name === "API" ? process.url : process.internalUrl}/health`);
    };
    const noted = async (door: TcpDoor): Promise<void> => {
      await ask(door);
      assert(
        /^static_api_unowned_socket_errors_total 0$/m.test(await process.metrics()),
        process.output(),
      );
    };
    await breakAll({ process, doors, ask: noted });
  });
});

Deno.test("broken connections: the API's ports with TLS", async () => {
  const certificate = await createCertificate();
  const folder = await Deno.makeTempDir({ prefix: "static-broken-" });
  const [STATIC_TLS_CERT, STATIC_TLS_KEY] = [`${folder}/cert.pem`, `${folder}/key.pem`];
  await Deno.writeTextFile(STATIC_TLS_CERT, certificate.cert);
  await Deno.writeTextFile(STATIC_TLS_KEY, certificate.key, { mode: 0o600 });
  await withApi({ STATIC_TLS_CERT, STATIC_TLS_KEY }, async (process) => {
    const urls = inCampaign ? [process.url, process.internalUrl] : [process.url];
    const doors = urls.map((url): TcpDoor => {
      return { name: url, at: { port: port(url) }, speaks: "https" };
    });
    const ask = async ({ name }: TcpDoor): Promise<void> => {
      await answered(`${name}/health`, certificate.cert);
      assert(
        /^static_api_unowned_socket_errors_total 0$/m.test(await process.metrics()),
        process.output(),
      );
    };
    await breakAll({ process, doors, ask });
  });
  await Deno.remove(folder, { recursive: true });
});

/**
 * How a QUIC connection is broken, from its first packet on. One whose end is left to the relay is
 * returned.
 */
const quicBreaks: Readonly<Record<string, (at: QuicTarget) => Promise<Deno.QuicConn | void>>> = {
  "garbage for a handshake": async ({ port }) => {
    const socket = Deno.listenDatagram({ hostname: "127.0.0.1", port: 0, transport: "udp" });
    // The form of a first packet, with nothing in it that opens.
    const packet = crypto.getRandomValues(new Uint8Array(1200));
    packet.set([0xc3, 0, 0, 0, 1, 8]);
    await socket.send(packet, { hostname: "127.0.0.1", port, transport: "udp" });
    socket.close();
  },
  "idle, closed": async (at) => (await connectQuic(at)).close(),
  "idle, silent": connectQuic,
  "mid-cell, closed": async (at) => {
    const conn = await connectQuic(at);
    await writeTo(await conn.createBidirectionalStream(), new Uint8Array(100));
    conn.close({ closeCode: 7, reason: "gone" });
  },
  "mid-cell, reset": async (at) => {
    const conn = await connectQuic(at);
    const stream = await conn.createBidirectionalStream();
    await writeTo(stream, new Uint8Array(100));
    await stream.readable.cancel().catch(() => {});
    conn.close();
  },
  "half-closed": async (at) => {
    const conn = await connectQuic(at);
    const writer = (await conn.createBidirectionalStream()).writable.getWriter();
    writer.closed.catch(() => {});
    await writer.write(new Uint8Array(10)).catch(() => {});
    await writer.close().catch(() => {});
    return conn;
  },
  "garbage": async (at) => {
    const conn = await connectQuic(at);
    const stream = await conn.createBidirectionalStream();
    stream.readable.cancel().catch(() => {});
    await writeTo(stream, crypto.getRandomValues(new Uint8Array(9_000)));
    return conn;
  },
};

interface QuicTarget {
  readonly port: number;
  readonly ca: string;
  readonly alpn: string;
}

async function connectQuic({ port, ca, alpn }: QuicTarget): Promise<Deno.QuicConn> {
  const options = { hostname: "localhost", port, alpnProtocols: [alpn], caCerts: [ca] };
  const conn = await Deno.connectQuic<false>(options);
  conn.closed.catch(() => {});
  return conn;
}

/** The relay may have ended it before. */
async function writeTo(stream: Deno.QuicBidirectionalStream, bytes: Uint8Array): Promise<void> {
  const writer = stream.writable.getWriter();
  writer.closed.catch(() => {});
  await writer.write(bytes).catch(() => {});
}

/** Native connections and those of browsers. */
async function breakQuic(relay: RelayProcess, ca: string): Promise<void> {
  const port = Number(relay.quicUrl.split(":").at(-1));
  const left: Deno.QuicConn[] = [];
  for (const alpn of ["static-relay/1", "h3"]) {
    for (const [name, breakOff] of Object.entries(quicBreaks)) {
      // In rounds of what one address may have without a session.
      for (let more = quic; more > 0; more -= 50) {
        const count = Math.min(more, 50);
        const ends = await Promise.allSettled(
          Array.from({ length: count }, () => breakOff({ port, ca, alpn })),
        );
        left.push(
          ...ends.flatMap((end) => end.status === "fulfilled" && end.value ? [end.value] : []),
        );
        broken += count;
        if (more > count) { for (const conn of left.splice(0)) conn.close(); }
      }
      const honest = await openQuic(port, ca);
      const { nonce } = await honest.call("GetChallenge", {
        versions: [protocolVersion],
        features: [],
      });
      assertEquals(nonce.length, 32, name);
      honest.close();
      assert(
        /^static_relay_unowned_socket_errors_total 0$/m.test(await relay.metrics()),
        relay.output(),
      );
      for (const conn of left.splice(0)) conn.close();
    }
  }
  await eventually(
    { withinMs: patienceMs, what: "without connections" },
    () => relay.metrics(),
    (metrics) => /^static_relay_quic_connections 0$/m.test(metrics),
  );
}

Deno.test("broken connections: the relay's ports, QUIC and WebTransport among them, and a proxy before it", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "static-broken-" });
  const relay = await startRelayProcess({
    STATIC_DATA_DIR: dataDir,
    STATIC_RELAY_DRAIN_SECONDS: "1",
  });
  try {
    const ca = await Deno.readTextFile(relay.caFile);
    await using proxy = await startProxyProcess({
      quicPort: Number(relay.quicUrl.split(":").at(-1)),
      ca,
    });
    const proxyDoor: TcpDoor = { name: "proxy", at: { port: proxy.port }, speaks: "h2" };
    const ask = async ({ name }: TcpDoor): Promise<void> => {
      if (name === "proxy") {
        await answered(`https://127.0.0.1:${proxy.port}/health`, proxy.certificate.cert);
      } else if (name === "gRPC") {
        await answered(`https://127.0.0.1:${port(relay.grpcUrl)}/health`, ca);
      }
      assert(
        /^static_relay_unowned_socket_errors_total 0$/m.test(await relay.metrics()),
        relay.output(),
      );
    };
    await breakAll({ process: proxy.process, doors: [proxyDoor], ask });
    await breakQuic(relay, ca);
    const doors: TcpDoor[] = [
      { name: "gRPC", at: { port: port(relay.grpcUrl) }, speaks: "h2" },
      { name: "admin", at: { port: port(relay.adminUrl) }, speaks: "http" },
    ];
    await breakAll({ process: relay, doors, ask });
  } finally {
    await relay.stop();
    await Deno.remove(dataDir, { recursive: true });
    tried(`${broken.toLocaleString("en")} broken connections`);
  }
});
