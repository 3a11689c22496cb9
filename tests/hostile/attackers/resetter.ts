/**
 * Opens TCP connections at a steady pace and resets each of them (`SO_LINGER` of 0) without a byte.
 */
import { connect } from "node:net";
import { attack } from "../../support/hostile/attack.ts";

export interface ResetterOrder {
  readonly ports: readonly number[];
  /** The attacker's own. */
  readonly address: string;
  /** Of all ports together. */
  readonly perSecond: number;
}

export interface ResetterReport {
  /** Connections that were taken and reset. */
  reset: number;
  /** Connections that were refused, or reset by the server. */
  refused: number;
  perSecond: number;
}

const tickMs = 10;
/** Beyond it the attacker waits for the machine. */
const mostUnderWay = 2_000;

await attack<ResetterOrder, ResetterReport>(async ({ ports, address, perSecond }, stop) => {
  const report = { reset: 0, refused: 0, perSecond: 0 };
  const startMs = performance.now();
  let [begun, underWay] = [0, 0];
  const open = (port: number): void => {
    underWay++;
    const socket = connect({ host: "127.0.0.1", port, localAddress: address });
    socket.on("connect", () => {
      report.reset++;
      socket.resetAndDestroy();
    });
    socket.on("error", () => report.refused++);
    socket.once("close", () => underWay--);
  };
  while (!stop.aborted) {
    const due = Math.floor((performance.now() - startMs) / 1000 * perSecond);
    for (; begun < due && underWay < mostUnderWay; begun++) open(ports[begun % ports.length] ?? 0);
    // An attack has a pace, not a total: more than a second behind is not made up for.
    begun = Math.max(begun, due - perSecond);
    await new Promise((resolve) => setTimeout(resolve, tickMs)); // wait: the pace of the attack
  }
  const seconds = (performance.now() - startMs) / 1000;
  return { ...report, perSecond: Math.round((report.reset + report.refused) / seconds) };
});
