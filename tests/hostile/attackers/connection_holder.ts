/**
 * Connections that begin a request and never finish it, from many addresses; those that are closed
 * are opened again.
 */
import { connect, type Socket } from "node:net";
import { attack } from "../../support/hostile/attack.ts";

export interface HolderOrder {
  readonly port: number;
  readonly addresses: readonly string[];
  /** Held at once, from each address. */
  readonly parallel: number;
  readonly sends: string;
  /** How long one that was closed waits before it comes again. */
  readonly pauseMs: number;
}

export interface HolderReport {
  readonly opened: number;
  readonly refused: number;
}

await attack<HolderOrder, HolderReport>(
  async ({ port, addresses, parallel, sends, pauseMs }, stop) => {
    const counts = { opened: 0, refused: 0 };
    const hold = (localAddress: string): Promise<void> =>
      new Promise((resolve) => {
        const socket: Socket = connect({ host: "127.0.0.1", port, localAddress });
        const end = (): void => void socket.destroy();
        stop.addEventListener("abort", end, { once: true });
        socket.on("connect", () => {
          counts.opened++;
          socket.write(sends);
          socket.resume(); // Otherwise it would not notice that it is closed.
        });
        socket.on("error", () => counts.refused++);
        socket.once("close", () => {
          stop.removeEventListener("abort", end);
          resolve();
        });
      });
    const keep = async (address: string): Promise<void> => {
      while (!stop.aborted) {
        await hold(address);
        // wait: a place that was refused is asked for again soon, not at once
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    };
    await Promise.all(
      addresses.flatMap((address) => Array.from({ length: parallel }, () => keep(address))),
    );
    return counts;
  },
);
