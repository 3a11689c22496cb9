import { assertEquals, assertThrows } from "@std/assert";
import { Failure } from "../failure.ts";
import type { CommandPlatform } from "../platform/platform.ts";
import { readSettings, requireKey, type Settings } from "./settings.ts";

/**
 * With these flags, variables and credentials, on a machine where every other file is a certificate
 * named after it.
 */
async function settingsOf(
  flags: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>>,
  saved: Readonly<Record<string, string>> = {},
): Promise<Pick<Settings, "apiUrl" | "relayUrl" | "caFile">> {
  const given = { value: (name: string) => flags[name], has: () => false, rest: [] };
  const read = (path: string): Promise<string> =>
    Promise.resolve(path === "credentials" ? JSON.stringify(saved) : "-----BEGIN CERTIFICATE-----");
  const platform = {
    variable: (name: string) => variables[name],
    folders: { credentialsFile: "credentials" },
    files: { read, absolute: (path: string) => path },
  } as unknown as CommandPlatform; // cast: settings need no more of it
  const { apiUrl, relayUrl, caFile } = await readSettings({ given, platform });
  return { apiUrl, relayUrl, caFile };
}

Deno.test("the key of variables is not sent to --api-url of another API than the variables name", async () => {
  const key = { STATIC_API_KEY: "sk_live_key" };
  const platform = (variables: Readonly<Record<string, string>>): CommandPlatform =>
    ({
      variable: (name: string) => variables[name],
      folders: { credentialsFile: "credentials" },
      files: { read: () => Promise.resolve("{}"), absolute: (path: string) => path },
    }) as unknown as CommandPlatform; // cast: settings need no more of it
  const given = {
    value: (name: string) => name === "api-url" ? "https://flag" : undefined,
    has: () => false,
    rest: [],
  };
  const alone = await readSettings({ given, platform: platform(key) });
  assertEquals(alone.key, { apiKey: "sk_live_key", from: "environment" });
  const named = { ...key, STATIC_API_URL: "https://variable" };
  const other = await readSettings({ given, platform: platform(named) });
  assertEquals(other.key, undefined);
  assertThrows(() => requireKey(other), Failure, "STATIC_API_KEY is for https://variable");
});

Deno.test("the relay and the authority of variables are not used with --api-url of another API than the variables name", async () => {
  const alone = { STATIC_RELAY_URL: "quic://variable", STATIC_CA_FILE: "variable.pem" };
  const ofVariables = { relayUrl: "quic://variable", caFile: "variable.pem" };
  const [apiUrl, flags] = ["https://flag", { "api-url": "https://flag" }];
  assertEquals(await settingsOf(flags, alone), { apiUrl, ...ofVariables });
  const named = { ...alone, STATIC_API_URL: "https://variable" };
  assertEquals(await settingsOf({}, named), { apiUrl: "https://variable", ...ofVariables });
  const same = { "api-url": "https://VARIABLE:443/" };
  assertEquals(await settingsOf(same, named), { apiUrl: "https://variable", ...ofVariables });
  assertEquals(await settingsOf(flags, named), { apiUrl, relayUrl: undefined, caFile: undefined });
  const saved = { api_url: apiUrl, relay_url: "quic://saved", ca_file: "saved.pem" };
  assertEquals(await settingsOf(flags, named, saved), {
    apiUrl,
    relayUrl: "quic://saved",
    caFile: "saved.pem",
  });
  const asked = { ...flags, "relay-url": "quic://flag", "ca-file": "flag.pem" };
  assertEquals(await settingsOf(asked, named, saved), {
    apiUrl,
    relayUrl: "quic://flag",
    caFile: "flag.pem",
  });
});
