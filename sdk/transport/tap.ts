/**
 * Shows somebody else the cells of a connection, as the relay sees them: inside TLS, before any of it is understood. It has no
 * thread of its own, because what happens there cannot be shown here.
 */
import { limits } from "../../proto/mod.ts";
import type { Connector } from "./transport.ts";

/**
 * Hears of cells that go to the relay, whole, and of those that come from it, in pieces of any size. The bytes are valid during
 * the call only.
 */
export type CellTap = (cells: Uint8Array, cellBytes: number, direction: "sent" | "received") => void;

export function tapped(connector: Connector, tap: CellTap): Connector {
  return {
    transport: connector.transport,
    carrier: connector.carrier,
    unusable: (trust) => connector.unusable(trust),
    connect: async (target, signal) => {
      const stream = await connector.connect(target, signal);
      let size: number = limits.cellBytes;
      return {
        read: async () => {
          const bytes = await stream.read();
          if (bytes !== undefined) tap(bytes, size, "received");
          return bytes;
        },
        write: (cells, cellBytes) => {
          size = cellBytes;
          tap(cells, cellBytes, "sent");
          return stream.write(cells, cellBytes);
        },
        close: (closeCode) => stream.close(closeCode),
        closed: stream.closed,
      };
    },
  };
}
