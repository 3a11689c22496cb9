import { assertEquals, assertThrows } from "@std/assert";
import { payloadFields, payloadLines } from "./channel_texts.ts";
import { exitCodes, exitOf } from "../exit_codes.ts";
import { Failure, toFailure } from "../failure.ts";
import { framed, table, withCommands } from "../output.ts";
import { tcpAddressesOf } from "../service/relay_address.ts";
import { nearest } from "../arguments/suggest.ts";
import { kept, width, withBlanks, wrap } from "../wrapping.ts";
import { ago, byteSize, grouped, span, utc } from "./amounts.ts";
import { parseCount, parseDurationMs } from "../arguments/values.ts";
import { errorCodes } from "../../proto/mod.ts";

Deno.test("framed() leaves nothing with which text from elsewhere could steer a terminal or pass for a line of ours", () => {
  assertEquals(framed("a\x1b[2Jb\x07c\x9bd\re"), "a\\u{1b}[2Jb\\u{7}c\\u{9b}d\\u{d}e");
  assertEquals(framed("in\u202eorder\u2066"), "in\\u{202e}order\\u{2066}");
  assertEquals(framed("Grüße, 日本\nzwei"), "Grüße, 日本\n  zwei");
});

Deno.test("payloadLines() indents further lines, so that a message cannot pass for two", () => {
  const bytes = new TextEncoder().encode("one\n12:00:00 bob  two");
  assertEquals(payloadLines(bytes), "one\n  12:00:00 bob  two");
  assertEquals(payloadLines(Uint8Array.of(0xff, 0xfe)), "(2 bytes)");
});

Deno.test("payloadFields() gives text as text and anything else as base64", () => {
  assertEquals(payloadFields(new TextEncoder().encode("\ufeffhé")), { text: "\ufeffhé" });
  assertEquals(payloadFields(Uint8Array.of(0xff, 0x00)), { base64: "/wA=" });
});

Deno.test("advice names commands as this user can type them", () => {
  const advice = "Try {start}, then {} doctor";
  assertEquals(
    withBlanks(withCommands(advice, "npx -y deno@2.9.5 task static")),
    "Try npx -y deno@2.9.5 task start, then npx -y deno@2.9.5 task static doctor",
  );
  assertEquals(
    withBlanks(withCommands(advice, "static")),
    "Try deno task start, then static doctor",
  );
});

Deno.test("amounts are grouped, and bytes told in the unit that fits", () => {
  assertEquals([0, 9_999, 10_000].map(grouped), ["0", "9,999", "10,000"]);
  assertEquals([0, 999, 1000, 4_096, 12_345_678, 1e18].map(byteSize), [
    "0 B",
    "999 B",
    "1.0 kB",
    "4.1 kB",
    "12.3 MB",
    "1000000.0 TB",
  ]);
});

Deno.test("table() fills columns up and ignores colours in their width", () => {
  assertEquals(table([["a", "bbb"], ["\x1b[31mcc\x1b[0m", "d"]]), [
    "a   bbb",
    "\x1b[31mcc\x1b[0m  d",
  ]);
});

Deno.test("nearest() finds what was meant and does not guess wildly", () => {
  assertEquals(nearest("lsit", ["list", "login"]), "list");
  assertEquals(nearest("x", ["list", "login"]), undefined);
});

Deno.test("times are said as people say them", () => {
  assertEquals([span(1_000), span(90 * 60_000), span(3 * 86_400_000)], [
    "1 second",
    "2 hours",
    "3 days",
  ]);
  assertEquals(
    ago(Date.parse("2026-11-15T00:00:00.000Z"), Date.parse("2026-11-15T00:05:00.000Z")),
    "5 minutes ago",
  );
  assertEquals(utc(Date.parse("2026-12-01T00:00:00.000Z")), "2026-12-01 00:00 UTC");
});

Deno.test("parseDurationMs() and parseCount() take numbers and refuse everything else", () => {
  assertEquals(["90s", "10m", "2h", "7d"].map((text) => parseDurationMs("t", text)), [
    90e3,
    600e3,
    7200e3,
    604800e3,
  ]);
  for (const text of ["", "5", "0s", "-1s", "1w", "1.5h", "99999999999s"]) {
    assertThrows(() => parseDurationMs("t", text), Failure);
  }
  for (const text of ["", "0", "-1", "1e3", "x"]) {
    assertThrows(() => parseCount("n", text), Failure);
  }
});

