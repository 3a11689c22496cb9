/**
 * Connects to the nodes with NATS' own client and its transport for Node, changed in one way: it leaves a node without a last
 * flush. The client leaves a node that answers no pings, and when a relay asks for it (`reconnect()`).
 *
 * The transport flushes by a write of no bytes, and waits until that is done. A node that reads nothing never lets it be done, and
 * over TLS no node does: Deno's `TLSSocket` (2.9.5) takes an empty write and does not say what became of it. Its caller then goes
 * by the last write of any socket in the process, and after one over TLS it waits for good. (An array without memory of its own,
 * as `new Uint8Array(0)`, fails with EPERM instead.) So a relay that left its node stood still until it was restarted. Nothing is
 * lost without the flush: a relay writes every entry again that was not answered.
 */
import type { ConnectionOptions, NatsConnection } from "@nats-io/nats-core";
import { NatsConnectionImpl, setTransportFactory } from "@nats-io/nats-core/internal";
import { nodeResolveHost, NodeTransport } from "@nats-io/transport-node/lib/node_transport.js";

class PromptTransport extends NodeTransport {
  override disconnect(): void {
    void this.close();
  }
}

export async function connectToNodes(options: ConnectionOptions): Promise<NatsConnection> {
  // Holds for the process: the client asks for a transport each time that it connects.
  setTransportFactory({ factory: () => new PromptTransport(), dnsResolveFn: nodeResolveHost });
  return await NatsConnectionImpl.connect(options);
}
