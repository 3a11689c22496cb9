/** Standard input and output of a session; tells what the client says, and when either side has closed them. */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

export class SessionTransport implements Transport {
  readonly #inner = new StdioServerTransport();
  readonly #onMessage: (message: JSONRPCMessage) => void;
  #onEnded: () => void = () => {};
  /** Resolves when it is closed. */
  readonly ended: Promise<void> = new Promise((resolve) => this.#onEnded = resolve);
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(onMessage: (message: JSONRPCMessage) => void) {
    this.#onMessage = onMessage;
    this.#inner.onclose = () => {
      this.#onEnded();
      this.onclose?.();
    };
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onmessage = (message) => {
      this.onmessage?.(message);
      this.#onMessage(message);
    };
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.#inner.send(message);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
