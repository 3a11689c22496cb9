/**
 * A call that runs out of stack, wherever, even in its own wiping, changes no later result and
 * leaves nothing for good.
 */
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 as nobleSha256 } from "@noble/hashes/sha2.js";
import { assert, assertEquals, assertGreater } from "@std/assert";
import { ChaCha20Poly1305 } from "./chacha20poly1305.ts";
import { Edwards25519 } from "./ed25519_batch.ts";
import { Sha256 } from "./sha256.ts";

/** So often a call returns before there is enough stack for all. */
const returns = 6;

interface Counts {
  faults: number;
  returned: number;
}

/** Calls it with hardly any stack left, then with a little more, and so on. */
function callNearTheEndOfStack(act: () => void): Counts {
  const counts = { faults: 0, returned: 0 };
  let left = returns;
  const descend = (...frame: readonly number[]): void => {
    try {
      descend(...frame);
    } catch {
      // the end: from here on up
    }
    if (left === 0) return;
    try {
      act();
      counts.returned++;
      left--;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      counts.faults++;
    }
  };
  // Frames of several lengths: the stack ends at other places of the call.
  for (let length = 0; length < 60; length++) {
    left = returns;
    descend(...new Array(length).fill(0));
  }
  return counts;
}

function assertBoth({ faults, returned }: Counts): void {
  assertGreater(faults, 20, "calls that ran out of stack");
  assertGreater(returned, 20, "calls that did not");
}

Deno.test("hashes and MACs after a call that ran out of stack are right, and nothing of it stays", () => {
  const core = new Sha256();
  const untouched = core.memory.slice();
  const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => i * 7 + 1);
  const [long, short, longKey, shortKey] = [bytes(3000), bytes(5), bytes(60), bytes(8)];
  const expected = [
    nobleSha256(long),
    nobleSha256(short),
    hmac(nobleSha256, longKey, short),
    hmac(nobleSha256, shortKey, long),
  ].map((hash) => hash.toHex());
  const results: Uint8Array[][] = expected.map(() => []);
  const acts = [
    () => core.hash([long]),
    () => core.hash([short]),
    () => core.mac(longKey, [short]),
    () => core.mac(shortKey, [long]),
  ];
  let turn = 0;
  assertBoth(callNearTheEndOfStack(() => {
    const at = turn++ % acts.length;
    const result = acts[at]?.();
    if (result !== undefined) results[at]?.push(result);
  }));
  results.forEach((list, at) => {
    for (const result of list) assertEquals(result.toHex(), expected[at], `call ${at}`);
  });
  core.hash([]);
  assertEquals(core.memory, untouched);
});

Deno.test("messages after a call that ran out of stack are sealed right, and nothing of it stays", () => {
  const core = new ChaCha20Poly1305();
  const [key, nonce, aad] = [
    new Uint8Array(32).fill(1),
    new Uint8Array(12).fill(2),
    new Uint8Array(3),
  ];
  const texts = [new Uint8Array(5000).fill(9), new Uint8Array(10).fill(8)];
  const expected = texts.map((text) => core.seal({ key, nonce, aad, parts: [text] }).toHex());
  const results: [number, Uint8Array][] = [];
  let turn = 0;
  assertBoth(callNearTheEndOfStack(() => {
    const at = turn++ % texts.length;
    const text = texts[at];
    if (text !== undefined) results.push([at, core.seal({ key, nonce, aad, parts: [text] })]);
  }));
  for (const [at, result] of results) assertEquals(result.toHex(), expected[at]);
  core.seal({ key, nonce, aad, parts: [] });
  assert(core.memory.every((byte) => byte === 0));
});

Deno.test("a batch after one that ran out of stack is judged right, and nothing of it stays", () => {
  const curve = new Edwards25519();
  const untouched = curve.memory.slice();
  // RFC 8032 section 7.1, the second test.
  const [publicKey, message] = [
    Uint8Array.fromHex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"),
    Uint8Array.of(0x72),
  ];
  const signature = Uint8Array.fromHex(
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  );
  const [right, wrong] = [{ publicKey, message, signature }, {
    publicKey,
    message: new Uint8Array(9000),
    signature,
  }];
  const verdicts: [boolean, boolean][] = [];
  let turn = 0;
  assertBoth(callNearTheEndOfStack(() => {
    const isRight = turn++ % 2 === 0;
    verdicts.push([isRight, curve.verify([isRight ? right : wrong])]);
  }));
  for (const [expected, verdict] of verdicts) assertEquals(verdict, expected);
  curve.verify([right]);
  assertEquals(curve.memory, untouched);
});
