/**
 * The relay of the benchmark, a process of its own so that its CPU can be told from the clients':
 * real core, engine and listeners; tokens and quota are granted without an API. Prints its ports,
 * then answers every line with its CPU and memory.
 */
import { createCertificate } from "../../tests/support/mod.ts";
import { openTestRelay } from "../../relay/testing/open_relay.ts";
import { linesOf } from "./lines.ts";

const [path = ":memory:"] = Deno.args;
const certificate = await createCertificate();
const relay = await openTestRelay({ path, certificate });
console.log(
  JSON.stringify({ quicPort: relay.quicPort, grpcPort: relay.grpcPort, cert: certificate.cert }),
);
for await (const _ of linesOf(Deno.stdin.readable)) {
  const { user, system } = process.cpuUsage();
  console.log(
    JSON.stringify({ cpuUs: user + system, rssBytes: Deno.memoryUsage().rss, ...relay.stats() }),
  );
}
await relay.close();
Deno.exit(0);
