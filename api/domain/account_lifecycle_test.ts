import { assertEquals, assertRejects } from "@std/assert";
import { parseAccountId } from "../../proto/mod.ts";
import { Secret } from "../../server/secret.ts";
import type { AccountLifecycleStore } from "./account_store.ts";
import { type AccountLifecycleDeps, createAccountLife } from "./account_lifecycle.ts";
import { Fault } from "./fault.ts";
import { createRateLimiter } from "./rate_limit.ts";

const never = (name: string) => (): Promise<never> => Promise.reject(new Error(name));

function depsWith(store: Partial<AccountLifecycleStore>, clock = { now: 0 }): AccountLifecycleDeps {
  const now = (): number => clock.now;
  return {
    store: store as AccountLifecycleStore, // cast: nothing else may be asked for
    passwords: { hash: never("hash"), verify: never("verify") },
    keys: { issue: never("issue") },
    devices: { issue: () => undefined, find: never("find") },
    clock: now,
    newId: () => crypto.randomUUID(),
    randomBytes: (length) => new Uint8Array(length),
    plan: "free",
    resetMails: createRateLimiter("reset-mails", { limit: 3, windowMs: 3_600_000 }, now),
  };
}

Deno.test("a reset or a claim without its code costs no hash and changes nothing", async () => {
  const seen: string[] = [];
  const life = createAccountLife(depsWith({
    hasCode: ({ purpose }) => {
      seen.push(purpose);
      return Promise.resolve(false);
    },
  }));
  const proof = {
    email: "a@example.com",
    code: "AAAA-AAAA-AAAA",
    party: { key: "client", isKnown: false },
  };
  const password = new Secret("a long password");
  assertEquals(
    await life.reset({ ...proof, newPassword: password, revokeKeys: false }),
    "code_invalid",
  );
  assertEquals(await life.claim({ ...proof, password }), { outcome: "code_invalid" });
  assertEquals(seen, ["reset", "claim"]);
});

Deno.test("a mailbox gets three mails for resets in an hour, whatever becomes of its codes and accounts", async () => {
  const clock = { now: 0 };
  const sent: string[] = [];
  let outcome: "added" | "recent" | Error = "added";
  const life = createAccountLife(depsWith({
    findLogin: (by) =>
      Promise.resolve({
        id: parseAccountId(crypto.randomUUID()),
        email: "emailKey" in by ? by.emailKey : null,
        passwordHash: "",
        isSuspended: false,
        isVerified: true,
      }),
    // As if each code had ended with its password.
    addCode: (_, { recipient }) => {
      if (outcome instanceof Error) return Promise.reject(outcome);
      if (outcome === "added") sent.push(recipient);
      return Promise.resolve(outcome);
    },
  }, clock));
  // Those that send nothing cost nothing.
  outcome = "recent";
  for (let i = 0; i < 5; i++) await life.askReset("a@example.com");
  outcome = new Fault("overloaded", "");
  for (let i = 0; i < 5; i++) await assertRejects(() => life.askReset("a@example.com"), Fault);
  outcome = "added";
  for (let i = 0; i < 5; i++) await life.askReset("a@example.com");
  for (let i = 0; i < 5; i++) await life.askReset(`a+${i}@example.com`);
  const [plain, alias] = ["a@example.com", "a+0@example.com"];
  assertEquals(sent, [plain, plain, plain, alias, "a+1@example.com", "a+2@example.com"]);
  clock.now += 3_600_000;
  await life.askReset(plain);
  assertEquals(sent.length, 7);
});
