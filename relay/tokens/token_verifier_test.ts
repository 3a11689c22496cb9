import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import {
  CompactSign,
  type CryptoKey,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWTHeaderParameters,
  SignJWT,
} from "jose";
import type { TokenVerifier } from "../core/deps.ts";
import { createTokenKeys, KeysUnavailable } from "./token_keys.ts";
import { createTokenVerifier } from "./token_verifier.ts";

const account = "0b9f0a4e-7c1d-4c55-9d0e-1f6f2a9d3c11";
const startMs = Date.UTC(2026, 10, 15);

interface World {
  readonly api: {
    asked: number;
    away: boolean;
    readonly published: Map<string, Record<string, unknown>>;
  };
  readonly clock: { nowMs: number };
  readonly failures: unknown[];
  readonly key: CryptoKey;
  readonly verifier: TokenVerifier;
  publish(kid: string): Promise<CryptoKey>;
}

/** An API that publishes keys and counts how often it is asked, on a clock that tests move. */
async function world(): Promise<World> {
  const api = { asked: 0, away: false, published: new Map<string, Record<string, unknown>>() };
  const clock = { nowMs: startMs };
  const failures: unknown[] = [];
  const publish = async (kid: string): Promise<CryptoKey> => {
    const { publicKey, privateKey } = await generateKeyPair("EdDSA", {
      crv: "Ed25519",
      extractable: true,
    });
    api.published.set(kid, { ...await exportJWK(publicKey), kid, alg: "EdDSA", use: "sig" });
    return privateKey;
  };
  const keys = createTokenKeys({
    fetchKeySet: () => {
      api.asked++;
      if (api.away) return Promise.reject(new TypeError("connection refused"));
      return Promise.resolve({ keys: [...api.published.values()] });
    },
    nowMs: () => clock.nowMs,
    onFailedRefresh: (error) => failures.push(error),
  });
  const key = await publish("first");
  return {
    api,
    clock,
    failures,
    publish,
    key,
    verifier: createTokenVerifier({ keys, nowMs: () => clock.nowMs }),
  };
}

interface TokenOptions {
  readonly header?: Record<string, unknown>;
  readonly claims?: Record<string, unknown>;
  readonly issuedAtMs?: number;
}

function sign(
  key: CryptoKey | Uint8Array,
  { header = {}, claims = {}, issuedAtMs = startMs }: TokenOptions = {},
): Promise<string> {
  const iat = issuedAtMs / 1000;
  return new SignJWT({
    sub: account,
    plan: "free",
    iss: "static-api",
    iat,
    exp: iat + 3600,
    ...claims,
  })
    .setProtectedHeader(
      { alg: "EdDSA", typ: "JWT", kid: "first", ...header } as JWTHeaderParameters,
    )
    .sign(key);
}

/** Signs JSON that no library writes. */
async function signText(key: CryptoKey, claims: string): Promise<string> {
  const iat = startMs / 1000;
  const body = `{"sub":"${account}","plan":"free","iss":"static-api","iat":${iat},${claims}}`;
  return await new CompactSign(new TextEncoder().encode(body)).setProtectedHeader({
    alg: "EdDSA",
    kid: "first",
  }).sign(
    key,
  );
}

/** The library signs no extension that it is not told of. */
function signCritical(key: CryptoKey, { header, claims = {} }: TokenOptions): Promise<string> {
  const iat = startMs / 1000;
  const body = { sub: account, plan: "free", iss: "static-api", iat, exp: iat + 3600, ...claims };
  return new CompactSign(new TextEncoder().encode(JSON.stringify(body)))
    .setProtectedHeader({ alg: "EdDSA", typ: "JWT", kid: "first", ...header })
    .sign(key, { crit: { static: true, other: true } });
}

async function refusalOf(verify: Promise<unknown>): Promise<string> {
  const answer = await verify;
  assert(
    typeof answer === "object" && answer !== null && "refused" in answer,
    `accepted: ${JSON.stringify(answer)}`,
  );
  return String(answer.refused);
}

function unsigned(header: object, claims: object): string {
  const part = (value: object): string => btoa(JSON.stringify(value)).replaceAll("=", "");
  return `${part(header)}.${part(claims)}.`;
}

Deno.test("a token of the API is its account's until its exp", async () => {
  const { verifier, key } = await world();
  assertEquals(await verifier.verify(await sign(key)), {
    account,
    plan: "free",
    issuedAtMs: startMs,
    expiresAtMs: startMs + 3_605_000,
  } as unknown);
});

