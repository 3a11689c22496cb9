import { assert, assertEquals, assertMatch } from "@std/assert";
import { type AccountId, parseAccountId } from "../../proto/mod.ts";
import { Secret } from "../../server/secret.ts";
import { createDevices, deviceLifetimeMs, type Devices } from "./devices.ts";

const id = parseAccountId("00000000-0000-0000-0000-000000000001");
const login = { email: "Owner@example.com", passwordHash: "$argon2id$one" };

interface Scene {
  readonly devices: Devices;
  readonly clock: { now: number };
  readonly account: { passwordHash: string };
  readonly lookups: string[];
}

function createScene(secret = "a secret of the deployment"): Scene {
  const clock = { now: 1_790_000_000_000 };
  const account = { passwordHash: login.passwordHash };
  const lookups: string[] = [];
  const devices = createDevices({
    secret: new Secret(secret),
    clock: () => clock.now,
    randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    store: {
      findLogin: (by) => {
        const key = "emailKey" in by ? by.emailKey : by.id;
        lookups.push(key);
        const found = { id, email: login.email, ...account, isSuspended: false, isVerified: true };
        return Promise.resolve(key === "owner@example.com" ? found : undefined);
      },
    },
  });
  return { devices, clock, account, lookups };
}

const tokenOf = (devices: Devices): string => devices.issue(login)?.reveal() ?? "";

Deno.test("a place is known to the account of its address, in any spelling, for ninety days and one password", async () => {
  const { devices, clock, account } = createScene();
  const token = tokenOf(devices);
  assertMatch(token, /^[\w-]{91}$/);
  assert(token !== tokenOf(devices));
  const find = (email = "OWNER@example.com"): Promise<AccountId | undefined> =>
    devices.find(token, email);
  assertEquals(await find(), id);
  clock.now += deviceLifetimeMs - 1000;
  assertEquals(await find(), id);
  clock.now += 1000;
  assertEquals(await find(), undefined);
  clock.now -= deviceLifetimeMs;
  account.passwordHash = "$argon2id$two";
  assertEquals(await find(), undefined);
  assertEquals(devices.issue({ ...login, email: null }), undefined);
});

Deno.test("a token that this service did not give for the address is refused before anything is looked up", async () => {
  const { devices, clock, lookups } = createScene();
  const token = tokenOf(devices);
  assertEquals(await devices.find(token, "other@example.com"), undefined);
  const bytes = Uint8Array.fromBase64(token, { alphabet: "base64url" });
  for (let index = 0; index < bytes.length; index++) {
    const changed = bytes.slice();
    changed[index] = (changed[index] ?? 0) ^ 1;
    const text = changed.toBase64({ alphabet: "base64url", omitPadding: true });
    assertEquals(await devices.find(text, login.email), undefined, `byte ${index}`);
  }
  for (
    const text of [
      "",
      "x",
      token.slice(1),
      `${token}A`,
      `${token}AA`,
      "A".repeat(91),
      tokenOf(createScene("other").devices),
    ]
  ) {
    assertEquals(await devices.find(text, login.email), undefined, text);
  }
  clock.now += deviceLifetimeMs;
  assertEquals(await devices.find(token, login.email), undefined);
  assertEquals(lookups, []);
});
