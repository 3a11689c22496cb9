/**
 * Shows somebody else the cells of a connection, as the relay sees them: inside TLS, before any of it is understood. It has no
 * thread of its own, because what happens there cannot be shown here.
 */
import type { Connector } from "./transport.ts";

/** Hears of cells that go to the relay. The bytes are valid during the call only. */
export type CellTap = (cells: Uint8Array, cellBytes: number) => void;

export function tapped(connector: Connector, tap: CellTap): Connector {
  return {
    transport: connector.transport,
    carrier: connector.carrier,
    unusable: (trust) => connector.unusable(trust),
    connect: async (target, signal) => {
      const stream = await connector.connect(target, signal);
      return {
        read: () => stream.read(),
        write: (cells, cellBytes) => {
          tap(cells, cellBytes);
          return stream.write(cells, cellBytes);
        },
        close: (closeCode) => stream.close(closeCode),
        closed: stream.closed,
      };
    },
  };
}
