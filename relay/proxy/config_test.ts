import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ProxyConfigError, proxyConfigFrom, type ProxyEnvironment, readCertificate } from "./config.ts";

const files: Readonly<Record<string, string>> = { "/ca.pem": "CA", "/cert.pem": "CERT", "/key.pem": "KEY" };
const complete = {
  STATIC_RELAY_URL: "quic://relay.example:4433",
  STATIC_TLS_CERT: "/cert.pem",
  STATIC_TLS_KEY: "/key.pem",
};

function environment(values: Readonly<Record<string, string>>): ProxyEnvironment {
  return {
    get: (name) => values[name],
    readTextFile: (path) => {
      const text = files[path];
      if (text === undefined) throw new Deno.errors.NotFound(path);
      return text;
    },
  };
}

Deno.test("the proxy needs a relay and a certificate of its own, and listens on loopback unless told", () => {
  const config = proxyConfigFrom(environment(complete));
  assertEquals(config.relay, { hostname: "relay.example", port: 4433, caCerts: [] });
  assertEquals(config.listen, { hostname: "127.0.0.1", port: 5000 });
  assertEquals(readCertificate(environment(complete), config), { cert: "CERT", key: "KEY" });
  const more = proxyConfigFrom(environment({
    ...complete,
    STATIC_RELAY_URL: "quic://[::1]",
    STATIC_CA_FILE: "/ca.pem",
    STATIC_PROXY_HOST: "::",
    STATIC_PROXY_PORT: "5443",
    STATIC_CORS_ORIGINS: "https://a.example, https://b.example",
  }));
  assertEquals(more.relay, { hostname: "::1", port: 4433, caCerts: ["CA"] });
  assertEquals(more.listen, { hostname: "::", port: 5443 });
  assertEquals(more.origins, ["https://a.example", "https://b.example"]);
});

Deno.test("all faults of the configuration are told together", () => {
  const values = { STATIC_RELAY_URL: "https://relay", STATIC_CA_FILE: "/none", STATIC_PROXY_PORT: "x" };
  const error = assertThrows(() => proxyConfigFrom(environment(values)), ProxyConfigError);
  for (const name of [...Object.keys(values), "STATIC_TLS_CERT", "STATIC_TLS_KEY"]) {
    assertStringIncludes(error.message, name);
  }
  assertThrows(() => proxyConfigFrom(environment({})), ProxyConfigError, "STATIC_RELAY_URL is not set");
});
