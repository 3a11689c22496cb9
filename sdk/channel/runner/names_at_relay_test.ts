// Names of channels at a relay that lies about them.
import { assertEquals, assertRejects } from "@std/assert";
import { parseChannelId, parseChannelName } from "../../../proto/mod.ts";
import { createError, StaticError } from "../../base/errors.ts";
import { askOfNames, type RelayCaller } from "./names_at_relay.ts";

const name = parseChannelName("acme/ops/deploy");
const channelId = parseChannelId("A".repeat(22));

/** A relay that says that the name is taken, and lists this on every page. */
function lyingRelay(
  { more, ...listed }: { name: string; createdAtMs: number; more: boolean },
): RelayCaller & {
  readonly asked: string[];
} {
  const asked: string[] = [];
  const page = { channels: [{ channelId, owned: true, members: 1, ...listed }], more };
  const call = (operation: string): Promise<unknown> => {
    asked.push(operation);
    return operation === "ListChannels"
      ? Promise.resolve(page)
      : Promise.reject(createError("name_taken", "Taken"));
  };
  return { asked, call: call as RelayCaller["call"] }; // cast: of these two operations
}

Deno.test("a taken name is told as such, also when the relay gives the channel a time that there is not", async () => {
  for (const createdAtMs of [0, Number.MAX_SAFE_INTEGER]) {
    const relay = lyingRelay({ name, createdAtMs, more: false });
    const creating = (): Promise<unknown> =>
      askOfNames({ of: "CreateChannel", name, nonce: "00".repeat(16) }, relay);
    const error = await assertRejects(creating, StaticError, "This account has a channel");
    assertEquals([error.code, error.message.includes("1970-01-01")], [
      "name_taken",
      createdAtMs === 0,
    ]);
  }
});

Deno.test("a list of channels that does not end is asked for a thousand pages, and no more", async () => {
  const relay = lyingRelay({ name: "acme/ops/other", createdAtMs: 0, more: true });
  const error = await assertRejects(
    () => askOfNames({ of: "ListChannels", name }, relay),
    StaticError,
    "does not end",
  );
  assertEquals([error.code, relay.asked.length], ["protocol_error", 1000]);
});
