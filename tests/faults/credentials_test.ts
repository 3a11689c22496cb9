/** Keys, tokens and money that run out under agents that are connected, on a real stack. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { StaticClient, StaticError } from "../../sdk/mod.ts";
import { relaySecret, signUp } from "../support/api/harness.ts";
import { createRandom, eventually, seedFromEnvironment } from "../support/mod.ts";
import { add, codeOf, optionsFor } from "./clients.ts";
import { Stack } from "./stack.ts";

const kid = "fault-tests";
const leastSeconds = 3;

interface Signer {
  readonly ring: string;
  token(account: string, lifetimeSeconds: number): Promise<string>;
}

/** The API's own signing key, in our hands: for tokens that live for seconds. */
async function createSigner(): Promise<Signer> {
  const { privateKey } = await generateKeyPair("EdDSA", { extractable: true });
  return {
    ring: JSON.stringify({ keys: [{ ...await exportJWK(privateKey), kid }] }),
    token: (account, lifetimeSeconds) => {
      const now = Math.floor(Date.now() / 1000);
      const claims = {
        sub: account,
        plan: "free",
        iss: "static-api",
        iat: now,
        exp: now + lifetimeSeconds,
      };
      return new SignJWT(claims).setProtectedHeader({ alg: "EdDSA", typ: "JWT", kid }).sign(
        privateKey,
      );
    },
  };
}

/** The texts of a loop, up to this one. */
async function upTo(wanted: string, messages: AsyncIterator<Uint8Array>): Promise<string[]> {
  const texts: string[] = [];
  while (texts.at(-1) !== wanted) {
    texts.push(new TextDecoder().decode((await messages.next()).value));
  }
  return texts;
}

Deno.test("keys, tokens and quota that run out under connected agents", async (t) => {
  const signer = await createSigner();
  await using stack = await Stack.start({
    random: createRandom(seedFromEnvironment()),
    ways: ["all"],
    api: { STATIC_JWT_KEYS: signer.ring },
    relay: { STATIC_RELAY_DRAIN_SECONDS: "1" },
  });
  const { account, api } = stack;
  const credentials = { apiKey: account.apiKey, apiUrl: api.url };
  await using ann = await StaticClient.connect({ ...optionsFor(stack, "ann"), ...credentials });
  const channel = await ann.createChannel("acme/faults/credentials");
  const heard = channel.messages();

  await t.step(
    "tokens of a few seconds, renewed on the open session: no message fails, none is lost",
    async () => {
      let renewals = 0;
      const token = (): Promise<string> => {
        renewals++;
        return signer.token(account.id, leastSeconds);
      };
      await using ben = await StaticClient.connect({ ...optionsFor(stack, "ben"), token });
      const joined = await add(channel, ben);
      const said: string[] = [];
      while (renewals < 3) {
        said.push(`ben ${said.length}`);
        await joined.send(said.at(-1) ?? "");
        // wait: the pace of the talk, until tokens were renewed
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      assertEquals(await upTo(said.at(-1) ?? "", heard), said);
      await joined.leave();
    },
  );

  await t.step(
    "a token that cannot be renewed ends the session when it expires, typed",
    async () => {
      const token = await signer.token(account.id, leastSeconds);
      await using cat = await StaticClient.connect({ ...optionsFor(stack, "cat"), token });
      const joined = await add(channel, cat);
      await joined.send("while it lasts");
      await upTo("while it lasts", heard);
      // Until the relay has said so, it is a connection that was lost.
      await eventually(
        { what: "the end of the session" },
        () => codeOf(joined.send("perhaps", { timeoutMs: 1_000 })),
        (code) => code === "auth_failed",
      );
    },
  );

  await t.step(
    "a revoked key connects no more; the session it opened goes on until its token expires",
    async () => {
      const { json: spare } = await api.call("POST", "/v1/keys", {
        key: account.apiKey,
        body: { name: "spare" },
      });
      const options = { ...optionsFor(stack, "dan"), apiKey: spare.key, apiUrl: api.url };
      await using dan = await StaticClient.connect(options);
      const joined = await add(channel, dan);
      assertEquals(
        (await api.call("DELETE", `/v1/keys/${spare.id}`, { key: account.apiKey })).status,
        204,
      );
      const again = { ...options, dataDir: `${stack.folder}/dan again` };
      assertEquals(await codeOf(StaticClient.connect(again)), "auth_key_invalid");
      await joined.send("still here");
      await upTo("still here", heard);
      await joined.leave();
    },
  );

  await t.step("a stolen token does not make anybody the agent that it was issued to", async () => {
    const token = await signer.token(account.id, 60);
    await using eve = await StaticClient.connect({
      ...optionsFor(stack, "ann's thief"),
      identity: "ann",
      token,
    });
    assert(eve.agentId !== ann.agentId);
    await assertRejects(() => eve.channel(channel.name), StaticError);
    await assertRejects(() => eve.joinChannel(channel.name), StaticError);
  });

  await t.step(
    "100 sends at once with one message left: exactly one is accepted and counted",
    async () => {
      // Of an account that has sent nothing: the relay holds no lease of it.
      const { apiKey } = await signUp(api.call);
      await using fay = await StaticClient.connect({
        ...optionsFor(stack, "fay"),
        apiKey,
        apiUrl: api.url,
      });
      const own = await fay.createChannel("acme/faults/quota");
      await stack.admin("set-limit", "free", "1");
      const outcomes = await Promise.all(
        Array.from({ length: 100 }, (_, i) => codeOf(own.send(`last ${i}`))),
      );
      assertEquals(outcomes.filter((code) => code === "fulfilled").length, 1);
      assertEquals(outcomes.filter((code) => code === "quota_exceeded").length, 99);
      assertEquals(await settledUsage(stack, apiKey), 1);
    },
  );
});

/**
 * The API's count when the relay has given back all its leases: it gives them back when an account
 * is quiet, or stops.
 */
async function settledUsage(stack: Stack, apiKey: string): Promise<number> {
  const relayId = await Deno.readTextFile(`${stack.folder}/relay/relay_id`);
  stack.relay.signal("SIGTERM");
  await stack.relay.finished();
  const open = await stack.api.call("GET", `/internal/v1/leases?relay_id=${relayId}`, {
    key: relaySecret,
  });
  assertEquals(open.json.leases, []);
  return (await stack.api.call("GET", "/v1/usage", { key: apiKey })).json.messages.used;
}
