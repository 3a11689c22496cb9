import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { findProxy, tunnelTo } from "./proxy_tunnel.ts";

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
    assertEquals(
      findProxy("relay.example", variables)?.host,
      "proxy.example:3128",
      JSON.stringify(variables),
    );
  }
  for (const variables of [{}, { HTTP_PROXY: one }, { HTTPS_PROXY: "" }]) {
    assertEquals(findProxy("relay.example", variables), undefined);
  }
});

Deno.test("findProxy() says which variable is wrong, and never its value", () => {
  for (const name of ["ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy"]) {
    for (
      const value of [
        "socks5://ann:secret@proxy",
        "http://ann:secret@",
        "http://ann:secret%@proxy",
        "http://ann%zz:secret@proxy",
      ]
    ) {
      const { message } = assertThrows(
        () => findProxy("relay.example", { [name]: value }),
        Error,
        `${name} `,
      );
      assertEquals([message.includes("secret"), message.includes("ann")], [false, false], message);
    }
  }
});

Deno.test("any 2xx of CONNECT is a tunnel", async () => {
  for (const status of ["200 OK", "204 No Content", "299 Fine"]) {
    assertEquals(await askProxy(status), "open", status);
  }
  for (const status of ["199 Early", "302 Found", "403 Forbidden"]) {
    assertStringIncludes(await askProxy(status), "does not lead to relay.example:443", status);
  }
});

/** A proxy that answers like this. */
async function askProxy(status: string): Promise<string> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    using client = await listener.accept();
    await client.read(new Uint8Array(4096));
    await client.write(new TextEncoder().encode(`HTTP/1.1 ${status}\r\n\r\n`));
  })();
  const proxy = new URL(`http://127.0.0.1:${listener.addr.port}`);
  const said = await tunnelTo({ host: "relay.example", port: 443 }, proxy).then(
    (socket) => {
      socket.destroy();
      return "open";
    },
    (error) => error.message,
  );
  await serving;
  return said;
}

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
      assertEquals(
        findProxy(host, { HTTPS_PROXY: proxy, [name]: list }),
        undefined,
        `${host} by ${list}`,
      );
    }
  }
  const others: readonly [string, string][] = [
    ["relay.example", ""],
    ["notrelay.example", "relay.example"],
    ["11.1.2.3", "10.0.0.0/8"],
    ["10.1.2.3", "10.0.0.0/99"],
    ["10.1.2.3", "10.0.0.0/"],
    ["10.1.2.3", "10.0.0.0/8/8"],
    ["10.1.2.3", "10.0.0.0/0x8"],
    ["10.1.2.3", "10.0.0.0/-1"],
    ["fd00::5", "fd00::/129"],
    ["::2", "::1"],
    ["10.1.2.3", "::/0"],
  ];
  for (const [host, NO_PROXY] of others) {
    assertEquals(
      findProxy(host, { HTTPS_PROXY: proxy, NO_PROXY })?.href,
      `${proxy}/`,
      `${host} by ${NO_PROXY}`,
    );
  }
});
