import { assert, assertEquals } from "@std/assert";
import { keepLocalKeys } from "./nats_keys.ts";
import {
  placeNodes,
  placeRelays,
  prepareFolder,
  relayUrlsOf,
  wantedPorts,
} from "./cluster_layout.ts";

const nodes = placeNodes(4222, ".static");

Deno.test("relays are ten ports apart, have an id each, and are told of every node", () => {
  const places = placeRelays(3, {
    dataDir: ".static",
    grpcPort: 5000,
    quicPort: 4433,
    admin: { host: "127.0.0.1", port: 9465, names: [] },
  }, nodes);
  assertEquals(places.map(({ grpcPort, quicPort, adminPort }) => [grpcPort, quicPort, adminPort]), [
    [5000, 4433, 9465],
    [5010, 4443, 9475],
    [5020, 4453, 9485],
  ]);
  const ids = places.map(({ environment }) => environment["STATIC_RELAY_ID"]);
  assertEquals(ids, ["relay-1", "relay-2", "relay-3"]);
  for (const { environment } of places) {
    assertEquals(environment["STATIC_RELAY_ENGINE"], "jetstream");
    assertEquals(
      environment["STATIC_NATS_URLS"],
      "tls://127.0.0.1:4222,tls://127.0.0.1:4232,tls://127.0.0.1:4242",
    );
  }
  assertEquals(relayUrlsOf(places).slice(0, 3), [
    "quic://localhost:4433",
    "https://localhost:5000",
    "quic://localhost:4443",
  ]);
  const wanted = wantedPorts(places, nodes, { host: "::", adminHost: "127.0.0.1" });
  assertEquals(
    new Set(wanted.map(({ port, transport }) => `${transport} ${port}`)).size,
    3 * 3 + 3 * 3,
  );
});

Deno.test("ports that the system chooses stay its choice, and clients are told of none that is not known", () => {
  const places = placeRelays(
    2,
    { dataDir: ".static", grpcPort: 0, quicPort: 0, admin: undefined },
    nodes,
  );
  assert(places.every(({ environment }) => environment["STATIC_RELAY_GRPC_PORT"] === "0"));
  assert(places.every(({ environment }) => environment["STATIC_ADMIN_PORT"] === "off"));
  assertEquals(relayUrlsOf(places), []);
});

Deno.test("a relay's folder has the stack's authority, certificate and secret and the key for the nodes, readable for nobody else, and not its log", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "static-places-" });
  const [place] = placeRelays(1, { dataDir, grpcPort: 0, quicPort: 0, admin: undefined }, nodes);
  assert(place !== undefined);
  for (const name of ["ca_key.pem", "relay_secret", "relay.sqlite"]) {
    await Deno.writeTextFile(`${dataDir}/${name}`, name, { mode: 0o600 });
  }
  await keepLocalKeys(`${dataDir}/nats`);
  prepareFolder(place, dataDir);
  prepareFolder(place, dataDir);
  const names = (await Array.fromAsync(Deno.readDir(place.folder))).map(({ name }) => name).sort();
  assertEquals(names, ["ca_key.pem", "nats_ca.pem", "relay.creds", "relay_secret"]);
  for (const variable of ["STATIC_NATS_CA", "STATIC_NATS_CREDENTIALS"]) {
    assert(
      names.some((name) => place.environment[variable] === `${place.folder}/${name}`),
      variable,
    );
  }
  const modes = names.map((name) => (Deno.statSync(`${place.folder}/${name}`).mode ?? 0) & 0o777);
  assertEquals([...modes, (Deno.statSync(place.folder).mode ?? 0) & 0o777], [
    0o600,
    0o600,
    0o600,
    0o600,
    0o700,
  ]);
  await Deno.remove(dataDir, { recursive: true });
});
