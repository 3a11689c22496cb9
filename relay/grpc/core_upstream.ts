/** The service inside a relay: its sessions are links of the core in this process. */
import { decodeRelayEnvelope } from "../../proto/mod.ts";
import { CellSession } from "../cells/cell_session.ts";
import type { LinkHost } from "../cells/link_host.ts";
import type { ClientLink, EndReason } from "../core/client_link.ts";
import type { TypedClient, TypedLink, Upstream } from "./upstream.ts";

export function createCoreUpstream(host: LinkHost): Upstream {
  return {
    cellBytes: host.cellBytes,
    openTyped: (client) => openTyped(host, client),
    openCells: (client) => new CellSession(host, client),
  };
}

/**
 * Typed calls have no cells: envelopes go to the core as they are, and its answers come back
 * decoded.
 */
function openTyped(host: LinkHost, client: TypedClient): TypedLink {
  let open = true;
  let aboveLowWater = false;
  const end = (reason: EndReason | undefined): void => {
    if (!open) return;
    open = false;
    // Later, because the core may refuse a link before it has answered its session.
    queueMicrotask(() => {
      session.closed();
      client.ended(reason);
    });
  };
  const link: ClientLink = {
    transport: "typed",
    remoteAddress: client.remoteAddress,
    get pendingBytes() {
      return client.pendingBytes;
    },
    send: (_lane, envelope) => {
      if (open) client.receive(decodeRelayEnvelope(envelope), envelope.length);
      if (client.pendingBytes >= host.lowWaterBytes) aboveLowWater = true;
    },
    challenged: () => {},
    authenticated: () => client.authenticated(),
    // Typed calls are padded, not covered.
    configureCover: () => {},
    end,
  };
  const session = host.open(link);
  return {
    send: (_lane, envelope) => open ? session.receive(envelope) : undefined,
    taken: () => {
      if (!open || !aboveLowWater || client.pendingBytes >= host.lowWaterBytes) return;
      aboveLowWater = false;
      session.writable();
    },
    close: () => {
      if (!open) return;
      open = false;
      session.closed();
    },
  };
}
