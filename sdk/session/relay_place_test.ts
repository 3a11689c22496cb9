import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { StaticError } from "../base/errors.ts";
import { platform } from "../platform/deno.ts";
import type { Platform } from "../platform/platform.ts";
import { parseEndpoints } from "../transport/endpoint.ts";
import type { CertificateTrust } from "../transport/transport.ts";
import { findRelay, nameRelays, type PlaceOptions, type RelayPlace } from "./relay_place.ts";

const pem = "-----BEGIN CERTIFICATE-----\nof the API\n-----END CERTIFICATE-----\n";
const ownPem = pem.replace("the API", "the user");
const nobody: CertificateTrust = { caCerts: [], certificateHashes: [] };
const told = "quic://localhost:23072,https://localhost:23073,quic://b.example,grpc://b.example";

/** Each endpoint, with a star where the API's authority is trusted. */
function named(
  endpoint: string,
  { urls = told, trust = { caCerts: [pem], certificateHashes: [] } as CertificateTrust } = {},
): {
  readonly shown: string[];
  readonly note: string | undefined;
} {
  const given = { endpoints: parseEndpoints(endpoint, nobody), trust: nobody };
  const place = nameRelays(given, {
    apiUrl: "http://localhost",
    told: parseEndpoints(urls, trust),
    trust,
  });
  return { shown: shown(place, trust), note: place.note };
}

function shown({ endpoints }: RelayPlace, authority: CertificateTrust): string[] {
  return endpoints.map(({ origin, trust }) => `${origin}${trust === authority ? " *" : ""}`);
}

Deno.test("a QUIC address that the API names has that relay's TCP address and authority", () => {
  const relay = ["quic://localhost:23072 *", "https://localhost:23073 *"];
  for (
    const text of ["quic://localhost:23072", "quic://LocalHost:23072/", " quic://localhost:23072 "]
  ) {
    assertEquals(named(text), { shown: relay, note: undefined }, text);
  }
  const usual = ["quic://b.example:4433 *", "grpc://b.example:5000 *"];
  for (const text of ["quic://b.example", "quic://b.example:4433", "quic://B.Example/"]) {
    assertEquals(named(text), { shown: usual, note: undefined }, text);
  }
  assertEquals(named("quic://localhost:23072,quic://b.example").shown, [...relay, ...usual]);
  assertEquals(
    named("quic://localhost:23072", { urls: "quic://localhost:23072" }).shown,
    relay.slice(0, 1),
  );
});

Deno.test("a TCP address that the API names stays one, and a QUIC port that is written as one becomes one", () => {
  assertEquals(named("https://localhost:23073").shown, ["https://localhost:23073 *"]);
  assertEquals(named("grpc://localhost:23073").shown, ["https://localhost:23073 *"]);
  assertEquals(named("https://localhost:23072").shown, ["https://localhost:23073 *"]);
  assertEquals(named("https://b.example:5000").shown, ["grpc://b.example:5000 *"]);
});

Deno.test("an address that the API does not name stays as it was given, without its authority, and the note says so", () => {
  const names =
    "quic://localhost:23072, https://localhost:23073, quic://b.example:4433, grpc://b.example:5000";
  for (
    const origin of [
      "quic://127.0.0.1:23072",
      "quic://localhost:23074",
      "https://b.example:443",
      "quic://c:4433",
    ]
  ) {
    const note =
      `the endpoint given, ${origin}, is not among the relays that the API at http://localhost names: ${names}`;
    assertEquals(named(origin), { shown: [origin], note });
  }
  // Of a list, each is looked at by itself.
  const mixed = named("quic://c,quic://b.example,https://b.example:9");
  assertEquals(mixed.shown, ["quic://c:4433", "quic://b.example:4433 *", "https://b.example:9"]);
  assertStringIncludes(mixed.note ?? "", "quic://c:4433, https://b.example:9");
});