Deno.test("the claim static says what a token may; one that cannot be read to its last letter is refused", async () => {
  const { verifier, key } = await world();
  const verified = await verifier.verify(
    await sign(key, { claims: { static: { key: null, scopes: ["a/b/*:send"] } } }),
  );
  assert("grant" in verified);
  assertEquals(verified.grant, { key: null, scopes: [{ pattern: "a/b/*", allow: ["send"] }] });
  // As the API writes it: relays from before the claim refuse what they must understand.
  const critical = {
    claims: { static: { key: null, scopes: ["a/b/*:send"] } },
    header: { crit: ["static"], static: 1 },
  };
  assertEquals(await verifier.verify(await signCritical(key, critical)), verified);
  const strange = { header: { crit: ["other"], other: 1 } };
  await refusalOf(verifier.verify(await signCritical(key, strange)));
  for (
    const claim of [null, "x", {}, { key: null }, { key: null, scopes: ["a/b/*:send,all"] }, {
      key: 1,
      scopes: [],
    }]
  ) {
    const token = await sign(key, { claims: { static: claim } });
    assertStringIncludes(await refusalOf(verifier.verify(token)), 'its claim "static"');
  }
});

Deno.test("forged tokens of every kind are refused with the reason and without the token", async () => {
  const { verifier, key, api } = await world();
  const other = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
  const claims = {
    sub: account,
    plan: "free",
    iss: "static-api",
    iat: startMs / 1000,
    exp: startMs / 1000 + 3600,
  };
  const published = await crypto.subtle.importKey(
    "jwk",
    api.published.get("first") ?? {},
    "Ed25519",
    true,
    ["verify"],
  );
  const publicBytes = new Uint8Array(await crypto.subtle.exportKey("raw", published));
  const publicText = new TextEncoder().encode(await exportSPKI(published));
  const ecdsa = await generateKeyPair("ES256");
  const good = await sign(key);
  const [header, body, signature] = good.split(".");
  const forged: Record<string, [token: string, reason: string]> = {
    "no signature, alg none": [
      unsigned({ alg: "none", kid: "first" }, claims),
      "not signed with EdDSA",
    ],
    "signature cut off": [`${header}.${body}.`, "signature is wrong"],
    "HMAC with the public key": [
      await sign(publicBytes, { header: { alg: "HS256" } }),
      "not signed with EdDSA",
    ],
    "HMAC with the public key's PEM": [
      await sign(publicText, { header: { alg: "HS256" } }),
      "not signed with EdDSA",
    ],
    "another algorithm": [
      await sign(ecdsa.privateKey, { header: { alg: "ES256" } }),
      "not signed with EdDSA",
    ],
    "another key under a known id": [await sign(other.privateKey), "signature is wrong"],
    "a key of its own": [
      await sign(other.privateKey, { header: { jwk: await exportJWK(other.publicKey) } }),
      "a key of its own",
    ],
    "a key elsewhere": [
      await sign(key, { header: { jku: "https://evil.example/jwks.json" } }),
      "a key of its own",
    ],
    "a certificate": [
      await sign(key, { header: { x5u: "https://evil.example/x.pem" } }),
      "a key of its own",
    ],
    "an unknown key id": [await sign(key, { header: { kid: "second" } }), "does not publish"],
    "no key id": [await sign(key, { header: { kid: undefined } }), "which key"],
    "another issuer": [await sign(key, { claims: { iss: "other-api" } }), '"iss"'],
    "no issuer": [await sign(key, { claims: { iss: undefined } }), '"iss"'],
    "expired": [await sign(key, { issuedAtMs: startMs - 3_606_000 }), "expired"],
    "from the future": [await sign(key, { issuedAtMs: startMs + 6_000 }), "future"],
    "no expiry": [await sign(key, { claims: { exp: undefined } }), '"exp"'],
    "expiry as text": [await sign(key, { claims: { exp: "9999999999" } }), '"exp"'],
    "an end beyond all numbers": [await signText(key, '"exp":1e400'), "whole seconds"],
    "an end that no date can be": [
      await sign(key, { claims: { exp: 8_640_000_000_001 } }),
      "longer than",
    ],
    "a day and a second of life": [
      await sign(key, { claims: { exp: startMs / 1000 + 86_401 } }),
      "longer than",
    ],
    "a fraction as its end": [
      await sign(key, { claims: { exp: startMs / 1000 + 0.5 } }),
      "whole seconds",
    ],
    "a negative beginning": [await sign(key, { claims: { iat: -1 } }), "whole seconds"],
    "a fraction as its beginning": [
      await sign(key, { claims: { iat: startMs / 1000 - 0.5 } }),
      "whole seconds",
    ],
    "not valid yet": [await sign(key, { claims: { nbf: startMs / 1000 + 60 } }), '"nbf"'],
    "no subject": [await sign(key, { claims: { sub: undefined } }), '"sub"'],
    "a subject that is no UUID": [await sign(key, { claims: { sub: "admin" } }), "not an account"],
    "no plan": [await sign(key, { claims: { plan: undefined } }), '"plan"'],
    "another token's body": [
      `${header}.${
        (await sign(key, { claims: { plan: "enterprise" } })).split(".")[1]
      }.${signature}`,
      "signature is wrong",
    ],
    "extensions that must be understood": [
      unsigned({ alg: "EdDSA", kid: "first", crit: ["bend"], bend: true }, claims),
      "not a valid JWT",
    ],
    "huge": [await sign(key, { claims: { extra: "x".repeat(9000) } }), "longer than"],
    "five parts, as if encrypted": [`${header}.a.b.c.d`, "not a valid JWT"],
    "no JWT": ["sk_live_0123456789", "not a JWT"],
    "nothing": ["", "not a JWT"],
  };
  for (const [kind, [token, reason]] of Object.entries(forged)) {
    const refusal = await refusalOf(verifier.verify(token));
    assertStringIncludes(refusal, reason, `${kind}: ${refusal}`);
    assert(token.length < 10 || !refusal.includes(token), kind);
  }
  assert("account" in await verifier.verify(good), "the good one still verifies");
});

