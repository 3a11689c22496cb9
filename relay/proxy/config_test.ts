import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ConfigError } from "../../server/mod.ts";
import { type ProxyConfig, readProxyConfig } from "./config.ts";

const complete = {
  STATIC_RELAY_URL: "quic://relay.example:4433",
  STATIC_TLS_CERT: "/cert.pem",
  STATIC_TLS_KEY: "/key.pem",
};

function configOf(variables: Readonly<Record<string, string>>): ProxyConfig {
  return readProxyConfig((name) => variables[name]);
}

function faultsOf(variables: Readonly<Record<string, string>>): readonly string[] {
  return assertThrows(() => configOf(variables), ConfigError, "Cannot start the proxy").faults;
}

Deno.test("the proxy needs a relay and a certificate of its own, and listens on loopback unless told", async () => {
  const config = configOf(complete);
  assertEquals(config.relay, { hostname: "relay.example", port: 4433, caCerts: [] });
  assertEquals(config.listen, { hostname: "127.0.0.1", port: 5000 });
  assertEquals(config.certificateFiles, { certFile: "/cert.pem", keyFile: "/key.pem" });
  const caFile = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(caFile, "CA");
    const more = configOf({
      ...complete,
      STATIC_RELAY_URL: "quic://[::1]",
      STATIC_CA_FILE: caFile,
      STATIC_RELAY_HOST: "::",
      STATIC_RELAY_GRPC_PORT: "5443",
      STATIC_CORS_ORIGINS: "https://a.example, https://b.example",
    });
    assertEquals(more.relay, { hostname: "::1", port: 4433, caCerts: ["CA"] });
    assertEquals(more.listen, { hostname: "::", port: 5443 });
    assertEquals(more.origins, ["https://a.example", "https://b.example"]);
  } finally {
    await Deno.remove(caFile);
  }
});

Deno.test("all faults of the configuration are told together, without the values", () => {
  const values = {
    STATIC_RELAY_URL: "https://canary",
    STATIC_CA_FILE: "/canary",
    STATIC_RELAY_GRPC_PORT: "canary",
    STATIC_CORS_ORIGINS: "canary.example",
    STATIC_TLS_CERT: "/canary.pem",
  };
  const faults = faultsOf(values);
  assertEquals(faults.length, 5, faults.join("\n"));
  for (const name of Object.keys(values)) assertStringIncludes(faults.join("\n"), name);
  assert(!faults.join("\n").includes("canary"));
  assertEquals(faultsOf({}).map((fault) => fault.slice(0, fault.indexOf(" must be set to"))), [
    "STATIC_RELAY_URL",
    "STATIC_TLS_CERT and STATIC_TLS_KEY",
  ]);
  assertEquals(faultsOf({ ...complete, STATIC_RELAY_URL: "quic://relay.example:70000" }).length, 1);
});
