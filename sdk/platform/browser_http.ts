/** `fetch` of browsers, and cells over it. */
import { createCellsConnector } from "../transport/cells.ts";
import type { CertificateTrust, Connector, HttpClient } from "../transport/transport.ts";
import { after, randomBytes } from "./timers.ts";

/** A browser manages its connections, and trusts the certificates that its user trusts. */
export function openHttp(): HttpClient {
  return { request: (url, init) => fetch(url, init), close: () => {} };
}

/** Over one connection: browsers speak HTTP/2 to the relay. */
const callsAtOnce = 16;

export const cells: Connector = createCellsConnector({
  openHttp,
  unusable,
  randomBytes,
  callsAtOnce,
  after,
});

function unusable({ caCerts, certificateHashes }: CertificateTrust): string | undefined {
  const given = caCerts.length > 0 || certificateHashes.length > 0;
  return given
    ? "a browser's fetch trusts only what the browser trusts; tls options do not apply"
    : undefined;
}
