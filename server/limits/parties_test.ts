import { assertEquals } from "@std/assert";
import { networkOf, prefixOf } from "./parties.ts";

Deno.test("prefixOf() is an IPv4 address, also a mapped one, and the /64 of an IPv6 address however it is written", () => {
  for (
    const [address, prefix] of [
      ["192.0.2.1", "192.0.2.1"],
      ["::ffff:192.0.2.1", "192.0.2.1"],
      ["::FFFF:192.0.2.1", "192.0.2.1"],
      ["::ffff:c000:201", "192.0.2.1"],
      ["0:0:0:0:0:ffff:c000:0201", "192.0.2.1"],
      ["0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"],
      ["::ffff:0:0", "0.0.0.0"],
      ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
      ["2001:0DB8:0001:2::9", "2001:db8:1:2::/64"],
      ["2001:db8::1", "2001:db8:0:0::/64"],
      ["::1", "0:0:0:0::/64"],
      ["::", "0:0:0:0::/64"],
      ["fe80::1%eth0", "fe80:0:0:0::/64"],
      ["2001:db8:1:2::/64", "2001:db8:1:2::/64"],
      ["unknown", "unknown"],
      ["not:an:address", "not:an:address"],
      ["", ""],
    ] as const
  ) {
    assertEquals(prefixOf(address), prefix, address);
    assertEquals(prefixOf(prefix), prefix, `${address} twice`);
  }
});

Deno.test("networkOf() is the /56 around an IPv6 address or its prefix, and an IPv4 address itself", () => {
  for (
    const [address, network] of [
      ["2001:db8:1:1234::1", "2001:db8:1:1200::/56"],
      ["2001:db8:1:12ff::1", "2001:db8:1:1200::/56"],
      ["2001:db8:1:12ff::/64", "2001:db8:1:1200::/56"],
      ["2001:db8:1:1300::1", "2001:db8:1:1300::/56"],
      ["2001:db8::1", "2001:db8:0:0::/56"],
      ["192.0.2.1", "192.0.2.1"],
      ["::ffff:192.0.2.1", "192.0.2.1"],
      ["::ffff:c000:201", "192.0.2.1"],
      ["unknown", "unknown"],
      ["", ""],
    ] as const
  ) {
    assertEquals(networkOf(address), network, address);
    assertEquals(networkOf(prefixOf(address)), network, `the prefix of ${address}`);
    assertEquals(networkOf(network), network, `${address} twice`);
  }
});
