/**
 * Sockets of balancers that have not said yet whose connection they carry. They are few and have
 * little time. Bytes behind the header are put back, so that TLS finds a client's connection as if
 * nobody had stood between.
 */
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import type { Budgets } from "./budgets.ts";
import { parseProxyHeader } from "./proxy_header.ts";

export interface HeaderEvents {
  /** `client` is undefined for a connection of the balancer itself. */
  readonly came: (client: string | undefined) => void;
  /** No header came in time, or something else came, or too many wait. */
  readonly refused: () => void;
}

export class AwaitedHeaders {
  readonly #budgets: Pick<Budgets, "headerSockets" | "headerMs">;
  #size = 0;

  constructor(budgets: Pick<Budgets, "headerSockets" | "headerMs">) {
    this.#budgets = budgets;
  }

  get size(): number {
    return this.#size;
  }

  /** Calls back once, unless the socket closes before. */
  read(socket: Socket, { came, refused }: HeaderEvents): void {
    if (this.#size >= this.#budgets.headerSockets) return refused();
    this.#size++;
    let bytes: Uint8Array = new Uint8Array(0);
    const receive = (chunk: Uint8Array): void => {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      const header = parseProxyHeader(bytes);
      if (header.kind === "partial") return;
      stop();
      if (header.kind === "garbage") return refused();
      socket.pause();
      if (bytes.length > header.bytes) socket.unshift(bytes.subarray(header.bytes));
      came(header.client);
    };
    const giveUp = (): void => {
      stop();
      refused();
    };
    const stop = (): void => {
      this.#size--;
      clearTimeout(late);
      socket.off("data", receive).off("end", giveUp).off("close", stop);
    };
    const late = setTimeout(giveUp, this.#budgets.headerMs);
    socket.on("data", receive).on("end", giveUp).on("close", stop);
  }
}
