/**
 * A process that opens files with the formats of the next version, says so at one moment and then
 * waits to be killed. Arguments: `relay` or `store`, the relay's folder or the agent's directory,
 * `during` or `after` the change.
 */
import { migrations, openSqliteEngine } from "../../relay/engine/mod.ts";
import { openDirectoryStore } from "../../sdk/platform/directory_store.ts";
import { storeMigrations } from "../../sdk/testing/agents.ts";
import { nextFormats } from "./next_formats.ts";

const [what, place = "", moment] = Deno.args;
const more = nextFormats(() => moment === "during" ? die() : undefined);

/** Nothing else of this process happens any more. */
function die(): void {
  Deno.stdout.writeSync(new TextEncoder().encode("now\n"));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

if (what === "relay") {
  await openSqliteEngine({
    path: `${place}/relay.sqlite`,
    migrations: [...migrations, ...more.relay],
  });
} else {
  await openDirectoryStore(place, { migrations: [...storeMigrations, ...more.store] });
}
die();
