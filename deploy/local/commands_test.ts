import { assert, assertEquals } from "@std/assert";
import { tracesVariable as readTracesVariable } from "../../server/mod.ts";
import { apiPermissions, tracesVariable } from "./commands.ts";

Deno.test("apiPermissions() names every file, folder and variable, and a comma in a path divides nothing", () => {
  const keys = import.meta.filename ?? "";
  const named = new Map(Object.entries({
    STATIC_DATA_DIR: "/var/lib/api",
    STATIC_TLS_CERT: "/etc/a,b.pem",
    STATIC_CA_FILE: "",
    STATIC_JWT_KEYS: keys,
  }));
  const flags = apiPermissions((name) => named.get(name));
  assertEquals(flags.map((flag) => flag.replace(/=.*/, "")), [
    "--allow-net",
    "--allow-env",
    "--allow-read",
    "--allow-write",
    "--deny-read",
    "--deny-write",
  ]);
  const [, environment = "", read = "", write = "", ...denied] = flags.map((flag) =>
    flag.replace(/^[^=]*=?/, "")
  );
  assert(environment.split(",").every((name) => name !== "" && name !== "*"), environment);
  assertEquals(read.replaceAll(",,", "\0").split(",").slice(0, 3), [
    "/var/lib/api",
    "/etc/a\0b.pem",
    keys,
  ]);
  assert(!read.split(",").some((path) => ["/", "."].includes(path)), read);
  assertEquals(write, "/var/lib/api");
  // Keys of the cluster's log.
  assertEquals(denied, [
    "/var/lib/api/nats,/var/lib/api/relays",
    "/var/lib/api/nats,/var/lib/api/relays",
  ]);
});

Deno.test("parts may read the variable of traces that they look for", () => {
  assertEquals(tracesVariable, readTracesVariable);
});
