/**
 * A relay of a cluster for the benchmark, a process of its own so that its CPU can be told from the
 * others'. Arguments: the nodes with commas, the prefix, the relay's id, the file of its copy.
 * Prints its port, then answers every line with its CPU.
 */
import { createCertificate } from "../../tests/support/mod.ts";
import { openTestCluster } from "../../relay/cluster/testing/open_test_cluster.ts";
import { openTestRelay } from "../../relay/testing/open_relay.ts";
import { linesOf } from "./lines.ts";

const [urls = "", prefix = "", relay = "", path = ""] = Deno.args;
const certificate = await createCertificate();
/** As relays have it. */
const liveBytes = 256 * 1024 * 1024;
const cluster = await openTestCluster({
  urls: urls.split(","),
  prefix,
  relay,
  path,
  replicas: 3,
  liveBytes,
});
const running = await openTestRelay({ cluster, certificate });
console.log(JSON.stringify({ quicPort: running.quicPort, cert: certificate.cert }));
for await (const _ of linesOf(Deno.stdin.readable)) {
  const { user, system } = process.cpuUsage();
  console.log(JSON.stringify({ cpuUs: user + system, position: cluster.stats().position }));
}
await running.close();
Deno.exit(0);
