/** TLS through `node:https`, because only that can refuse TLS 1.2. */
import { createTlsServer } from "../../server/http2/mod.ts";
import type { KeyedCertificate } from "../../server/mod.ts";
import type { HttpListener, ListenOptions } from "./listener.ts";
import { listenNode, timeoutsOf } from "./node_server.ts";

export interface TlsListener extends HttpListener {
  /** A renewed certificate for handshakes from now on; open connections stay. */
  setCertificate(certificate: KeyedCertificate): void;
}

/** A year, as browsers' lists ask for. */
const strictTransport = "max-age=31536000";

export async function listenTls(
  { certificate, ...options }: ListenOptions & { readonly certificate: KeyedCertificate },
): Promise<TlsListener> {
  const { limits } = options;
  // `Connections` ends late handshakes.
  const server = createTlsServer({
    ...certificate,
    ALPNProtocols: ["http/1.1"],
    ...timeoutsOf(limits),
  });
  const headers = { "strict-transport-security": strictTransport };
  const listener = await listenNode(server, { ...options, scheme: "https", headers });
  return {
    ...listener,
    setCertificate: (renewed) => server.setSecureContext({ ...renewed, minVersion: "TLSv1.3" }),
  };
}
