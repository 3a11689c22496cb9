/** Deno: QUIC, and the gRPC stream `Session` where QUIC is not to be had. */
import { readFile } from "node:fs/promises";
import { createWebCryptoMlKem } from "../mls/crypto/web_crypto_ml_kem.ts";
import { source } from "../gen/deno_worker.ts";
import { type StreamThread, withThread } from "../transport/worker_stream.ts";
import { openHttp } from "./deno_http.ts";
import { quic } from "./deno_quic.ts";
import { openDirectoryStore } from "./directory_store.ts";
import { grpc } from "./grpc.ts";
import { hosts } from "./hosts.ts";
import { createNodeEd25519 } from "./node_ed25519.ts";
import { nodeSha256 } from "./node_sha256.ts";
import { createNodeX25519 } from "./node_key_agreement.ts";
import { show } from "./console.ts";
import { DialPlaces } from "../transport/dial_places.ts";
import type { Platform } from "./platform.ts";
import { onSignal } from "./signals.ts";
import { readSettings } from "./settings.ts";
import { after, nowMs, randomBytes, rest, steadyMs } from "./timers.ts";
import { findTrust, openTrust } from "./trust_file.ts";
import { startWebWorker } from "./web_worker.ts";

export const platform: Platform = {
  runtime: "deno",
  openStore: openDirectoryStore,
  connectors: [withThread(quic, startThread), withThread(grpc, startThread)],
  dials: new DialPlaces(),
  openHttp,
  nowMs,
  steadyMs,
  after,
  rest,
  randomBytes,
  show,
  onSignal,
  ed25519: createNodeEd25519(),
  x25519: createNodeX25519(),
  sha256: nodeSha256,
  mlKem: createWebCryptoMlKem(crypto.subtle),
  readSettings,
  readTextFile: (path) => readFile(path, "utf8"),
  hosts,
  openTrust,
  findTrust,
};

function startThread(): StreamThread {
  return startWebWorker(`data:text/javascript;base64,${btoa(source)}`);
}
