import { assertEquals } from "@std/assert";
import { isTrustGiven } from "./open_session.ts";

Deno.test("whom to trust is given by tls, also an empty one, by saved authorities, and by a saved relay that has none", () => {
  assertEquals(isTrustGiven({ endpoint: "quic://a" }, {}), false);
  assertEquals(isTrustGiven({}, { relayUrl: "quic://of-a-variable" }), false);
  assertEquals(isTrustGiven({ tls: {} }, {}), true);
  assertEquals(isTrustGiven({}, { caFile: "ca.pem" }), true);
  assertEquals(isTrustGiven({}, { relayCaFile: "relay.pem" }), true);
  const saved = { relayUrl: "quic://saved", isRelaySaved: true };
  assertEquals(isTrustGiven({}, saved), true);
  assertEquals(isTrustGiven({ endpoint: "quic://another" }, saved), false);
});
