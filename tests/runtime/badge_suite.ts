/** Badges are read and judged alike everywhere: members that differed would part. */
import {
  attest,
  type Badge,
  badgeStatement,
  decodeBadge,
  encodeBadge,
  formatBadge,
  nobodyKnown,
  parseBadges,
  verifyBadge,
  WireError,
} from "../../proto/mod.ts";
import { verifyEd25519Batch } from "../../wasm/mod.ts";
import { check, Digest, type RuntimeTest } from "../support/runtime/suite.ts";

/** As in `proto/testdata/badge.json`. */
const golden =
  "badge_AQhhY21lLmNvbYqI4910CfGV_VLbLTy6XXLKZwm_HZQSG_N0iAG0D29cCmRlcGxveS1ib3Q2ZjB6eV80aTZQWEZjY1p5TXdGdEkxAAAAAGtJ0gAAAAAAa3FfAADXjAbMJt8yF3dwGITkpBmyS4S9f9Ivks051uSZWCgf0iMw0tpuKs_8YJ1W7zgrx6ZkjgdUXvCDKIRE6ztEfesJ";

function readGolden(): Badge {
  const [badge] = parseBadges(golden);
  check(badge !== undefined, "one badge");
  return badge;
}

/** By the verification that members use, and by the one that the relay and readers use. */
function holds(badge: Badge): boolean {
  const { issuerKey: publicKey, signature } = badge;
  const byMembers = verifyEd25519Batch([{ publicKey, message: badgeStatement(badge), signature }]);
  check(byMembers === verifyBadge(badge), "two verifications differ");
  return byMembers;
}

function judge(bytes: Uint8Array): "malformed" | "wrong" | "holds" {
  try {
    return holds(decodeBadge(bytes)) ? "holds" : "wrong";
  } catch (error) {
    if (error instanceof WireError) return "malformed";
    throw error;
  }
}

/** Ed25519's group order, little-endian behind the first half of a signature. */
const order = 2n ** 252n + 27742317777372353535851937790883648493n;

function withLargerScalar({ signature, ...badge }: Badge): Badge {
  const scalar = signature.subarray(32).reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
  const larger = signature.slice();
  let rest = scalar + order;
  for (let i = 32; i < 64; i++) {
    larger[i] = Number(rest & 255n);
    rest >>= 8n;
  }
  return { ...badge, signature: larger };
}

export const tests: readonly RuntimeTest[] = [
  {
    name: "a badge as text is the same to the last byte, and holds",
    run: () => {
      const badge = readGolden();
      check(holds(badge) && formatBadge(badge) === golden, "the golden badge");
      return formatBadge(badge);
    },
  },
  {
    name: "one verdict about each badge that differs in a bit",
    run: () => {
      const bytes = encodeBadge(readGolden());
      const counts = { malformed: 0, wrong: 0, holds: 0 };
      const digest = new Digest();
      for (let bit = 0; bit < bytes.length * 8; bit += 3) {
        const at = bit >> 3;
        const verdict = judge(bytes.with(at, (bytes[at] ?? 0) ^ (1 << (bit & 7))));
        counts[verdict]++;
        digest.add(new TextEncoder().encode(verdict));
      }
      check(
        counts.holds === 0 && counts.wrong > 0 && counts.malformed > 0,
        "nothing changed holds",
      );
      return `${JSON.stringify(counts)} ${digest}`;
    },
  },
  {
    name: "a key of small order, and a signature that is not reduced, do not hold",
    run: () => {
      const badge = readGolden();
      const neutral = Uint8Array.of(1, ...new Uint8Array(31));
      const free = Uint8Array.of(...neutral, ...new Uint8Array(32));
      check(!holds({ ...badge, issuerKey: neutral, signature: free }), "a key of small order");
      check(!holds(withLargerScalar(badge)), "a signature that is not reduced");
    },
  },
  {
    name: "a reader's verdict",
    run: () => {
      const badge = readGolden();
      const { domain, issuerKey, agentId, notBefore } = badge;
      const key = { kid: "1", key: issuerKey, closed: false };
      const issuer = { keys: [key], source: "file", readMs: 0, changed: false } as const;
      const trust = { ...nobodyKnown, domains: new Map([[domain, issuer]]) };
      const reader = { trust, own: undefined, nowMs: notBefore * 1000, holds };
      return JSON.stringify([
        attest({ agentId, badges: [badge] }, reader),
        attest({ agentId, badges: [badge] }, { ...reader, nowMs: badge.notAfter * 1000 + 1 }),
        attest({ agentId, badges: [badge] }, { ...reader, trust: nobodyKnown }),
      ]);
    },
  },
];
