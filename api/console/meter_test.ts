// The numbers of the privacy meter are those of the SDK's tap, over real connections.
import { assertEquals, assertGreater } from "@std/assert";
import { StaticClient } from "static-sdk";
import { coverChoices, megabytesADay, PrivacyMeter } from "./page/live/meter.ts";
import { startStack } from "../../tests/support/stack.ts";

Deno.test("the meter counts every cell that the tap shows, real and cover, and reads what the relay reads", async () => {
  await using stack = await startStack();
  const meter = new PrivacyMeter();
  const bytes = { sent: 0, received: 0 };
  const client = await StaticClient.connect({
    endpoint: stack.quicUrl,
    apiUrl: stack.api.url,
    apiKey: stack.account.apiKey,
    tls: { caFile: stack.caFile },
    dataDir: `${stack.relayDir}/metered`,
    identity: "metered",
    cover: { mode: "constant", intervalMs: 50 },
    tap: (cells, cellBytes, direction) => {
      bytes[direction] += cells.length;
      meter.tap(cells, cellBytes, direction);
    },
  });
  const channel = await client.createChannel("acme/ops/metered");
  await channel.send("a secret");
  await client.close();
  for (const direction of ["sent", "received"] as const) {
    const { real, cover } = meter.totals(direction);
    assertEquals(real + cover, Math.floor(bytes[direction] / 4096), direction);
    assertGreater(real, 2);
  }
  const texts = meter.sights.map(({ text }) => text.replace(/\d+ bytes/, "N bytes"));
  assertEquals(texts, ["SendMessage: epoch 0, N bytes", "CreateChannel acme/ops/metered"]);
});

Deno.test("the price of cover is told in megabytes a day, both ways", () => {
  assertEquals(coverChoices.map((choice) => Math.round(megabytesADay(choice))), [0, 71, 2831]);
});
