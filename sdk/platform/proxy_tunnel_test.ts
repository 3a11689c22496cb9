import { assertEquals, assertThrows } from "@std/assert";
import { findProxy } from "./proxy_tunnel.ts";

const proxy = "http://proxy.example:3128";

Deno.test("findProxy() takes the first variable that is set, upper case before lower", () => {
  const [one, other] = [proxy, "http://other.example:1"];
  for (
    const variables of [
      { HTTPS_PROXY: one },
      { https_proxy: one },
      { HTTPS_PROXY: one, https_proxy: other },
      { HTTPS_PROXY: "", https_proxy: one },
      { ALL_PROXY: one, HTTPS_PROXY: other },
      { HTTPS_PROXY: "proxy.example:3128" },
    ]
  ) {
    assertEquals(findProxy("relay.example", variables)?.host, "proxy.example:3128", JSON.stringify(variables));
  }
  for (const variables of [{}, { HTTP_PROXY: one }, { HTTPS_PROXY: "" }]) {
    assertEquals(findProxy("relay.example", variables), undefined);
  }
  assertThrows(() => findProxy("relay.example", { HTTPS_PROXY: "socks5://proxy.example" }), Error, "http://host:port");
});

Deno.test("findProxy() exempts the names, addresses and ranges of NO_PROXY", () => {
  const exempt: readonly [string, string][] = [
    ["relay.example", "relay.example"],
    ["a.relay.example", "relay.example"],
    ["a.relay.example", ".relay.example"],
    ["relay.example", "x, Relay.Example"],
    ["10.1.2.3", "10.0.0.0/8"],
    ["10.1.2.3", "10.1.2.3"],
    ["::1", "::1"],
    ["::1", "[::1]"],
    ["fd00::5", "fd00::/8"],
    ["anything", "*"],
  ];
  for (const [host, list] of exempt) {
    for (const name of ["NO_PROXY", "no_proxy"]) {
      assertEquals(findProxy(host, { HTTPS_PROXY: proxy, [name]: list }), undefined, `${host} by ${list}`);
    }
  }
  const others: readonly [string, string][] = [
    ["relay.example", ""],
    ["notrelay.example", "relay.example"],
    ["11.1.2.3", "10.0.0.0/8"],
    ["10.1.2.3", "10.0.0.0/99"],
    ["::2", "::1"],
    ["10.1.2.3", "::/0"],
  ];
  for (const [host, NO_PROXY] of others) {
    assertEquals(findProxy(host, { HTTPS_PROXY: proxy, NO_PROXY })?.href, `${proxy}/`, `${host} by ${NO_PROXY}`);
  }
});
