import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { ed25519 } from "@noble/curves/ed25519.js";
import { runAdmin } from "../../api/mod.ts";
import { type Badge, badgeKeyStatement, verifyBadge } from "../../proto/mod.ts";
import { badgeOf, issuerOf, newAgentId } from "./extended/badges.ts";
import { anyBackend, readTestConfig, signUp, startTestApi } from "../support/api/harness.ts";
import { eventually } from "../support/mod.ts";

const [minuteMs, dayMs] = [60_000, 86_400_000];

Deno.test("administration beside a running API", async (t) => {
  const backend = await anyBackend.open();
  const api = await startTestApi(backend.environment);
  const config = readTestConfig(backend.environment);
  const admin = (...args: string[]): Promise<string> =>
    runAdmin(args, config, () => Date.now() + api.clock.aheadMs);
  const { apiKey, email } = await signUp(api.call);
  const token = async (): Promise<string> =>
    (await api.call("POST", "/v1/tokens", { key: apiKey })).json.token;
  const jwks = async (): Promise<{ keys: { kid: string }[] }> =>
    (await api.call("GET", "/.well-known/jwks.json")).json;
  try {
    await t.step(
      "set-plan changes limit and tokens; unknown plans and accounts are named",
      async () => {
        assertStringIncludes(
          await admin("set-plan", email.toUpperCase(), "dev"),
          "is now on plan dev",
        );
        const { json } = await api.call("GET", "/v1/usage", { key: apiKey });
        assertEquals([json.plan, json.messages.limit], ["dev", 500_000]);
        assertEquals(JSON.parse(atob((await token()).split(".")[1] ?? "")).plan, "dev");
        await assertRejects(() => admin("set-plan", email, "gold"), Error, "there is no plan gold");
        await assertRejects(
          () => admin("set-plan", "nobody@example.com", "dev"),
          Error,
          "has no account",
        );
      },
    );

    await t.step("set-limit changes a plan for everybody on it", async () => {
      await admin("set-limit", "dev", "42");
      assertEquals((await api.call("GET", "/v1/usage", { key: apiKey })).json.messages.limit, 42);
      await admin("set-limit", "dev", "unlimited");
      assertEquals((await api.call("GET", "/v1/usage", { key: apiKey })).json.messages.limit, null);
      await assertRejects(() => admin("set-limit", "dev", "-1"), Error, "neither a number");
    });

    await t.step("unknown commands get the usage", async () => {
      for (
        const args of [[], ["set-plan"], ["drop-table"], ["rotate-jwt-key", "x"], [
          "rotate-badge-key",
          "x",
        ]]
      ) {
        await assertRejects(() => admin(...args), Error, "deno task admin set-plan");
      }
    });

    await t.step(
      "rotate-jwt-key: published before it signs, the old key retired after its last token expired",
      async () => {
        const before = await token();
        const [old] = (await jwks()).keys;
        await admin("rotate-jwt-key");
        // The running process reads the file again within two seconds; verifiers have ten minutes.
        const published = await eventually(
          { what: "two keys" },
          jwks,
          ({ keys }) => keys.length === 2,
        );
        const fresh = published.keys.find(({ kid }) => kid !== old?.kid);
        assertEquals(decodeProtectedHeader(await token()).kid, old?.kid);

        api.clock.aheadMs += 11 * minuteMs;
        const after = await token();
        assertEquals(decodeProtectedHeader(after).kid, fresh?.kid);
        const both = createLocalJWKSet(await jwks() as Parameters<typeof createLocalJWKSet>[0]);
        for (const text of [before, after]) {
          await jwtVerify(text, both, { currentDate: new Date(Date.now() + api.clock.aheadMs) });
        }
        api.clock.aheadMs += 59 * minuteMs;
        assertEquals((await jwks()).keys.length, 2);
        api.clock.aheadMs += 3 * minuteMs;
        assertEquals((await jwks()).keys.map(({ kid }) => kid), [fresh?.kid ?? ""]);
      },
    );

    await t.step(
      "rotate-badge-key: endorsed by the old key and published at once, signs two days later, replaces it a month after that",
      async () => {
        const issue = async (): Promise<Badge> =>
          await badgeOf(
            api,
            await api.call("POST", "/v1/badges", {
              key: apiKey,
              body: { agent_id: newAgentId() },
            }),
          );
        const before = await issue();
        const [old] = (await issuerOf(api)).keys;
        assertStringIncludes(await admin("rotate-badge-key"), "signs in 2 days, and");
        const { keys: [fresh, second], closed } = await eventually(
          { what: "two keys" },
          () => issuerOf(api),
          ({ keys }) => keys.length === 2,
        );
        assert(fresh?.endorsement !== undefined && old !== undefined);
        assertEquals([second, fresh.endorsement.by, closed], [old, old.kid, []]);
        const statement = badgeKeyStatement({ domain: "static.localhost", key: fresh.key });
        assert(ed25519.verify(fresh.endorsement.signature, statement, old.key));
        api.clock.aheadMs += 2 * dayMs - minuteMs;
        assertEquals((await issue()).issuerKey, old.key);
        api.clock.aheadMs += minuteMs;
        const after = await issue();
        assertEquals(after.issuerKey, fresh.key);
        assert(verifyBadge(after) && verifyBadge(before));
        assertEquals((await issuerOf(api)).closed, [old.kid], "it issues no more badges");
        api.clock.aheadMs += 30 * dayMs;
        assertEquals((await issuerOf(api)).keys.length, 2);
        api.clock.aheadMs += 2 * minuteMs;
        // The name of the key that endorsed stays, because a reader may have nothing newer.
        const { keys, closed: still } = await issuerOf(api);
        assertEquals([keys.map(({ kid }) => kid), still], [[fresh.kid], [old.kid]]);
        assertEquals((await jwks()).keys.length, 1, "token keys have not moved");
      },
    );

    await t.step(
      "keys given as text cannot be rotated in place, and the command says what to do",
      async () => {
        const text = await Deno.readTextFile(`${config.dataDir}/jwt_keys.json`);
        const inline = readTestConfig({ ...backend.environment, STATIC_JWT_KEYS: text });
        const error = await assertRejects(
          () => runAdmin(["rotate-jwt-key"], inline),
          Error,
          "into a file",
        );
        assert(!error.message.includes(JSON.parse(text).keys[0].d));
      },
    );
  } finally {
    await api.close();
    await backend.close();
  }
});
