/** The greeting in the terminal when the stack is up: addresses, and what to try next. */
import type { ListeningReport } from "./supervised_process.ts";

export interface Greeting {
  readonly api: ListeningReport;
  /** At least one. */
  readonly relays: readonly ListeningReport[];
  /** Whether the API serves the console. */
  readonly hasConsole: boolean;
  readonly dataDir: string;
  /** How this user calls Deno: `deno`, or `npx -y deno@…` where there is only Node. */
  readonly deno: string;
}

export function greetingOf({ api, relays, hasConsole, dataDir, deno }: Greeting): string {
  const metrics = [api, ...relays].flatMap(({ admin_url: url }) =>
    url === undefined ? [] : [`${url}/metrics`]
  );
  const places = relays.map((relay) =>
    `Relay     ${relay.quic_url}   (native agents; browsers: the same port over WebTransport)
          ${relay.url}   (gRPC, gRPC-Web, Connect)`
  );
  const caFile = relays[0]?.ca_file;
  const console = hasConsole
    ? `\nConsole   ${api.url}/console   (accounts, keys, usage: open it in a browser)`
    : "";
  return `${console}
API       ${api.url}   (documentation: ${api.url}/docs)
${places.join("\n")}
Trust     ${caFile ?? "the configured certificate's authority"}
Metrics   ${metrics.join("   ") || "off"}
Data      ${dataDir}
Logs      ${dataDir}/logs

Next, in another terminal:${whereabouts(api, relays)}
  ${deno} task static demo       # two agents talk; see what the relay sees of it
  ${deno} task static signup     # an account for you
  ${deno} task static channel create acme/ops/deploy

Ctrl-C stops it.`;
}

/**
 * Variables for a CLI that would not find this stack by itself: it knows the default ports and
 * directory.
 */
function whereabouts(api: ListeningReport, relays: readonly ListeningReport[]): string {
  const [apiUrl, relayUrl] = [
    "http://127.0.0.1:8080",
    "quic://localhost:4433,https://localhost:5000",
  ];
  const relay = relays.map(({ quic_url, url }) => `${quic_url},${url}`).join(",");
  const actual = { api: api.url, relay, ca: relays[0]?.ca_file };
  if (actual.api === apiUrl && actual.relay === relayUrl && actual.ca === ".static/ca.pem") {
    return "";
  }
  const trust = actual.ca === undefined ? "" : ` STATIC_CA_FILE=${quoted(actual.ca)}`;
  return `\n  export STATIC_API_URL=${actual.api} STATIC_RELAY_URL=${actual.relay}${trust}`;
}

/** So that it can be copied, whatever the directory is called. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
