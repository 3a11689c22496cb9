/**
 * Moves a relay's file into an empty cluster: `deno task relay:import`, with the variables of the
 * relays of that cluster and the data directory of the relay that was alone. It must be stopped.
 */
import { importFile } from "../cluster/import_file.ts";
import { configFromEnvironment } from "../config.ts";

const { cluster, dataDir } = configFromEnvironment();
try {
  if (cluster === undefined) {
    throw new Error("Set STATIC_RELAY_ENGINE to jetstream and STATIC_NATS_URLS to the nodes");
  }
  const { credentials, ...nodes } = cluster;
  const path = `${dataDir}/relay.sqlite`;
  const { bytes } = await importFile({ ...nodes, credentials: credentials?.reveal(), path });
  console.log(
    `${path} is the beginning of the cluster "${cluster.prefix}" (${bytes} bytes, read back and equal).`,
  );
  console.log("Start its relays now. The file stays as it is; do not start its relay again.");
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  Deno.exit(1);
}
