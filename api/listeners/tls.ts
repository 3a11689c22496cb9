/** TLS through `node:https`, because only that can refuse TLS 1.2. */
import { createServer } from "node:https";
import type { KeyedCertificate } from "../../server/mod.ts";
import type { Listener, ListenOptions } from "./listener.ts";
import { listenNode, timeoutsOf } from "./node_server.ts";

export interface TlsListener extends Listener {
  /** A renewed certificate for handshakes from now on; open connections stay. */
  setCertificate(certificate: KeyedCertificate): void;
}

/** A year, as browsers' lists ask for. */
const strictTransport = "max-age=31536000";

export async function listenTls(
  { certificate, ...options }: ListenOptions & { readonly certificate: KeyedCertificate },
): Promise<TlsListener> {
  const { limits } = options;
  const server = createServer({
    ...certificate,
    minVersion: "TLSv1.3",
    ALPNProtocols: ["http/1.1"],
    // No timer for the handshake: Deno keeps it, and with it the socket, when the socket closes. `Connections` ends late ones.
    handshakeTimeout: -1,
    ...timeoutsOf(limits),
  });
  // A client that fails the handshake is its own problem; without a listener it would be an uncaught error.
  server.on("tlsClientError", (_, socket) => socket.destroy());
  const headers = { "strict-transport-security": strictTransport };
  const listener = await listenNode(server, { ...options, scheme: "https", headers });
  return {
    ...listener,
    setCertificate: (renewed) => server.setSecureContext({ ...renewed, minVersion: "TLSv1.3" }),
  };
}
