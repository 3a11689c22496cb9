/** Opens TCP connections and keeps them, saying nothing. */
import { connect, type Socket } from "node:net";
import { attack } from "../../support/hostile/attack.ts";

export interface IdleSocketsOrder {
  readonly port: number;
  readonly addresses: readonly string[];
  /** Of each address at once. */
  readonly sockets: number;
}

export interface IdleSocketsReport {
  opened: number;
  closed: number;
}

await attack<IdleSocketsOrder, IdleSocketsReport>(async ({ port, addresses, sockets }, stop) => {
  const report: IdleSocketsReport = { opened: 0, closed: 0 };
  const keepOne = async (localAddress: string): Promise<void> => {
    while (!stop.aborted) {
      const socket: Socket = connect({ port, host: "127.0.0.1", localAddress });
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      socket.on("connect", () => report.opened++);
      socket.on("error", () => {});
      socket.on("close", () => resolve());
      stop.addEventListener("abort", () => socket.destroy());
      await closed;
      report.closed++;
      await new Promise((again) => setTimeout(again, 50)); // wait: an attack keeps a pace
    }
  };
  await Promise.all(
    addresses.flatMap((address) => Array.from({ length: sockets }, () => keepOne(address))),
  );
  return report;
});
