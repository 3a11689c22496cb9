/**
 * Tokens that the API's key signed, with numbers that the API never writes: each is refused, and
 * nobody else notices.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { TestAgent } from "../support/relay/agent.ts";
import { openQuic } from "../support/relay/deno_clients.ts";
import { besiegedRelay } from "../support/hostile/besieged_relay.ts";

const nowS = Math.floor(Date.now() / 1_000);
const numbers: Readonly<Record<string, string>> = {
  "an end beyond all numbers": '"exp":1e400',
  "an end before all numbers": '"exp":-1e400',
  "an end far away": '"exp":1e300',
  "an end that no date can be": '"exp":8640000000001',
  "an end in years": `"exp":${nowS + 10 * 365 * 86_400}`,
  "a negative end": '"exp":-5',
  "a fraction as its end": `"exp":${nowS + 3_600}.5`,
  "no end": '"exp":null',
  "a text as its end": `"exp":"${nowS + 3_600}"`,
  "a beginning before all numbers": '"iat":-1e400',
  "a negative beginning": '"iat":-1',
  "a fraction as its beginning": `"iat":${nowS}.5`,
  "no beginning": '"iat":null',
};

Deno.test("a signed token with a number that is none costs its own session, not the relay", async () => {
  await using relay = await besiegedRelay();
  const origin = `quic://localhost:${relay.quicPort}`;
  const open = (): ReturnType<typeof openQuic> => openQuic(relay.quicPort, relay.ca);
  for (const [what, claims] of Object.entries(numbers)) {
    const client = await open();
    const agent = new TestAgent({ open, origin }, client, crypto.randomUUID());
    const token = await relay.keys.sign(agent.account, claims);
    const outcome = await agent.authenticate(client, token).then(
      () => "accepted",
      (error) => String(error),
    );
    client.close();
    assertStringIncludes(outcome, "auth_failed", what);
    await relay.honest(AbortSignal.timeout(10_000));
  }
  assertEquals(relay.process.output().match(/"event":"fault"/g), null);
  assert(!relay.process.output().includes("error: Uncaught"));
});
