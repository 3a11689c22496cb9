/** Connects NATS' client to the nodes, by the transport of `node_transport.ts`. */
import type { ConnectionOptions, NatsConnection } from "@nats-io/nats-core";
import { NatsConnectionImpl, setTransportFactory } from "@nats-io/nats-core/internal";
import { NodeTransport } from "./node_transport.ts";

/** Tries each server once, each for `timeout`. Rejects when none takes the client. */
export async function connectToNodes(options: ConnectionOptions): Promise<NatsConnection> {
  // Holds for the process: the client asks for a transport each time that it connects.
  setTransportFactory({ factory: () => new NodeTransport() });
  return await NatsConnectionImpl.connect(options);
}
