import { assertEquals, assertNotEquals } from "@std/assert";
import { parseAccountId, type TokenGrant } from "../../proto/mod.ts";
import { createTokens } from "./tokens.ts";

const ann = parseAccountId("0b9f0a4e-7c1d-4c55-9d0e-1f6f2a9d3c11");
const ben = parseAccountId("5f0c3c1e-8d6b-4e0e-9f0a-2f6f7c1f9a11");

Deno.test("what is the same token anyway is signed once a second, and nobody gets another's", () => {
  const clock = { nowMs: Date.UTC(2026, 10, 15) };
  const state = { signed: 0, kid: "first" };
  const keys = new Map(
    ["first", "second"].map((
      kid,
    ) => [kid, { kid, kty: "OKP", crv: "Ed25519", x: "", d: "" } as const]),
  );
  const tokens = createTokens({
    ring: () => ({ keys: [...keys.values()].filter(({ kid }) => kid === state.kid) }),
    // Of the text, so that another text has another signature.
    createSign: ({ kid }) => (bytes) => {
      state.signed++;
      return new Uint8Array(64).fill(
        bytes.reduce((sum, byte) => (sum * 31 + byte) % 251, kid.length),
      );
    },
    clock: () => clock.nowMs,
  });
  const issue = (
    caller: { accountId?: typeof ann; plan?: string; grant?: TokenGrant } = {},
  ): string => {
    const { accountId = ann, plan = "free", grant } = caller;
    return tokens.issue({ accountId, plan }, grant);
  };
  const first = issue();
  assertEquals([issue(), issue(), state.signed], [first, first, 1]);
  const grant: TokenGrant = { key: null, scopes: [{ pattern: "*", allow: ["send"] }] };
  const others = [issue({ accountId: ben }), issue({ plan: "team" }), issue({ grant })];
  assertEquals([new Set([first, ...others]).size, state.signed], [4, 4]);
  const subjects = [first, ...others].map((token) =>
    JSON.parse(atob(token.split(".")[1] ?? "")).sub
  );
  assertEquals(subjects, [ann, ben, ann, ann]);
  state.kid = "second";
  assertNotEquals(issue(), first);
  state.kid = "first";
  clock.nowMs += 1_000;
  assertNotEquals(issue(), first);
  assertEquals(state.signed, 6);
});