Deno.test("clocks may differ by five seconds either way", async () => {
  const { verifier, key } = await world();
  for (const issuedAtMs of [startMs + 5_000, startMs - 3_600_000 - 4_000]) {
    const verified = await verifier.verify(await sign(key, { issuedAtMs }));
    assert("account" in verified, JSON.stringify(verified));
    assert(verified.expiresAtMs > startMs, "a session that was let in has time left");
  }
});

Deno.test("a key that appears at the API verifies at once, and everybody who waits shares one question", async () => {
  const { verifier, api, clock, publish, key } = await world();
  const good = await sign(key);
  await Promise.all(Array.from({ length: 50 }, () => verifier.verify(good)));
  assertEquals(api.asked, 1);

  clock.nowMs += 5_000;
  const token = await sign(await publish("second"), { header: { kid: "second" } });
  const answers = await Promise.all(Array.from({ length: 50 }, () => verifier.verify(token)));
  assert(answers.every((answer) => "account" in answer));
  assertEquals(api.asked, 2);
});

Deno.test("a flood of invented key ids costs one question per interval", async () => {
  const { verifier, api, clock, key } = await world();
  for (let second = 0; second < 10; second++) {
    for (let i = 0; i < 20; i++) {
      const token = await sign(key, { header: { kid: `invented-${second}-${i}` } });
      assertStringIncludes(await refusalOf(verifier.verify(token)), "does not publish");
    }
    clock.nowMs += 1_000;
  }
  assertEquals(api.asked, 2);
});

Deno.test("the API is asked again although the clock was set back", async () => {
  const { verifier, api, clock, publish, key } = await world();
  await verifier.verify(await sign(key));
  clock.nowMs -= 600_000;
  const issuedAtMs = clock.nowMs;
  const token = await sign(await publish("second"), { header: { kid: "second" }, issuedAtMs });
  assert("account" in await verifier.verify(token));
  assertEquals(api.asked, 2);
});

Deno.test("known keys work while the API is away, others cannot be judged", async () => {
  const { verifier, api, clock, key, failures } = await world();
  await verifier.verify(await sign(key));
  api.away = true;
  clock.nowMs += 3_000_000;
  assert("account" in await verifier.verify(await sign(key)));
  assertEquals([api.asked, failures.length], [2, 1]);
  const unknown = await sign(key, { header: { kid: "second" }, issuedAtMs: clock.nowMs });
  // Both while the last failure is remembered and when the API is asked again.
  await assertRejects(() => verifier.verify(unknown), KeysUnavailable, "Cannot fetch the keys");
  clock.nowMs += 5_000;
  await assertRejects(() => verifier.verify(unknown), KeysUnavailable, "Cannot fetch the keys");
  assertEquals(api.asked, 3);
});

Deno.test("a key that the API has withdrawn stops verifying after five minutes, although nobody asked meanwhile", async () => {
  const { verifier, api, clock, key, publish } = await world();
  const token = await sign(key);
  assert("account" in await verifier.verify(token));
  const successor = await sign(await publish("second"), { header: { kid: "second" } });
  api.published.delete("first");
  clock.nowMs += 300_000;
  const answers = await Promise.all([token, successor, token].map((text) => verifier.verify(text)));
  assertEquals(answers.map((answer) => "account" in answer), [false, true, false]);
  assertEquals(api.asked, 2);
});

Deno.test("on a busy relay nobody waits for the keys: they are fetched anew while the old ones are still good", async () => {
  const { verifier, api, clock, key } = await world();
  const token = await sign(key);
  for (let minute = 0; minute <= 12; minute++) {
    assert("account" in await verifier.verify(token));
    clock.nowMs += 60_000;
  }
  assertEquals(api.asked, 5);
  api.away = true;
  assert("account" in await verifier.verify(token));
});

Deno.test("what is no key set is a fault of the API, and keys of other kinds are passed over", async () => {
  const clock = { nowMs: startMs };
  for (const answer of [undefined, "<html>", [], { keys: {} }, { keys: Array(65).fill({}) }]) {
    const keys = createTokenKeys({
      fetchKeySet: () => Promise.resolve(answer),
      nowMs: () => clock.nowMs,
      onFailedRefresh: () => {},
    });
    await assertRejects(() => keys.find("first"), KeysUnavailable);
  }
  const { api, verifier, key } = await world();
  api.published.set("rsa", { kty: "RSA", kid: "rsa", n: "AQAB", e: "AQAB" });
  api.published.set("short", { kty: "OKP", crv: "Ed25519", kid: "short", x: "AAAA" });
  assert("account" in await verifier.verify(await sign(key)));
});
