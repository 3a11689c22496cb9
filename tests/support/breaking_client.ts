/**
 * Connections that are brought to a state and broken there, from many addresses of the loopback
 * network, in bursts.
 */
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { getBlock, headers, preface, settings } from "./http2/wire.ts";

/** How far a connection came. */
export const states = [
  "accepted",
  "waiting",
  "handshake",
  "idle",
  "mid-frame",
  "answering",
  "half-closed",
  "draining",
] as const;
export type State = typeof states[number];

/** How it ends: at once, in order, with bytes that mean nothing, or not at all. */
export const ways = ["RST", "FIN", "garbage", "silence"] as const;
export type Way = typeof ways[number];

export interface Door {
  readonly name: string;
  readonly at: { readonly port: number } | { readonly path: string };
  /** `frames` of the host of an agent come over plain sockets, as HTTP may. */
  readonly speaks: "http" | "https" | "h2" | "frames";
}

export interface Burst {
  readonly state: State;
  readonly way: Way;
  readonly count: number;
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const request = encode("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
const halfRequest = encode(
  "POST /v1/accounts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
);
/** Of a frame with headers that has 100 bytes, the first three. */
const halfFrame = new Uint8Array([0, 0, 100, 1, 4, 0, 0, 0, 1, 0x82, 0x84, 0x86]);
/** Of a host's frame with 200 bytes, the first six. */
const halfHostFrame = new Uint8Array([200, 0, 0, 0, 100, 0, 0, 0, 0x7b, 0x22]);
/** Asked at once, and nobody reads the answers. */
const questions = 50;
/** The beginning of a ClientHello: a record of 512 bytes, and a few of them. */
const halfHello = new Uint8Array([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, 7, 7, 7]);

/** How many a door of this kind brings to the state; others stay where they were. */
export function statesOf({ speaks }: Door): readonly State[] {
  const isTls = speaks === "https" || speaks === "h2";
  return states.filter((state) => {
    if (state === "answering") return speaks !== "frames";
    return isTls || (state !== "handshake" && state !== "waiting");
  });
}

/**
 * Opens all of them, brings each to the state, and breaks them at once. Returns how to end those
 * that were left in silence.
 */
export async function breakConnections(
  door: Door,
  { state, way, count }: Burst,
): Promise<() => void> {
  const { breakOff, closed } = await openConnections(door, state, count);
  breakOff(way);
  if (way === "silence") return () => breakOff("RST");
  await closed();
  return () => {};
}

export interface OpenConnections {
  breakOff(way: Way): void;
  closed(): Promise<void>;
}

/** Opens them and lets the caller decide when they are broken. */
export async function openConnections(
  door: Door,
  state: State,
  count: number,
): Promise<OpenConnections> {
  const opened = await Promise.all(
    Array.from({ length: count }, (_, i) => bring(door, state, addressOf(i))),
  );
  return {
    breakOff: (way) => opened.forEach((raw) => breakOff(raw, way)),
    closed: async () => void await Promise.all(opened.map(closed)),
  };
}

/** So many clients share none, so that no limit of one address keeps them from their state. */
function addressOf(index: number): string {
  return `127.7.${1 + Math.floor(index / 250)}.${1 + index % 250}`;
}

/** Returns the socket below TLS. */
async function bring(door: Door, state: State, from: string): Promise<Socket> {
  const raw = "path" in door.at ? connectTcp({ path: door.at.path }) : connectTcp({
    port: door.at.port,
    host: "127.0.0.1",
    localAddress: from,
    allowHalfOpen: true,
  });
  raw.on("error", () => {});
  await happens(raw, "connect");
  if (state === "accepted" || state === "waiting") return raw;
  const isTls = door.speaks === "https" || door.speaks === "h2";
  if (state === "handshake") {
    raw.write(halfHello);
    return raw;
  }
  const top = isTls ? await secured(raw, door.speaks === "h2" ? "h2" : "http/1.1") : raw;
  if (!top.destroyed) await speak(door, state, top);
  return raw;
}

async function secured(raw: Socket, alpn: string): Promise<TLSSocket> {
  const top = connectTls({ socket: raw, ALPNProtocols: [alpn], rejectUnauthorized: false });
  top.on("error", () => {});
  await happens(top, "secureConnect", raw);
  return top;
}

async function speak({ speaks }: Door, state: State, top: Socket): Promise<void> {
  const greeting = speaks === "h2" ? [preface, settings()] : speaks === "frames" ? [] : [request];
  const half = speaks === "h2" ? halfFrame : speaks === "frames" ? halfHostFrame : halfRequest;
  const answered = happens(top, "data");
  for (const bytes of greeting) top.write(bytes);
  if (state !== "half-closed") await answered;
  if (state === "mid-frame") top.write(half);
  if (state === "answering") {
    top.pause();
    for (let i = 0; i < questions; i++) {
      top.write(speaks === "h2" ? headers(2 * i + 1, getBlock) : request);
    }
  }
  if (state === "half-closed") top.end();
}

/** Also when the connection is refused or closed before: that is the server's right. */
function happens(
  socket: Socket,
  event: "connect" | "secureConnect" | "data",
  below: Socket = socket,
): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed || below.destroyed) return resolve();
    for (const each of [event, "close", "error"]) socket.once(each, () => resolve());
    if (below !== socket) below.once("close", () => resolve());
  });
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) =>
    socket.closed ? resolve() : socket.once("close", () => resolve())
  );
}

function breakOff(raw: Socket, way: Way): void {
  switch (way) {
    case "RST":
      // A socket of the file system has no reset.
      return void (raw.remotePort === undefined ? raw.destroy() : raw.resetAndDestroy());
    case "FIN":
      return void raw.destroySoon();
    case "garbage":
      if (!raw.destroyed) raw.write(crypto.getRandomValues(new Uint8Array(200)));
      return void raw.destroySoon();
    case "silence":
      return;
  }
}
