/**
 * Sockets, servers and threads are made in the files below and in no others: each of these files gives what it makes an owner for its
 * errors, from its first moment to its last. A peer can cause such an error at any time, and one that nobody listens for ends the process.
 */
import { importsOf } from "./import_statements.ts";
import { isTest, lineAt, type SourceFile, type Violation } from "./source.ts";

interface Kind {
  /** A module of Node whose values make them. */
  readonly module?: RegExp;
  /** Code that makes them. */
  readonly code?: RegExp;
  readonly makers: readonly string[];
}

const kinds: readonly Kind[] = [
  {
    module: /^node:net$/,
    makers: [
      "server/http2/incoming_sockets.ts",
      "relay/cluster/node_transport.ts",
      "sdk/platform/unix_sockets.ts",
      "sdk/platform/node_tls.ts",
      "cli/platform/http.ts",
    ],
  },
  {
    module: /^node:tls$/,
    makers: [
      "relay/cluster/node_transport.ts",
      "sdk/platform/node_tls.ts",
      "sdk/platform/node_http.ts",
      "cli/platform/http.ts",
    ],
  },
  { module: /^node:http$/, makers: ["server/http2/incoming_sockets.ts", "cli/platform/http.ts"] },
  {
    module: /^node:https$/,
    makers: ["server/http2/incoming_sockets.ts", "sdk/platform/node_http.ts", "cli/platform/http.ts"],
  },
  { module: /^node:dgram$/, makers: [] },
  { module: /^node:worker_threads$/, makers: ["sdk/platform/node_thread.ts", "sdk/platform/node_worker.ts"] },
  { code: /\bDeno\.listen\w*/g, makers: ["api/listeners/plain.ts", "deploy/local/free_ports.ts"] },
  { code: /\bDeno\.serve\b/g, makers: ["server/admin.ts"] },
  { code: /\bDeno\.connect(?:Tls)?\b(?!Quic)/g, makers: ["server/listener_watch.ts"] },
  { code: /\bconnectQuic\b/g, makers: ["relay/proxy/remote_stream.ts", "sdk/platform/deno_quic.ts"] },
  { code: /\bnew (?:Deno\.)?QuicEndpoint\b/g, makers: ["relay/listeners/quic.ts", "sdk/platform/deno_quic.ts"] },
  { code: /\bnew (?:WebTransport|WebSocket)\b/g, makers: ["sdk/platform/browser_webtransport.ts"] },
  {
    code: /\bnew Worker\b/g,
    makers: [
      "api/hashing/pool.ts",
      "api/store/embedded.ts",
      "relay/engine/sync_handle.ts",
      "sdk/platform/node_thread.ts",
      "sdk/platform/web_worker.ts",
    ],
  },
];

/** Callbacks whose promise nobody holds: when one fails, nobody hears of it. */
const unheld =
  /\b(?:setTimeout|setInterval|setImmediate|queueMicrotask)\(\s*async\b|\.(?:on|once|addEventListener)\(\s*"[^"]*",\s*async\b/g;

const product = /^(?:server|api|relay|sdk|cli|proto|wasm|deploy)\/|^start\.ts$/;
/** Runs in browsers, which report to the page. */
const page = /^api\/console\/page\//;

export function checkOwners(file: SourceFile): Violation[] {
  if (!product.test(file.path) || page.test(file.path) || isTest(file.path)) return [];
  const violations: Violation[] = [];
  const add = (index: number, what: string): void =>
    void violations.push({ path: file.path, line: lineAt(file.code, index), rule: "owner", what });
  for (const { module, code, makers } of kinds.filter(({ makers }) => !makers.includes(file.path))) {
    const instead = makers.length === 0
      ? "no file does"
      : `${makers.join(" and ")} give${makers.length === 1 ? "s" : ""} an owner`;
    for (const { index, specifier, isType } of importsOf(file)) {
      if (module?.test(specifier) === true && !isType) add(index, `${specifier} makes sockets or threads; ${instead}`);
    }
    for (const { 0: found, index } of code === undefined ? [] : file.code.matchAll(code)) {
      add(index, `${found}: ${instead}`);
    }
  }
  for (const { index } of file.code.matchAll(unheld)) {
    add(index, "the promise of this callback has no owner; call a function that deals with its failure");
  }
  return violations;
}
