import { assertEquals } from "@std/assert";
import type { Credentials } from "../../proto/mod.ts";
import type { Context } from "../command.ts";
import type { Settings } from "../service/settings.ts";
import { saveDevice } from "./account.ts";

const apiUrl = "https://api.example.org";
const ofA: Credentials = {
  api_url: apiUrl,
  api_key: "key of A",
  email: "a@example.org",
  device: "old",
};

/** Returns what is saved then. */
async function saved(
  before: Credentials,
  about: { email?: string; key?: string; apiUrl?: string },
): Promise<unknown> {
  let written: string | undefined;
  const files = {
    writePrivate: (_: string, text: string) => {
      written = text;
      return Promise.resolve();
    },
  };
  const context = {
    platform: { files, folders: { credentialsFile: "file" } },
  } as unknown as Context; // cast: nothing else is used
  const { email, key } = about;
  const settings = {
    saved: before,
    apiUrl: about.apiUrl ?? apiUrl,
    key: key === undefined ? undefined : { apiKey: key, from: "environment" },
  } as Settings; // cast: nothing else is used
  const kept = await saveDevice(context, settings, {
    device: "new",
    ...(email !== undefined && { email }),
  });
  assertEquals(written === undefined ? before : JSON.parse(written), kept);
  return kept;
}

Deno.test("the token of a known place is saved for the account that is saved, and for no other", async () => {
  const renewed = { ...ofA, device: "new" };
  assertEquals(await saved(ofA, { email: "a@example.org" }), renewed);
  assertEquals(await saved(ofA, { email: "A@example.org" }), renewed);
  assertEquals(await saved(ofA, { key: "key of A" }), renewed);
  assertEquals(await saved(ofA, { email: "b@example.org" }), ofA);
  assertEquals(await saved(ofA, { key: "key of B" }), ofA);
  assertEquals(
    await saved(ofA, { email: "a@example.org", apiUrl: "https://other.example.org" }),
    ofA,
  );
  const first = { api_url: apiUrl, email: "b@example.org", device: "new" };
  assertEquals(await saved({}, { email: "b@example.org" }), first);
  assertEquals(await saved({}, { key: "key of B" }), {});
});
