/**
 * A line of cells from a client into a core in memory: what would be a socket is two queues, and
 * every cell is counted.
 */
import type { LinkHost } from "../cells/link_host.ts";
import { CellSession } from "../cells/cell_session.ts";
import { defaultCoreConfig } from "../core/config.ts";
import type { RelayCore } from "../core/relay_core.ts";

export interface CellLineDeps {
  readonly core: RelayCore;
  readonly nowMs: () => number;
  readonly after: (ms: number, run: () => void) => () => void;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Hears of every cell. */
  readonly onCell: (direction: "up" | "down", atMs: number) => void;
}

/** A line of cells, as a transport of the SDK holds it. */
export interface CellLine {
  read(): Promise<Uint8Array | undefined>;
  write(cells: Uint8Array<ArrayBuffer>, cellBytes: number): Promise<void>;
  close(): void;
  readonly closed: Promise<{ readonly message: string }>;
}

export function openCellLine({ core, nowMs, after, random, onCell }: CellLineDeps): CellLine {
  const { promise: closed, resolve: settleClosed } = Promise.withResolvers<
    { readonly message: string }
  >();
  const arrived: Uint8Array[] = [];
  let waiting: ((chunk: Uint8Array | undefined) => void) | undefined;
  let isOpen = true;
  const count = (direction: "up" | "down", bytes: number, cellBytes: number): void => {
    for (let at = 0; at < bytes; at += cellBytes) onCell(direction, nowMs());
  };
  const end = (): void => {
    isOpen = false;
    settleClosed({ message: "the line was closed" });
    waiting?.(undefined);
  };
  const host: LinkHost = {
    open: (link) => core.open(link),
    cellBytes: defaultCoreConfig.cellBytes,
    idleTimeoutMs: defaultCoreConfig.limits.idleTimeoutMs,
    lowWaterBytes: defaultCoreConfig.lowWaterBytes,
    flushMs: 1_000,
    nowMs,
    after,
    random,
    countBytes: () => {},
  };
  const session = new CellSession(host, {
    transport: "quic",
    remoteAddress: "127.0.0.1",
    write: (cells, cellBytes) => {
      count("down", cells.length, cellBytes);
      const chunk = cells.slice();
      if (waiting === undefined) arrived.push(chunk);
      else waiting(chunk);
      waiting = undefined;
      return Promise.resolve();
    },
    authenticated: () => {},
    close: end,
  });
  return {
    closed,
    read: () => {
      const chunk = arrived.shift();
      if (chunk !== undefined || !isOpen) return Promise.resolve(chunk);
      return new Promise((resolve) => waiting = resolve);
    },
    write: async (cells, cellBytes) => {
      if (!isOpen) throw new Error("the line was closed");
      count("up", cells.length, cellBytes);
      await session.receive(cells.slice());
    },
    close: () => {
      if (isOpen) session.lost();
      end();
    },
  };
}
