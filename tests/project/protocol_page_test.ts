import { assert, assertEquals } from "@std/assert";
import { calls, errorCodes, isErrorCode, limits, notices } from "../../proto/mod.ts";

const page = Deno.readTextFileSync(new URL("../../docs/protocol.md", import.meta.url));

/** The word behind the name in every item of the page's lists. */
const items = new Map(
  Array.from(
    page.matchAll(/^- `([A-Za-z_]+)` (\w+)/gm),
    ([, name = "", value = ""]) => [name, value],
  ),
);

Deno.test("docs/protocol.md lists every call and notice with its number", () => {
  for (const [name, { number }] of [...Object.entries(calls), ...Object.entries(notices)]) {
    assertEquals(items.get(name), String(number), name);
  }
});

Deno.test("docs/protocol.md lists every error code with its close code", () => {
  for (const [code, { close }] of Object.entries(errorCodes)) {
    assertEquals(items.get(code), `0x${close.toString(16)}`, code);
  }
});

Deno.test("docs/protocol.md names no code that does not exist", () => {
  const named = Array.from(page.matchAll(/`([a-z]+_[a-z_]+)`/g), ([, code = ""]) => code);
  assert(named.length > 10);
  const proto = new Set([
    "relay_nonce",
    "client_nonce",
    "cell_bytes",
    "session_token",
    "joined_sequence",
    "window_bytes",
  ]);
  assertEquals(named.filter((code) => !isErrorCode(code) && !proto.has(code)), []);
});

Deno.test("docs/protocol.md tells the numbers of the MLS profile as the code has them", async () => {
  const leaf = await Deno.readTextFile(new URL("../../sdk/mls/leaf.ts", import.meta.url));
  const numbers = Array.from(
    leaf.matchAll(/Extension = (0x[0-9a-f]+|\d+);/g),
    ([, number = ""]) => number,
  );
  assertEquals(numbers.length, 9);
  const days = limits.keyPackageLifetimeMs / 86_400_000;
  for (
    const told of [
      ...numbers,
      `at most ${days} days`,
      `identity is at most ${limits.identityBytes} bytes`,
    ]
  ) {
    assert(page.replace(/\s+/g, " ").includes(told), told);
  }
});
