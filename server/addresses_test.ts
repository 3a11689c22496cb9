import { assert, assertEquals } from "@std/assert";
import { createOriginCheck, isLoopback, parseWebOrigin, urlHost } from "./addresses.ts";

Deno.test("only this machine's own names and addresses are loopback", () => {
  for (const host of ["", "localhost", "127.0.0.1", "127.8.9.10", "::1", "[::1]"]) {
    assert(isLoopback(host), host);
  }
  for (const host of ["0.0.0.0", "::", "128.0.0.1", "127.0.0.1.example", "localhost.example"]) {
    assert(!isLoopback(host));
  }
});

Deno.test("a web origin has a scheme and a host, and no path", () => {
  assertEquals(parseWebOrigin("https://app.example:8443"), "https://app.example:8443");
  for (const text of ["app.example", "https://app.example/", "https://APP.example", "null", "*"]) {
    assertEquals(parseWebOrigin(text), undefined, text);
  }
});

Deno.test("configured origins are allowed and no other; without any, those of this machine", () => {
  const configured = createOriginCheck(["https://app.example"]);
  assertEquals(["https://app.example", "http://localhost"].map(configured), [true, false]);
  const development = createOriginCheck(undefined);
  for (const origin of ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:1"]) {
    assert(development(origin));
  }
  for (const origin of ["http://localhost.example", "https://app.example", "null"]) {
    assert(!development(origin));
  }
  assert(!createOriginCheck([])("http://localhost"));
});

Deno.test("an IPv6 address stands in brackets in a URL", () => {
  assertEquals(["::1", "127.0.0.1"].map(urlHost), ["[::1]", "127.0.0.1"]);
});
