/** Browsers: WebTransport, and `CellUp`/`CellDown` over `fetch` where it is missing or blocked. */
import { nobodyKnown } from "../../proto/mod.ts";
import { createWebCryptoEd25519 } from "../mls/crypto/web_crypto_ed25519.ts";
import { createWebCryptoMlKem } from "../mls/crypto/web_crypto_ml_kem.ts";
import { type StreamThread, withThread } from "../transport/worker_stream.ts";
import { cells, openHttp } from "./browser_http.ts";
import { openBrowserStore } from "./browser_store.ts";
import { webtransport } from "./browser_webtransport.ts";
import { show } from "./console.ts";
import { DialPlaces } from "../transport/dial_places.ts";
import type { Platform } from "./platform.ts";
import { after, nowMs, randomBytes, rest, steadyMs } from "./timers.ts";
import { startWebWorker } from "./web_worker.ts";

export const platform: Platform = {
  runtime: "browser",
  openStore: openBrowserStore,
  connectors: [withThread(webtransport, startThread), withThread(cells, startThread)],
  dials: new DialPlaces(),
  openHttp,
  nowMs,
  steadyMs,
  after,
  rest,
  randomBytes,
  show,
  onSignal: () => () => {},
  ed25519: createWebCryptoEd25519(crypto.subtle),
  x25519: undefined,
  sha256: undefined,
  mlKem: createWebCryptoMlKem(crypto.subtle),
  readSettings: () => Promise.resolve({}),
  readTextFile: () =>
    Promise.reject(new Error("a browser reads no files; give tls.certificateHashes")),
  hosts: undefined,
  openTrust: () => nobodyKnown,
  findTrust: () => undefined,
};

/**
 * Without an address of the user's from a `blob:` one, not `data:`: that would have no origin, and
 * the relay asks for it. Pages load its text when they want constant cover, and not before.
 */
async function startThread(workerUrl: string | undefined): Promise<StreamThread> {
  if (workerUrl !== undefined) return startWebWorker(workerUrl);
  const { source } = await import("../gen/browser_worker.ts");
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  return startWebWorker(url, () => URL.revokeObjectURL(url));
}
