/**
 * Refuses variables that no part knows, for tasks whose part may read its own alone and can
 * therefore not list them. Ends with 1 if there is one.
 */
import { ConfigError, ownNames } from "../../../server/mod.ts";
import { faultsOfNames } from "../../../proto/base/variables.ts";

const faults = faultsOfNames(ownNames());
if (faults.length > 0) {
  console.error(new ConfigError("Static", faults).message);
  Deno.exit(1);
}
