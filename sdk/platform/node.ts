/** Node: the gRPC stream `Session`. Node 20 has no QUIC. */
import { readFile } from "node:fs/promises";
import { openDirectoryStore } from "./directory_store.ts";
import { hosts } from "./hosts.ts";
import { createNodeEd25519 } from "./node_ed25519.ts";
import { nodeSha256 } from "./node_sha256.ts";
import { createNodeMlKem, createNodeX25519 } from "./node_key_agreement.ts";
import { withThread } from "../transport/worker_stream.ts";
import { grpc } from "./grpc.ts";
import { openHttp } from "./node_http.ts";
import { startThread } from "./node_thread.ts";
import { show } from "./console.ts";
import { DialPlaces } from "../transport/dial_places.ts";
import type { Platform } from "./platform.ts";
import { onSignal } from "./signals.ts";
import { readSettings } from "./settings.ts";
import { after, nowMs, randomBytes, rest, steadyMs } from "./timers.ts";
import { findTrust, openTrust } from "./trust_file.ts";

export const platform: Platform = {
  runtime: "node",
  openStore: openDirectoryStore,
  connectors: [withThread(grpc, startThread)],
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
  mlKem: createNodeMlKem(),
  readSettings,
  readTextFile: (path) => readFile(path, "utf8"),
  hosts,
  openTrust,
  findTrust,
};
