/** The gRPC stream `Session` over TLS, in Deno and Node. */
import type { TLSSocket } from "node:tls";
import { SessionStream } from "../transport/session_stream.ts";
import type { Connector } from "../transport/transport.ts";
import { connectTls } from "./node_tls.ts";
import { after } from "./timers.ts";

export const grpc: Connector = {
  transport: "grpc",
  carrier: "tcp",
  unusable: () => undefined,
  connect: async (target, signal) => {
    const socket = await connectTls(target, "h2", signal);
    // A cell does not wait until the one before is acknowledged.
    socket.setNoDelay(true);
    const stream = new SessionStream(socketOf(socket), target, after);
    socket.on("data", (chunk: Uint8Array) => stream.receive(chunk));
    socket.once("error", (error) => stream.lost(error.message));
    socket.once("close", () => stream.lost());
    return stream;
  },
};

function socketOf(socket: TLSSocket): ConstructorParameters<typeof SessionStream>[0] {
  return {
    write: (bytes) =>
      new Promise((resolve, reject) =>
        void socket.write(bytes, (error) => error ? reject(error) : resolve())
      ),
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
  };
}
