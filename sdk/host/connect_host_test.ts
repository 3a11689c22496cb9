/**
 * The options that a program passes to a host that it starts: its own, and of the saved ones only
 * those that belong to them.
 */
import { assertEquals, assertRejects } from "@std/assert";
import { createError, StaticError } from "../base/errors.ts";
import { connectHost } from "./connect_host.ts";
import type { ConnectOptions } from "../api/connect_options.ts";
import { encodeFrame, type FrameHeader, HostFrameReader } from "./frames.ts";
import { encodeError } from "./wire_errors.ts";
import { type HostedPlatform, hostPlatform } from "../platform/host_platform.ts";
import type { HostPlatform, PlatformSettings } from "../platform/platform.ts";

/** Starts a host that refuses, and returns what it was given. */
async function givenTo(
  options: Partial<ConnectOptions>,
  saved: PlatformSettings,
): Promise<FrameHeader> {
  const given: FrameHeader[] = [];
  const hosts: HostPlatform = {
    place: (dataDir) => Promise.resolve({ dataDir, folder: "/host", socket: "/host/socket" }),
    connect: () => Promise.resolve(undefined),
    takeTurn: () => Promise.resolve(() => Promise.resolve()),
    start: (_, { frame, readable }, { onData }) => {
      for (const { header } of new HostFrameReader().push(frame)) {
        given.push({ ...header, readable });
      }
      queueMicrotask(() =>
        onData(encodeFrame({ id: 1, error: encodeError(createError("auth_failed", "refused")) }))
      );
      return () => {};
    },
  };
  const platform: HostedPlatform = {
    ...hostPlatform,
    hosts,
    readSettings: () => Promise.resolve(saved),
    readTextFile: (path) => Promise.resolve(`text of ${path}`),
  };
  await assertRejects(
    () => connectHost({ dataDir: "/agent", identity: "a", ...options }, platform),
    StaticError,
  );
  return given[0] ?? {};
}

Deno.test("a host gets the saved key for every way to write its address, and for no other address", async () => {
  const saved = { apiUrl: "https://api.example", apiKey: "saved" };
  const keyFor = async (options: Partial<ConnectOptions>): Promise<unknown> =>
    (await givenTo(options, saved))["apiKey"];
  assertEquals(await keyFor({}), "saved");
  for (const apiUrl of ["https://api.example", "https://api.example/", "https://API.example:443"]) {
    assertEquals(await keyFor({ apiUrl }), "saved", apiUrl);
  }
  for (
    const apiUrl of [
      "https://api.example.net",
      "https://api.example/other",
      "http://api.example",
      "api.example",
    ]
  ) {
    assertEquals(await keyFor({ apiUrl }), undefined, apiUrl);
  }
  assertEquals(await keyFor({ apiUrl: "https://api.example/", apiKey: "given" }), "given");
});

Deno.test("a host trusts a relay by the authority that is saved for it, unless the program says whom to trust", async () => {
  const saved = { apiUrl: "https://api.example", apiKey: "saved", relayCaFile: "relay.pem" };
  const trustOf = async (
    options: Partial<ConnectOptions>,
    more: PlatformSettings = {},
  ): Promise<unknown> => (await givenTo(options, { ...saved, ...more }))["tls"];
  const none = { caCerts: [], relayCaCerts: [], certificateHashes: [] };
  assertEquals(await trustOf({}), { ...none, relayCaCerts: ["text of relay.pem"] });
  assertEquals(await trustOf({}, { caFile: "all.pem" }), { ...none, caCerts: ["text of all.pem"] });
  assertEquals(await trustOf({ tls: { relayCaCerts: ["given"] } }), {
    ...none,
    relayCaCerts: ["given"],
  });
});

Deno.test("a host may read the list of known agents, and no other file of its user", async () => {
  const { trustFile, readable } = await givenTo({ trust: "/home/x/trust.json" }, {});
  assertEquals([trustFile, readable], ["/home/x/trust.json", ["/home/x/trust.json"]]);
  const own = await givenTo({}, {});
  assertEquals([own["trustFile"], own["readable"]], [hostPlatform.findTrust(), [
    hostPlatform.findTrust(),
  ]]);
});

Deno.test("a host reads the badge of its agent from a file, also one that comes later, and calls no function for it", async () => {
  const trust = "/home/x/trust.json";
  const given = async (badge: ConnectOptions["badge"]): Promise<unknown> => {
    const { badge: told, readable } = await givenTo({ trust, badge }, {});
    return [told, readable];
  };
  assertEquals(await given("/home/x/badge"), ["/home/x/badge", [trust, "/home/x/badge"]]);
  assertEquals(await given("badge_AAAA"), ["badge_AAAA", [trust]]);
  assertEquals(await given(false), ["", [trust]]);
  assertEquals(await given(undefined), [undefined, [trust]]);
  assertEquals(await given(() => "badge_AAAA"), [undefined, undefined], "it is refused");
});
