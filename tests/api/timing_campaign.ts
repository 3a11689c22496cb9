import { assert, assertEquals } from "@std/assert";
import { encodeApiKey } from "../../proto/mod.ts";
import { anyBackend, startTestApi } from "../support/api/harness.ts";

/**
 * The statistic: the ratio of the lower quartiles of two interleaved samples. The lower quartile,
 * because noise of a shared machine only ever adds time. Without the decoy hash the ratio is below
 * 0.1, so the threshold is generous both ways.
 */
const threshold = 1.5;

async function compareTimes(
  rounds: number,
  first: () => Promise<unknown>,
  second: () => Promise<unknown>,
): Promise<number> {
  const samples: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    for (const [index, act] of [first, second].entries()) {
      const started = performance.now();
      await act();
      samples[index]?.push(performance.now() - started);
    }
  }
  const [a = 0, b = 0] = samples.map((times) => times.sort((x, y) => x - y)[times.length >> 2]);
  return a / b;
}

Deno.test("unknown and wrong take alike, for accounts and for keys, with the production profiles", async (t) => {
  const backend = await anyBackend.open();
  const api = await startTestApi({
    ...backend.environment,
    STATIC_PASSWORD_ARGON2: "m=19456,t=2,p=1",
    // So many are used up by the first pair, and do not come back.
    STATIC_RATE_PASSWORDS: "24/86400",
  });
  try {
    const { id, email, apiKey } = await api.signUp();
    const password = "not the password";
    const refused = async (path: string, body: object): Promise<void> => {
      assertEquals((await api.call("POST", path, { body })).status, 401);
    };
    // Refused before anything is looked up, so that no hash hides what a look-up takes.
    const limited = async (address: string): Promise<void> => {
      const headers = { "static-device": "A".repeat(91) };
      const { status } = await api.call("POST", "/v1/accounts/keys", {
        body: { email: address, password },
        headers,
      });
      assertEquals(status, 429);
    };
    const refusedKey = async (lookup: string): Promise<void> => {
      const key = encodeApiKey({ environment: "live", lookup, secret: "0".repeat(32) });
      assertEquals((await api.call("POST", "/v1/tokens", { key })).status, 401);
    };
    const pairs = {
      "unknown e-mail and wrong password": () =>
        compareTimes(
          12,
          () => refused("/v1/accounts/keys", { email: "nobody@example.com", password }),
          () => refused("/v1/accounts/keys", { email, password }),
        ),
      "unknown account id and wrong password": () =>
        compareTimes(
          12,
          () => refused(`/v1/accounts/${crypto.randomUUID()}/keys`, { password }),
          () => refused(`/v1/accounts/${id}/keys`, { password }),
        ),
      "unknown and known e-mail beyond the budget, with a token that somebody made up": () =>
        compareTimes(200, () => limited("nobody@example.com"), () => limited(email)),
      "unknown key and wrong key": () =>
        compareTimes(40, () => refusedKey("00000000"), () => refusedKey(apiKey.slice(8, 16))),
    };
    for (const [name, compare] of Object.entries(pairs)) {
      await t.step(name, async () => {
        const ratio = await compare();
        assert(
          ratio < threshold && ratio > 1 / threshold,
          `ratio of lower quartiles: ${ratio.toFixed(3)}`,
        );
      });
    }
  } finally {
    await api.close();
    await backend.close();
  }
});
