import { assertEquals } from "@std/assert";
import { createRandom, type Random, seedFromEnvironment } from "../support/mod.ts";
import { inCampaign, tried } from "../support/campaign.ts";
import { anyBackend, type SignedUp, startTestApi, type TestApi } from "../support/api/harness.ts";

const operations = inCampaign ? 20_000 : 150;

interface ModelKey {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  active: boolean;
}

interface ModelAccount extends SignedUp {
  readonly keys: ModelKey[];
}

/** One random operation on one account, compared with what a plain list of keys would answer. */
async function step(
  api: TestApi,
  random: Random,
  accounts: readonly ModelAccount[],
): Promise<void> {
  const account = random.pick(accounts);
  const { key: bearer, active } = random.pick(account.keys);
  const refused = active ? undefined : 401;
  switch (random.below(5)) {
    case 0: {
      const name = `key ${random.below(1000)}`;
      const { status, json } = await api.call("POST", "/v1/keys", { key: bearer, body: { name } });
      assertEquals(status, refused ?? 200);
      if (status === 200) account.keys.push({ id: json.id, key: json.key, name, active: true });
      return;
    }
    case 1: {
      const owner = random.chance(0.8) ? account : random.pick(accounts);
      const target = random.pick(owner.keys);
      const last = owner.keys.filter(({ active }) => active).length === 1;
      if (last && target.active) return;
      const { status } = await api.call("DELETE", `/v1/keys/${target.id}`, { key: bearer });
      assertEquals(status, refused ?? (owner === account && target.active ? 204 : 404));
      if (status === 204) target.active = false;
      return;
    }
    case 2: {
      const { status, json } = await api.call("GET", "/v1/keys", { key: bearer });
      assertEquals(status, refused ?? 200);
      if (status !== 200) return;
      const listed = json.keys.map(({ id, name }: ModelKey) => `${id} ${name}`);
      assertEquals(
        listed.sort(),
        account.keys.filter(({ active }) => active).map(({ id, name }) => `${id} ${name}`).sort(),
      );
      return;
    }
    case 3:
      assertEquals((await api.call("POST", "/v1/tokens", { key: bearer })).status, refused ?? 200);
      return;
    default: {
      const { email, password } = account;
      const right = random.chance(0.7);
      const { status, json } = await api.call("POST", "/v1/accounts/keys", {
        body: { email, password: right ? password : `${password}x`, name: "recovered" },
      });
      assertEquals(status, right ? 200 : 401);
      if (right) {
        account.keys.push({ id: json.id, key: json.api_key, name: "recovered", active: true });
      }
    }
  }
}

Deno.test(`${operations} random operations on three accounts answer as a plain list of keys would`, async () => {
  const random = createRandom(seedFromEnvironment());
  const backend = await anyBackend.open();
  const api = await startTestApi({ ...backend.environment, STATIC_MAX_KEYS: "10000" });
  try {
    const accounts: ModelAccount[] = [];
    for (let i = 0; i < 3; i++) {
      const account = await api.signUp();
      accounts.push({
        ...account,
        keys: [{ id: account.keyId, key: account.apiKey, name: "default", active: true }],
      });
    }
    for (let i = 0; i < operations; i++) {
      try {
        await step(api, random, accounts);
      } catch (error) {
        throw new Error(`operation ${i} of STATIC_TEST_SEED=${random.seed}`, { cause: error });
      }
    }
    tried(`${operations} random operations on keys`);
  } finally {
    await api.close();
    await backend.close();
  }
});