Deno.test("the API tells which TCP port a host has, and never sends the agent to another host", () => {
  const elsewhere = "quic://b.example,https://evil.example";
  assertEquals(named("quic://b.example", { urls: elsewhere }).shown, ["quic://b.example:4433 *"]);
  const replaced = named("https://b.example:5000", {
    urls: "quic://b.example:5000,https://evil.example",
  });
  assertEquals(replaced.shown, ["https://b.example:5000 *"]);
});

Deno.test("in a browser the API's hash is for QUIC; fetch trusts whom the browser trusts", () => {
  const trust: CertificateTrust = { caCerts: [], certificateHashes: [new Uint8Array(32)] };
  assertEquals(named("quic://b.example", { trust }).shown, [
    "quic://b.example:4433 *",
    "grpc://b.example:5000",
  ]);
});

/** Finds the relay with an API that answers so. */
async function find(
  options: Partial<PlaceOptions>,
  answer: () => Response = () =>
    Response.json({
      relay: { urls: told.split(",") },
      ca: { pem, sha256: "" },
      certificate_hashes: [],
      mail: null,
    }),
): Promise<RelayPlace & { readonly asked: number }> {
  let asked = 0;
  const on: Platform = {
    ...platform,
    openHttp: () => ({
      request: () => Promise.resolve(answer()).finally(() => asked++),
      close: () => {},
    }),
  };
  const trust = { api: nobody, relay: nobody };
  const usual = {
    endpoint: "quic://b.example",
    apiUrl: "https://api.example",
    trust,
    isTrustGiven: false,
  };
  const place = await findRelay({ ...usual, signal: undefined, ...options }, on);
  return { ...place, asked };
}

Deno.test("the API is asked for whatever the user has not said, and its authority is trusted where nobody else was named", async () => {
  const own: CertificateTrust = { caCerts: [ownPem], certificateHashes: [] };
  const trustOf = ({ endpoints }: RelayPlace): string[] =>
    endpoints.flatMap(({ trust }) => trust.caCerts);
  assertEquals(trustOf(await find({})), [pem, pem]);
  const given = await find({ trust: { api: own, relay: own }, isTrustGiven: true });
  assertEquals([given.endpoints.map(({ origin }) => origin), trustOf(given)], [
    ["quic://b.example:4433", "grpc://b.example:5000"],
    [ownPem, ownPem],
  ]);
  // Nobody beside the authorities of the runtime, with an endpoint and without.
  assertEquals(trustOf(await find({ isTrustGiven: true })), []);
  assertEquals(trustOf(await find({ endpoint: undefined, isTrustGiven: true })), []);
  const complete = await find({
    endpoint: "quic://b.example,grpc://b.example",
    isTrustGiven: true,
  });
  assertEquals([complete.asked, (await find({ apiUrl: undefined })).asked], [0, 0]);
  // Nothing that came over a plain connection of another machine is believed.
  assertEquals((await find({ apiUrl: "http://api.example" })).asked, 0);
});

Deno.test("without an endpoint, all relays of the API are taken; with one, an API that does not tell changes nothing", async () => {
  const all = await find({ endpoint: undefined });
  assertEquals(all.endpoints.length, 4);
  const silent = (): Response => new Response("not here", { status: 404 });
  await assertRejects(
    () => find({ endpoint: undefined }, silent),
    StaticError,
    "Cannot find the relay",
  );
  const busy = (): Response =>
    new Response("a proxy's page", { status: 503, headers: { "retry-after": "2" } });
  const { code, retryAfterMs } = await assertRejects(
    () => find({ endpoint: undefined }, busy),
    StaticError,
  );
  assertEquals([code, retryAfterMs], ["overloaded", 2_000]);
  const { endpoints, note } = await find({}, silent);
  assertEquals(endpoints, parseEndpoints("quic://b.example", nobody));
  assertEquals(note, "the API at https://api.example could not be asked for its relays");
  const none = (): Response =>
    Response.json({ relay: { urls: [] }, ca: null, certificate_hashes: [], mail: null });
  assertEquals((await find({}, none)).note, "the API at https://api.example names no relay");
});
