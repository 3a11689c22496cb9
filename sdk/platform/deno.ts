/** Deno: QUIC, and `CellUp`/`CellDown` over its `fetch` where QUIC is not to be had. */
import { readFile } from "node:fs/promises";
import { createCellsConnector } from "../transport/cells.ts";
import type { HttpClient, Trust } from "../transport/transport.ts";
import { quic } from "./deno_quic.ts";
import { openDirectoryStore } from "./directory_store.ts";
import { createNodeEd25519 } from "./node_ed25519.ts";
import type { Platform } from "./platform.ts";
import { readSettings } from "./settings.ts";
import { after, nowMs, randomBytes } from "./timers.ts";

export const platform: Platform = {
  runtime: "deno",
  openStore: openDirectoryStore,
  connectors: [quic, createCellsConnector({ openHttp, unusable, randomBytes })],
  openHttp,
  nowMs,
  after,
  randomBytes,
  ed25519: createNodeEd25519(),
  readSettings,
  readTextFile: (path) => readFile(path, "utf8"),
};

/** Deno's own additions to the standard `fetch`. */
interface DenoHttp {
  createHttpClient(options: { readonly caCerts: readonly string[]; readonly http2: boolean }): DenoHttpClient;
}

interface DenoHttpClient {
  close(): void;
}

function openHttp({ caCerts }: Trust): HttpClient {
  const { Deno } = globalThis as unknown as { readonly Deno: DenoHttp }; // cast: only what is described above is used
  const client = Deno.createHttpClient({ caCerts, http2: true });
  let open = true;
  return {
    request: (url, init) => {
      const withClient: RequestInit & { readonly client: DenoHttpClient } = { ...init, client };
      return fetch(url, withClient);
    },
    close: () => {
      if (open) client.close();
      open = false;
    },
  };
}

function unusable({ certificateHashes }: Trust): string | undefined {
  return certificateHashes.length > 0 ? "Deno can check tls.certificateHashes only over QUIC" : undefined;
}
