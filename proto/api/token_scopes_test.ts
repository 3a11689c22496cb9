import { assert, assertEquals } from "@std/assert";
import { parseChannelId, parseChannelName, parseKeyId } from "../base/ids.ts";
import {
  type ChannelScope,
  coversPattern,
  formatTokenGrant,
  isChannelPattern,
  parseTokenGrant,
  rightsIn,
} from "./token_scopes.ts";

const key = parseKeyId("5f0c3c1e-8d6b-4e0e-9f0a-2f6f7c1f9a11");
const channelId = parseChannelId("AAAAAAAAAAAAAAAAAAAAAA");
const scopes: readonly ChannelScope[] = [
  { pattern: "acme/ops/*", allow: ["send", "receive"] },
  { channelId, allow: ["invite"] },
];

Deno.test("formatTokenGrant() makes the frozen texts, and parseTokenGrant() reads them back", () => {
  const claim = { key, scopes: ["acme/ops/*:send,receive", "#AAAAAAAAAAAAAAAAAAAAAA:invite"] };
  assertEquals(formatTokenGrant({ key, scopes }), claim);
  assertEquals(parseTokenGrant(claim), { key, scopes });
  assertEquals(parseTokenGrant({ key: null, scopes: [] }), { key: null, scopes: [] });
  assertEquals(formatTokenGrant({ key, scopes, isPublic: true }), { ...claim, public: true });
  assertEquals(parseTokenGrant({ ...claim, public: true }), { key, scopes, isPublic: true });
});

Deno.test("parseTokenGrant() refuses everything else", () => {
  const wrong = [
    "",
    "*",
    "*:",
    "*:all",
    "*:send,",
    "*:Send",
    "acme/ops:send",
    "#short:send",
    "a:b:send",
    7,
    null,
    "*:send ",
  ];
  for (const scope of wrong) {
    assertEquals(parseTokenGrant({ key, scopes: [scope] }), undefined, String(scope));
  }
  for (
    const claim of [
      null,
      undefined,
      "x",
      [],
      {},
      { key },
      { scopes: [] },
      { key: "x", scopes: [] },
      {
        key,
        scopes: "",
      },
    ]
  ) {
    assertEquals(parseTokenGrant(claim), undefined);
  }
  assertEquals(parseTokenGrant({ key, scopes: [], more: 1 }), undefined);
  assertEquals(parseTokenGrant({ key, scopes: [], public: true, more: 1 }), undefined);
  for (const value of [false, null, 1, "true"]) {
    assertEquals(parseTokenGrant({ key, scopes: [], public: value }), undefined, String(value));
  }
  assertEquals(parseTokenGrant({ key: null, scopes: [], public: true }), undefined);
  assertEquals(parseTokenGrant({ key, scopes: Array(33).fill("*:send") }), undefined);
});

Deno.test("a pattern is three components, each a name or a star, or one star", () => {
  for (const text of ["*", "acme/ops/*", "*/*/*", "acme/*/deploy", "a/b/c"]) {
    assert(isChannelPattern(text), text);
  }
  for (
    const text of [
      "",
      "acme",
      "acme/*",
      "acme/ops/dep*",
      "Acme/*/*",
      "a/b/c/d",
      "a//c",
      "**",
      "*/*",
    ]
  ) {
    assert(!isChannelPattern(text), text);
  }
});

Deno.test("coversPattern() holds exactly where every channel of the inner pattern matches the outer", () => {
  for (
    const [outer, inner] of [["*", "a/b/c"], ["*", "*"], ["*/*/*", "*"], ["a/*/*", "a/b/*"], [
      "a/b/c",
      "a/b/c",
    ]]
  ) {
    assert(coversPattern(outer ?? "", inner ?? ""), `${outer} ${inner}`);
  }
  for (
    const [outer, inner] of [["a/b/c", "a/b/*"], ["a/b/*", "*"], ["a/*/c", "a/b/d"], [
      "a/b/*",
      "a/c/*",
    ]]
  ) {
    assert(!coversPattern(outer ?? "", inner ?? ""), `${outer} ${inner}`);
  }
});

Deno.test("rightsIn() adds up what matching scopes allow; an id is no name", () => {
  const other = parseChannelId("BAAAAAAAAAAAAAAAAAAAAA");
  const rights = (name: string, id = other): string =>
    [...rightsIn(scopes, { name: parseChannelName(name), channelId: id })].join();
  assertEquals(rights("acme/ops/deploy"), "send,receive");
  assertEquals(rights("acme/dev/deploy"), "");
  assertEquals(rights("acme/dev/deploy", channelId), "invite");
  assertEquals(rights("acme/ops/deploy", channelId), "send,receive,invite");
});