Deno.test("tcpAddressesOf() finds the TCP port of each relay", () => {
  const urls = (text: string): string[] => tcpAddressesOf(text).map(({ url }) => url);
  assertEquals(urls("quic://localhost:4433"), ["https://localhost:5000"]);
  assertEquals(urls("quic://relay.example"), ["https://relay.example:5000"]);
  assertEquals(urls("quic://localhost:7001, https://localhost:7002"), ["https://localhost:7002"]);
  assertEquals(urls("grpc://[::1]:5000"), ["https://[::1]:5000"]);
  assertEquals(urls("quic://a,https://a:7,quic://b,https://c:8"), ["https://a:7", "https://c:8"]);
  assertEquals(urls("quic://a,quic://b,https://c,https://d"), [
    "https://a:5000",
    "https://c:443",
    "https://d:443",
  ]);
  assertEquals(tcpAddressesOf("grpc://[::1]:5000")[0]?.host, "::1");
  for (const text of ["", "localhost", "http://x", "quic://x/path"]) {
    assertThrows(() => tcpAddressesOf(text), Failure);
  }
});

Deno.test("every error code of the wire contract ends the CLI in a documented way", () => {
  for (const code of Object.keys(errorCodes)) assertEquals(exitOf(code) in exitCodes, true, code);
  assertEquals(exitOf("auth_key_invalid"), "credential");
  assertEquals(exitOf("quota_exceeded"), "limit");
  assertEquals(exitOf("connection_error"), "unavailable");
});

Deno.test("toFailure() puts anything into words", () => {
  assertEquals(toFailure("odd").exit, "unexpected");
  assertEquals(
    toFailure(new TypeError("x is not a function")).message.includes("x is not a function"),
    true,
  );
  assertEquals(
    toFailure(Object.assign(new Error("down"), { code: "connection_error" })).exit,
    "unavailable",
  );
  assertEquals(toFailure(Object.assign(new Error("odd"), { code: "ENOENT" })).exit, "unexpected");
});

Deno.test("wrap() breaks lines between words, further in, and leaves what is to be copied whole", () => {
  const line = "  channel send   send a message to all members of a channel";
  assertEquals(wrap(line, 40), [
    "  channel send   send a message to all",
    "    members of a channel",
  ]);
  assertEquals(wrap("short", 40), ["short"]);
  const address = `See ${"x".repeat(60)} for more`;
  assertEquals(wrap(address, 40), ["See", `  ${"x".repeat(60)}`, "  for more"]);
  for (const columns of [20, 40, 60]) {
    assertEquals(wrap(line, columns).every((each) => each.length <= columns), true);
  }
});

Deno.test("payloadLines() cuts what nobody reads at a terminal, and names its size", () => {
  const shown = payloadLines(new TextEncoder().encode("x".repeat(900_000)));
  assertEquals([shown.length < 5_000, shown.includes("900.0 kB")], [true, true]);
});

const npxProgram = "npx -y deno@2.9.5 task static";

Deno.test("wrap() breaks no command that is to be copied, however narrow the terminal is", () => {
  const command = `echo hello | ${npxProgram} channel send acme/ops/deploy --agent bob`;
  for (const columns of [40, 80]) {
    assertEquals(wrap(`  \x1b[36m${kept(command)}\x1b[0m`, columns), [
      `  \x1b[36m${command}\x1b[0m`,
    ]);
    assertEquals(wrap(`  ${kept(command)}   what it does`, columns), [
      `  ${command}`,
      "    what it does",
    ]);
  }
});

Deno.test("advice is broken around its commands, and never within one", () => {
  const advice =
    "See what is there (with {} keys list); revoke one with: {} keys revoke v1.2 --yes. Then {start}, or {} doctor";
  const commands = ["keys list", "keys revoke v1.2 --yes", "doctor"].map((words) =>
    `${npxProgram} ${words}`
  );
  for (const columns of [40, 80]) {
    const lines = wrap(withCommands(advice, npxProgram), columns);
    for (const command of [...commands, "npx -y deno@2.9.5 task start"]) {
      assertEquals(
        lines.filter((line) => line.includes(command)).length,
        1,
        `${command} in ${lines.join("\n")}`,
      );
    }
    const prose = lines.filter((line) => !line.includes("deno"));
    assertEquals(prose.every((line) => width(line) <= columns), true);
  }
});
