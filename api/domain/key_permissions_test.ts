import { assert, assertEquals } from "@std/assert";
import { parseChannelId, parseKeyId } from "../../proto/mod.ts";
import {
  fitsToken,
  grantOf,
  hasScope,
  type KeyOptions,
  mayMake,
  plainTraits,
  scopes,
} from "./key_permissions.ts";

const countedAs = parseKeyId("5f0c3c1e-8d6b-4e0e-9f0a-2f6f7c1f9a11");
const channelId = parseChannelId("AAAAAAAAAAAAAAAAAAAAAA");
const narrow = { pattern: "acme/ops/*", allow: ["send", "receive"] } as const;
const traits = (more: Partial<KeyOptions>): KeyOptions => ({ ...plainTraits, ...more });
const guest = traits({ kind: "guest", channelId, expiresAtMs: 1, messageLimit: 10 });
const publishable = traits({
  kind: "publishable",
  powers: { scopes: ["tokens"], channels: [narrow] },
});
const maker = traits({ powers: { scopes: ["tokens", "keys:write"], channels: [narrow] } });

Deno.test("a plain key's tokens have no further claim; an expiry alone changes nothing", () => {
  assertEquals(grantOf({ ...plainTraits, countedAs }), undefined);
  assertEquals(grantOf({ ...traits({ expiresAtMs: 1 }), countedAs }), undefined);
  assertEquals(grantOf({ ...guest, countedAs })?.scopes, [{
    channelId,
    allow: ["send", "receive"],
  }]);
  assertEquals(grantOf({ ...guest, countedAs })?.isPublic, undefined);
  assertEquals(grantOf({ ...publishable, countedAs })?.isPublic, true);
  const [all] = grantOf({ ...traits({ messageLimit: 1 }), countedAs })?.scopes ?? [];
  assertEquals(all, { pattern: "*", allow: ["send", "receive", "create", "invite"] });
});

Deno.test("publishable keys and guest passes exchange for tokens and do nothing else, whatever their powers say", () => {
  const all = traits({ kind: "publishable", powers: { scopes: [...scopes] } });
  for (const each of [guest, publishable, all]) {
    assertEquals(scopes.filter((scope) => hasScope(each, scope)), ["tokens"]);
  }
  assertEquals(scopes.filter((scope) => hasScope(plainTraits, scope)), [...scopes]);
});

Deno.test("no key makes one that may do more than itself", () => {
  assert([plainTraits, guest, publishable, maker].every((wanted) => mayMake(plainTraits, wanted)));
  assert(mayMake(maker, maker));
  assert(mayMake(maker, publishable));
  assert(mayMake(maker, traits({ powers: { scopes: ["keys:write"] } })));
  const beyond: KeyOptions[] = [
    plainTraits,
    guest,
    traits({ messageLimit: 1 }),
    traits({ powers: { scopes: ["tokens"] } }),
    traits({ powers: { scopes: ["account"] } }),
    traits({ powers: { scopes: ["tokens"], channels: [{ pattern: "*", allow: ["send"] }] } }),
    traits({
      powers: { scopes: ["tokens"], channels: [{ pattern: "acme/ops/x", allow: ["invite"] }] },
    }),
  ];
  for (const wanted of beyond) assert(!mayMake(maker, wanted), JSON.stringify(wanted));
  for (const own of [guest, publishable, traits({ messageLimit: 5 }), traits({ expiresAtMs: 5 })]) {
    assert(!mayMake(own, traits({ powers: { scopes: ["tokens"] } })));
  }
});

Deno.test("fitsToken() refuses channels whose token would pass 4 KiB", () => {
  const all = ["send", "receive", "create", "invite"] as const;
  const long = `${"a".repeat(63)}/${"b".repeat(63)}/*`;
  assert(fitsToken(Array(32).fill({ pattern: "acme/operations/*", allow: all })));
  assert(!fitsToken(Array(32).fill({ pattern: long, allow: all })));
});
