/** Browsers: WebTransport, and `CellUp`/`CellDown` over `fetch` where it is missing or blocked. */
import { createWebCryptoEd25519 } from "../mls/crypto/web_crypto_ed25519.ts";
import { createCellsConnector } from "../transport/cells.ts";
import type { HttpClient, Trust } from "../transport/transport.ts";
import { openBrowserStore } from "./browser_store.ts";
import { webtransport } from "./browser_webtransport.ts";
import type { Platform } from "./platform.ts";
import { after, nowMs, randomBytes } from "./timers.ts";

export const platform: Platform = {
  runtime: "browser",
  openStore: openBrowserStore,
  connectors: [webtransport, createCellsConnector({ openHttp, unusable, randomBytes })],
  openHttp,
  nowMs,
  after,
  randomBytes,
  ed25519: createWebCryptoEd25519(crypto.subtle),
  readSettings: () => Promise.resolve({}),
  readTextFile: () => Promise.reject(new Error("a browser reads no files; give tls.certificateHashes")),
};

/** A browser keeps its connections by itself, and trusts what it was told to trust by its user. */
function openHttp(): HttpClient {
  return { request: (url, init) => fetch(url, init), close: () => {} };
}

function unusable({ caCerts, certificateHashes }: Trust): string | undefined {
  const given = caCerts.length > 0 || certificateHashes.length > 0;
  return given ? "a browser's fetch trusts only what the browser trusts; tls options do not apply" : undefined;
}
