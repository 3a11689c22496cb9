/**
 * Standard input and output of a session; tells what either side says, and when one of them has
 * closed them.
 */
import type { JSONRPCMessage, RequestId, Transport } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

export interface TransportListeners {
  readonly onReceived: (message: JSONRPCMessage) => void;
  readonly onSent: (message: JSONRPCMessage) => void;
}

export class SessionTransport implements Transport {
  readonly #inner = new StdioServerTransport();
  readonly #heard: TransportListeners;
  #onEnded: () => void = () => {};
  /** Resolves when it is closed. */
  readonly ended: Promise<void> = new Promise((resolve) => this.#onEnded = resolve);
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(heard: TransportListeners) {
    this.#heard = heard;
    this.#inner.onclose = () => {
      this.#onEnded();
      this.onclose?.();
    };
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onmessage = (message) => {
      // First: what the client gave up must be known before its next question is.
      this.#heard.onReceived(message);
      this.onmessage?.(message);
    };
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.#heard.onSent(message);
    return this.#inner.send(message);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

/** The call that a client gives up with this message. */
export function givenUpBy(message: JSONRPCMessage): RequestId | undefined {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
  const call: unknown = message.params?.["requestId"];
  return typeof call === "string" || typeof call === "number" ? call : undefined;
}

/** The call that this message answers, and whether it failed. */
export function answerOf(
  message: JSONRPCMessage,
): { readonly call: RequestId; readonly isFailure: boolean } | undefined {
  if ("method" in message || message.id === undefined) return undefined;
  return { call: message.id, isFailure: "error" in message || message.result["isError"] === true };
}
