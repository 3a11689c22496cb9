import { assertEquals } from "@std/assert";
import { Secret } from "../../server/secret.ts";
import type { AccountLifeStore } from "./account_store.ts";
import { createAccountLife } from "./account_life.ts";

Deno.test("a reset or a claim without its code costs no hash and changes nothing", async () => {
  const seen: string[] = [];
  const never = (name: string) => (): Promise<never> => {
    seen.push(name);
    return Promise.reject(new Error(name));
  };
  const store = {
    hasCode: ({ purpose }: { purpose: string }) => {
      seen.push(`asked for the ${purpose} code`);
      return Promise.resolve(false);
    },
    reset: never("reset"),
    claim: never("claim"),
  } as unknown as AccountLifeStore; // cast: nothing else may be asked for
  const life = createAccountLife({
    store,
    passwords: { hash: never("hash"), verify: never("verify") },
    keys: { issue: never("issue") },
    devices: { issue: () => undefined, find: never("find") },
    clock: () => 0,
    newId: () => crypto.randomUUID(),
    randomBytes: (length) => new Uint8Array(length),
    plan: "free",
  });
  const proof = { email: "a@example.com", code: "AAAA-AAAA-AAAA", party: { key: "client", isKnown: false } };
  const password = new Secret("a long password");
  assertEquals(await life.reset({ ...proof, newPassword: password, revokeKeys: false }), "code_invalid");
  assertEquals(await life.claim({ ...proof, password }), { outcome: "code_invalid" });
  assertEquals(seen, ["asked for the reset code", "asked for the claim code"]);
});
