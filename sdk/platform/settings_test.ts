import { assertEquals, assertRejects } from "@std/assert";
import { StaticError } from "../base/errors.ts";
import { findCredentials, readSettings } from "./settings.ts";

/** With these variables and no others of ours, and with this credentials file if one is given. */
async function withSettings(
  { variables = {}, file }: { variables?: Record<string, string>; file?: string },
  act: (path: string) => Promise<void>,
): Promise<void> {
  const names = [
    "STATIC_API_KEY",
    "STATIC_API_URL",
    "STATIC_RELAY_URL",
    "STATIC_CA_FILE",
    "XDG_CONFIG_HOME",
  ];
  const before = names.map((name) => Deno.env.get(name));
  const folder = await Deno.makeTempDir({ prefix: "static-settings-" });
  for (const name of names) Deno.env.delete(name);
  for (const [name, value] of Object.entries({ ...variables, XDG_CONFIG_HOME: folder })) {
    Deno.env.set(name, value);
  }
  try {
    const path = `${folder}/static/credentials.json`;
    if (file !== undefined) {
      await Deno.mkdir(`${folder}/static`);
      await Deno.writeTextFile(path, file);
    }
    await act(path);
  } finally {
    names.forEach((name, i) => {
      const value = before[i];
      if (value === undefined) Deno.env.delete(name);
      else Deno.env.set(name, value);
    });
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("without variables and without a file there are no settings", async () => {
  await withSettings({}, async (path) => {
    assertEquals(findCredentials(), path);
    assertEquals(await readSettings(), {});
  });
});

Deno.test("variables come before the file, empty ones count as absent, and what the file holds besides is ignored", async () => {
  const file = JSON.stringify({
    api_key: "from file",
    api_url: "https://file",
    relay_url: 5,
    other: "x",
  });
  const variables = {
    STATIC_API_KEY: "from variable",
    STATIC_API_URL: "",
    STATIC_CA_FILE: "ca.pem",
  };
  await withSettings({ file, variables }, async () => {
    assertEquals(await readSettings(), {
      apiKey: "from variable",
      apiUrl: "https://file",
      caFile: "ca.pem",
    });
  });
});

Deno.test("a saved key is not used at an address that a variable names, unless it is the key's own", async () => {
  const file = JSON.stringify({ api_key: "saved", api_url: "https://file" });
  await withSettings({ file, variables: { STATIC_API_URL: "https://other" } }, async () => {
    assertEquals(await readSettings(), { apiUrl: "https://other" });
  });
  await withSettings({ file, variables: { STATIC_API_URL: "https://file/" } }, async () => {
    assertEquals(await readSettings(), { apiKey: "saved", apiUrl: "https://file/" });
  });
});

Deno.test("the saved relay and its authorities are used for the saved API alone", async () => {
  const saved = {
    api_url: "https://file",
    relay_url: "quic://file",
    ca_file: "file.pem",
    relay_ca_file: "relay.pem",
  };
  const ofFile = {
    relayUrl: "quic://file",
    isRelaySaved: true,
    caFile: "file.pem",
    relayCaFile: "relay.pem",
  };
  const file = JSON.stringify(saved);
  await withSettings({ file }, async () => {
    assertEquals(await readSettings(), { apiUrl: "https://file", ...ofFile });
    assertEquals(await readSettings({ apiUrl: "https://file/" }), {
      apiUrl: "https://file",
      ...ofFile,
    });
    assertEquals(await readSettings({ apiUrl: "https://other" }), { apiUrl: "https://file" });
  });
  const other = { STATIC_API_URL: "https://other" };
  await withSettings(
    { file, variables: { ...other, STATIC_RELAY_URL: "quic://other" } },
    async () => {
      assertEquals(await readSettings(), { apiUrl: "https://other", relayUrl: "quic://other" });
    },
  );
});

Deno.test("the relay and the authority of variables are not used by a program that names another API than the variables do", async () => {
  const variables = { STATIC_RELAY_URL: "quic://variable", STATIC_CA_FILE: "variable.pem" };
  const ofVariables = { relayUrl: "quic://variable", caFile: "variable.pem" };
  await withSettings({ variables }, async () => {
    assertEquals(await readSettings({ apiUrl: "https://program" }), ofVariables);
  });
  const apiUrl = "https://variable";
  const file = JSON.stringify({ api_url: "https://file", relay_url: "quic://file" });
  await withSettings({ file, variables: { ...variables, STATIC_API_URL: apiUrl } }, async () => {
    assertEquals(await readSettings(), { apiUrl, ...ofVariables });
    assertEquals(await readSettings({ apiUrl: "https://VARIABLE/" }), { apiUrl, ...ofVariables });
    assertEquals(await readSettings({ apiUrl: "https://program" }), { apiUrl });
    assertEquals(await readSettings({ apiUrl: "https://file" }), {
      apiUrl,
      relayUrl: "quic://file",
      isRelaySaved: true,
    });
  });
});

for (const file of ["", "{", "[]5", "null", "x".repeat(70_000)]) {
  Deno.test(`a credentials file of ${file.length} bytes that is no object is refused, and its content is not told`, async () => {
    await withSettings({ file }, async (path) => {
      const error = await assertRejects(() => readSettings(), StaticError, path);
      assertEquals([error.code, error.cause], ["auth_failed", undefined]);
      assertEquals(error.message.includes("xxx"), false);
    });
  });
}
