import { assertEquals, assertThrows } from "@std/assert";
import { StaticError } from "../base/errors.ts";
import { parseEndpoints, type TransportChoice, waysTo } from "./endpoint.ts";
import type { Connector, TransportName } from "./transport.ts";

const trust = { caCerts: [], certificateHashes: [] };

function connector(transport: TransportName, unusable?: string): Connector {
  return {
    transport,
    carrier: transport === "quic" || transport === "webtransport" ? "udp" : "tcp",
    unusable: () => unusable,
    connect: () => Promise.reject(new Error("not here")),
  };
}

const runtimes = {
  deno: [connector("quic"), connector("cells")],
  node: [connector("grpc")],
  browser: [connector("webtransport"), connector("cells")],
};

function ways(
  endpoint: string,
  connectors: readonly Connector[],
  choice: TransportChoice = "auto",
): string[] {
  return waysTo(parseEndpoints(endpoint, trust), connectors, choice)
    .map(({ connector, target }) => `${connector.transport} ${target.host} ${target.port}`);
}

Deno.test("an endpoint is a scheme, a lowercase host and a port, which together are the signed origin", () => {
  const origins = (text: string): string[] =>
    parseEndpoints(text, trust).map(({ origin }) => origin);
  assertEquals(origins("quic://Relay.Example"), ["quic://relay.example:4433"]);
  assertEquals(origins("grpc://relay.example/"), ["grpc://relay.example:5000"]);
  assertEquals(origins("https://relay.example"), ["https://relay.example:443"]);
  assertEquals(origins("https://relay.example:443"), ["https://relay.example:443"]);
  assertEquals(origins("quic://[::1]:9000"), ["quic://[::1]:9000"]);
  assertEquals(origins("quic://a:1, grpc://b:2"), ["quic://a:1", "grpc://b:2"]);
  assertEquals(parseEndpoints("quic://[::1]:9000", trust)[0]?.host, "::1");
});

for (
  const text of [
    "",
    "relay.example",
    "http://relay.example",
    "quic://",
    "quic://relay.example/path",
    "quic://user:secret@relay.example",
    "quic://relay.example?x=1",
    "quic://relay.example:0",
    "quic://relay.example:70000",
    "quic://relay example",
    "quic://a,",
    Array(33).fill("quic://a").join(","),
  ]
) {
  Deno.test(`parseEndpoints() refuses ${JSON.stringify(text.slice(0, 40))}`, () => {
    const error = assertThrows(() => parseEndpoints(text, trust), StaticError);
    assertEquals(error.code, "invalid_request");
    assertEquals(error.message.includes("secret"), false);
  });
}

Deno.test("quic:// means the UDP port first and TCP when that fails; grpc:// and https:// mean TCP", () => {
  assertEquals(ways("quic://a", runtimes.deno), ["quic a 4433", "cells a 5000"]);
  assertEquals(ways("grpc://a", runtimes.deno), ["cells a 5000"]);
  assertEquals(ways("quic://a", runtimes.node), ["grpc a 5000"]);
  assertEquals(ways("https://a", runtimes.node), ["grpc a 443"]);
  assertEquals(ways("quic://a:443", runtimes.browser), ["webtransport a 443", "cells a 443"]);
  assertEquals(ways("https://a:5000", runtimes.browser), ["cells a 5000"]);
  assertEquals(ways("quic://a:1,grpc://b:2", runtimes.deno), [
    "quic a 1",
    "cells a 1",
    "cells b 2",
  ]);
});

Deno.test("a chosen transport is the only one", () => {
  assertEquals(ways("grpc://a", runtimes.deno, "quic"), ["quic a 4433"]);
  assertEquals(ways("quic://a", runtimes.deno, "grpc"), ["cells a 5000"]);
  assertEquals(ways("quic://a", runtimes.browser, "webtransport"), ["webtransport a 4433"]);
});

Deno.test("when no way is left, the error says why of each", () => {
  const error = assertThrows(
    () => ways("quic://a", runtimes.node, "quic"),
    StaticError,
    "no such transport",
  );
  assertEquals(error.code, "connection_error");
  const blocked = [connector("webtransport", "too old a browser"), connector("cells", "no trust")];
  assertThrows(
    () => ways("quic://a", blocked),
    StaticError,
    "webtransport: too old a browser; cells: no trust",
  );
  assertEquals(ways("quic://a", [connector("quic", "no flag"), connector("cells")]), [
    "cells a 5000",
  ]);
});
