/**
 * Sockets, servers, threads and processes are made in the files below and in no others: each of
 * these files gives what it makes an owner for its errors, from its first moment to its last. A
 * peer can cause such an error at any time, and one that nobody listens for ends the process. The
 * rule reads text: it keeps from slips, not from somebody who wants to get around it.
 */
import { importsOf } from "./import_statements.ts";
import { isTest, lineAt, type SourceFile, type Violation } from "./source.ts";

/** Modules of Node whose values make them, and the files that may import those. */
const modules: Readonly<Record<string, readonly string[]>> = {
  net: [
    "server/http2/incoming_sockets.ts",
    "relay/cluster/nodes/node_transport.ts",
    "sdk/platform/unix_sockets.ts",
    "sdk/platform/node_tls.ts",
    "sdk/platform/proxy_tunnel.ts",
    "cli/platform/http.ts",
  ],
  tls: [
    "relay/cluster/nodes/node_transport.ts",
    "sdk/platform/node_tls.ts",
    "sdk/platform/node_http.ts",
    "sdk/platform/proxy_tunnel.ts",
    "cli/platform/http.ts",
  ],
  http: [
    "server/http2/incoming_sockets.ts",
    "sdk/platform/node_http.ts",
    "sdk/platform/proxy_tunnel.ts",
    "cli/platform/http.ts",
  ],
  https: [
    "server/http2/incoming_sockets.ts",
    "sdk/platform/node_http.ts",
    "sdk/platform/proxy_tunnel.ts",
    "cli/platform/http.ts",
  ],
  http2: [],
  dgram: [],
  worker_threads: ["sdk/platform/node_thread.ts", "sdk/platform/node_worker.ts"],
  child_process: [
    "sdk/platform/hosts.ts",
    "cli/platform/child_program.ts",
    "cli/platform/run_command.ts",
  ],
};

/** Code that makes them, and the files that may have it. */
const makings: readonly (readonly [code: RegExp, makers: readonly string[]])[] = [
  [/\bDeno\.listen\w*/g, ["api/listeners/plain.ts", "deploy/local/free_ports.ts"]],
  [/\bDeno\.serve\b/g, ["server/admin.ts"]],
  [/\bDeno\.(?:connect(?:Tls)?|startTls)\b/g, ["server/listener_watch.ts"]],
  [/\bconnectQuic\b/g, ["relay/proxy/remote_stream.ts", "sdk/platform/deno_quic.ts"]],
  [/\bnew (?:\w+\.)?QuicEndpoint\b/g, ["relay/listeners/quic.ts", "sdk/platform/deno_quic.ts"]],
  [/\bnew (?:\w+\.)?(?:WebTransport|WebSocket|WebSocketStream)\b/g, [
    "sdk/platform/browser_webtransport.ts",
  ]],
  [/\bnew (?:\w+\.)?Worker\b/g, [
    "api/hashing/pool.ts",
    "api/store/embedded.ts",
    "relay/engine/sync_handle.ts",
    "sdk/platform/node_thread.ts",
    "sdk/platform/web_worker.ts",
  ]],
  [/\bnew (?:\w+\.)?Command\b/g, [
    "deploy/local/nats_process.ts",
    "deploy/local/nats_server.ts",
    "deploy/local/part_process.ts",
  ]],
  // By another name, or by a name in a string, this rule would not see them.
  [/= *Deno\b(?!\s*\??\.)|\bDeno\s*(?:\?\.)?\[/g, []],
];

/**
 * Where a function is given away to be called later, by a timer or for an event, and nobody looks
 * at what it returns.
 */
const givenAway = String.raw`\b(?:setTimeout|setInterval|setImmediate|queueMicrotask)\(\s*|` +
  String
    .raw`\.(?:on|once|addListener|prependListener|addEventListener)\(\s*[^,()]+,\s*|\.on[a-z]+ = `;
const asyncFunction = /\bconst (\w+)\b[^;\n]*? = async\b|\basync function (\w+)/g;

/** Places where a promise is left to nobody: when it rejects, nobody hears of it. */
function unheldPromises({ code }: SourceFile): number[] {
  const names = Array.from(
    code.matchAll(asyncFunction),
    ([, variable, declared]) => variable ?? declared,
  );
  const unheld = new RegExp(`(?:${givenAway})(?:${["async", ...names].join("|")})\\b(?![.(])`, "g");
  return Array.from(code.matchAll(unheld), ({ index }) => index);
}

const product = /^(?:server|api|relay|sdk|cli|proto|wasm|deploy)\/|^start\.ts$/;
/** Runs in browsers, which report to the page. */
const page = /^api\/console\/page\//;

export function checkOwners(file: SourceFile): Violation[] {
  if (!product.test(file.path) || page.test(file.path) || isTest(file.path)) return [];
  const violations: Violation[] = [];
  const add = (index: number, what: string): void =>
    void violations.push({ path: file.path, line: lineAt(file.code, index), rule: "owner", what });
  const instead = (makers: readonly string[]): string =>
    makers.length === 0
      ? "no file does"
      : `${makers.join(" and ")} give${makers.length === 1 ? "s" : ""} an owner`;
  for (const { index, specifier, isType } of importsOf(file)) {
    const makers = isType ? undefined : modules[specifier.replace(/^node:/, "")];
    if (makers === undefined || makers.includes(file.path)) continue;
    add(index, `${specifier} makes sockets, threads or processes; ${instead(makers)}`);
  }
  for (const [code, makers] of makings.filter(([, makers]) => !makers.includes(file.path))) {
    for (const { 0: found, index } of file.code.matchAll(code)) {
      add(index, `${found}: ${instead(makers)}`);
    }
  }
  for (const index of unheldPromises(file)) {
    add(
      index,
      "the promise of this callback has no owner; call a function that deals with its failure",
    );
  }
  return violations;
}
