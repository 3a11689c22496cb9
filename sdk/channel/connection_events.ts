/**
 * Translates changes of the session's state to events: connected, disconnected and why, next
 * attempt when.
 */
import type { SessionState } from "../session/relay_session.ts";
import type { ConnectionEvent } from "./events.ts";

export class ConnectionWatch {
  readonly #tell: (event: ConnectionEvent) => void;
  #online = false;

  constructor(tell: (event: ConnectionEvent) => void) {
    this.#tell = tell;
  }

  readonly state = (state: SessionState): void => {
    if (state.kind === "connecting") return;
    const wasOnline = this.#online;
    this.#online = state.kind === "online";
    if (state.kind === "online") {
      return this.#tell({ type: "connected", transport: state.connection.transport });
    }
    if (wasOnline) this.#tell({ type: "disconnected", error: state.error });
    if (state.kind === "offline") {
      this.#tell({ type: "reconnecting", error: state.error, retryAtMs: state.retryAtMs });
    }
  };
}
