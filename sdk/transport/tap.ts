/**
 * Shows somebody else the cells of a connection, as the relay sees them: inside TLS, before any of
 * it is understood. The thread of a stream reports its cells by messages.
 */
import { limits } from "../../proto/mod.ts";
import type { CellTap, Connector, ThreadOptions } from "./transport.ts";

/** The connector with options of its user, in whichever thread it runs. */
export function withOptions(connector: Connector, options: ThreadOptions): Connector {
  const { connectInThread, ...others } = connector;
  const { tap } = options;
  return {
    ...tap === undefined ? others : tapped(others, tap),
    ...(connectInThread !== undefined && {
      connectInThread: (target, signal) => connectInThread(target, signal, options),
    }),
  };
}

/** In this thread alone. */
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
