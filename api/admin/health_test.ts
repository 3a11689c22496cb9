import { assertEquals } from "@std/assert";
import { relayHealthUrls } from "./health.ts";

Deno.test("a relay's health is asked over TCP, once for each of its addresses there", () => {
  const asked = (...urls: string[]): unknown => relayHealthUrls(urls).map(({ health }) => health);
  assertEquals(asked("quic://localhost:4433", "https://localhost:5000"), [
    "https://localhost:5000/health",
  ]);
  assertEquals(asked("quic://a.example"), ["https://a.example:5000/health"]);
  assertEquals(asked("quic://[::1]:4433", "https://b.example"), [
    "https://[::1]:5000/health",
    "https://b.example:443/health",
  ]);
  assertEquals(asked("grpc://a.example", "quic://b.example:7"), [
    "https://a.example:5000/health",
    undefined,
  ]);
});
