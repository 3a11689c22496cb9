import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  credentialsPath,
  formatCredentials,
  parseCredentials,
  savedKeyFor,
} from "./credentials.ts";
import { WireError } from "../base/errors.ts";

const path = "/home/x/.config/static/credentials.json";

Deno.test("credentials come back as they were saved", () => {
  const saved = {
    api_key: "k",
    api_url: "https://a",
    relay_url: "quic://r",
    ca_file: "/ca.pem",
    email: "a@example.org",
    device: "d",
  };
  assertEquals(parseCredentials(formatCredentials(saved), path), saved);
  assertEquals(parseCredentials("{}", path), {});
});

Deno.test("parseCredentials() ignores fields that it does not know, that are empty, or of another type", () => {
  const text = JSON.stringify({
    api_key: "k",
    api_url: "",
    relay_url: 5,
    ca_file: null,
    other: "x",
  });
  assertEquals(parseCredentials(text, path), { api_key: "k" });
});

for (const text of ["", "{", "null", "5", '"text"', "[]", '{"api_key":"canary"', '["canary"]']) {
  Deno.test(`parseCredentials() refuses ${JSON.stringify(text)}, names the file and does not quote it`, () => {
    const error = assertThrows(() => parseCredentials(text, path), WireError, path);
    assertEquals([error.code, error.cause], ["auth_failed", undefined]);
    assert(!error.message.includes("canary"));
  });
}

Deno.test("savedKeyFor() returns the key for its own address only", () => {
  const saved = { api_key: "k", api_url: "https://api.test/" };
  const urls = [
    "https://api.test",
    "https://api.test/",
    "https://api.test:444",
    "http://localhost",
    "nonsense",
  ];
  assertEquals(urls.map((url) => savedKeyFor(url, saved)), [
    "k",
    "k",
    undefined,
    undefined,
    undefined,
  ]);
  assertEquals(savedKeyFor("nonsense", { api_key: "k", api_url: "other nonsense" }), undefined);
  assertEquals(savedKeyFor("https://api.test", { api_key: "k" }), "k");
});

Deno.test("credentialsPath() is where each system keeps a user's configuration", () => {
  const at = (system: string, variables: Record<string, string> = {}): string =>
    credentialsPath({
      system,
      variable: (name) => variables[name],
      home: () => "/home/x",
      join: (...parts) => parts.join("/"),
    });
  assertEquals(at("linux"), path);
  assertEquals(
    at("linux", { APPDATA: "/app", XDG_CONFIG_HOME: "/cfg" }),
    "/cfg/static/credentials.json",
  );
  assertEquals(at("darwin"), "/home/x/Library/Application Support/static/credentials.json");
  assertEquals(at("win32", { APPDATA: "/app" }), "/app/static/credentials.json");
});
