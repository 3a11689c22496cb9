/** What the terminal says when the stack is up: where everything is, and what to try next. */
import type { Listening } from "./part.ts";

export interface Greeting {
  readonly api: Listening;
  readonly relay: Listening;
  readonly dataDir: string;
  /** How this user calls Deno: `deno`, or `npx -y deno@…` where there is only Node. */
  readonly deno: string;
}

export function greetingOf({ api, relay, dataDir, deno }: Greeting): string {
  const metrics = [api.admin_url, relay.admin_url].filter((url) => url !== undefined).map((url) => `${url}/metrics`);
  return `
API       ${api.url}   (documentation: ${api.url}/docs)
Relay     ${relay.quic_url}   (native agents; browsers: the same port over WebTransport)
          ${relay.url}   (gRPC, gRPC-Web, Connect)
Trust     ${relay.ca_file ?? "the configured certificate's authority"}
Metrics   ${metrics.join("   ") || "off"}
Data      ${dataDir}
Logs      ${dataDir}/logs

Try next, in another terminal:
  ${deno} task static signup
  ${deno} task static demo
  ${deno} task static channel create acme/ops/deploy

Ctrl-C stops it.`;
}
