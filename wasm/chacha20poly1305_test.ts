import { chacha20poly1305 } from "@noble/ciphers/chacha.js";
import { concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  createRandom,
  readVectors,
  seedFromEnvironment,
  testWhen,
  vectors,
} from "../tests/support/mod.ts";
import { sharedChaCha20Poly1305 } from "./chacha20poly1305.ts";
import {
  CipherError,
  type CipherErrorCode,
  openChaCha20Poly1305,
  sealChaCha20Poly1305,
} from "./mod.ts";

const random = createRandom(seedFromEnvironment());
const [keyBytes, nonceBytes, tagBytes] = [32, 12, 16];
const empty = new Uint8Array(0);

function fresh(aadBytes = 0): { key: Uint8Array; nonce: Uint8Array; aad: Uint8Array } {
  return {
    key: random.bytes(keyBytes),
    nonce: random.bytes(nonceBytes),
    aad: random.bytes(aadBytes),
  };
}

function assertRefused(code: CipherErrorCode, act: () => unknown): void {
  const error = assertThrows(act, CipherError);
  assertEquals(error.code, code, `${error.code}: ${error.message}`);
}

Deno.test("sealChaCha20Poly1305() returns the known bytes of RFC 8439 section 2.8.2", () => {
  const text =
    "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, " +
    "sunscreen would be it.";
  const sealed = sealChaCha20Poly1305({
    key: Uint8Array.from({ length: keyBytes }, (_, i) => 0x80 + i),
    nonce: hexToBytes("070000004041424344454647"),
    aad: hexToBytes("50515253c0c1c2c3c4c5c6c7"),
    parts: [new TextEncoder().encode(text)],
  });
  assertEquals(sealed.subarray(0, 16), hexToBytes("d31a8d34648e60db7b86afbc53ef7ec2"));
  assertEquals(sealed.subarray(-tagBytes), hexToBytes("1ae10b594f09e26a7e902ecbd0600691"));
});

Deno.test("random messages of all lengths seal as noble does, and open", () => {
  const { windowBytes } = sharedChaCha20Poly1305();
  const around = [0, 16, 64, 256, 1024, windowBytes, 2 * windowBytes].flatMap((
    n,
  ) => [n - 1, n, n + 1]);
  const lengths = [
    ...around.filter((n) => n >= 0),
    ...Array.from({ length: 1500 }, () => random.below(6000)),
  ];
  for (const [i, length] of lengths.entries()) {
    const input = fresh(i % 40 === 0 ? random.below(2 * windowBytes) : random.below(80));
    const text = random.bytes(length);
    const ciphertext = sealChaCha20Poly1305({ ...input, parts: [text] });
    const where = `seed ${random.seed}, text ${length}, aad ${input.aad.length}`;
    assertEquals(
      ciphertext,
      chacha20poly1305(input.key, input.nonce, input.aad).encrypt(text),
      where,
    );
    assertEquals(openChaCha20Poly1305({ ...input, ciphertext }), text, where);
  }
});

Deno.test("parts, padding and room change nothing but what they say", () => {
  for (
    const [bytes, paddingBytes, roomBytes] of [[0, 0, 0], [100, 30, 90], [3000, 900, 512], [
      90,
      0,
      513,
    ], [
      1,
      70_000,
      20,
    ]]
  ) {
    const [input, text] = [fresh(20), random.bytes(bytes ?? 0)];
    const parts = [text.subarray(0, 40), text.subarray(40, 41), text.subarray(41)];
    const sealed = sealChaCha20Poly1305({
      ...input,
      parts,
      paddingBytes: paddingBytes ?? 0,
      roomBytes: roomBytes ?? 0,
    });
    assertEquals(sealed.subarray(0, roomBytes), new Uint8Array(roomBytes ?? 0));
    const padded = concatBytes(text, new Uint8Array(paddingBytes ?? 0));
    assertEquals(sealed.subarray(roomBytes), sealChaCha20Poly1305({ ...input, parts: [padded] }));
  }
});

Deno.test("openChaCha20Poly1305() refuses a flipped bit anywhere, and every shorter ciphertext", () => {
  const [input, text] = [fresh(21), random.bytes(37)];
  const ciphertext = sealChaCha20Poly1305({ ...input, parts: [text] });
  for (const [name, bytes] of Object.entries({ ...input, ciphertext })) {
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = bytes.slice();
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assertRefused(
        "authentication_failed",
        () => openChaCha20Poly1305({ ...input, ciphertext, [name]: changed }),
      );
    }
  }
  for (let length = 0; length < ciphertext.length; length++) {
    const cut = ciphertext.subarray(0, length);
    assertRefused(
      "authentication_failed",
      () => openChaCha20Poly1305({ ...input, ciphertext: cut }),
    );
  }
});

Deno.test("nothing of a message stays in WebAssembly memory, whether it was sealed, opened or refused", () => {
  const { memory } = sharedChaCha20Poly1305();
  const used = (): boolean => memory.some((byte) => byte !== 0);
  for (const length of [0, 1, 63, 64, 65, 255, 257, 1000, 65_536, 70_000, 200_000]) {
    const [input, text] = [fresh(length), random.bytes(length)];
    const ciphertext = sealChaCha20Poly1305({ ...input, parts: [text], roomBytes: 100 }).subarray(
      100,
    );
    assert(!used(), `seal of ${length} bytes left something behind`);
    openChaCha20Poly1305({ ...input, ciphertext });
    assert(!used(), `open of ${length} bytes left something behind`);
    assertRefused(
      "authentication_failed",
      () => openChaCha20Poly1305({ ...input, aad: random.bytes(9), ciphertext }),
    );
    assert(!used(), `a refused open of ${length} bytes left something behind`);
  }
  let passes = 0;
  let seen = false;
  const failing = {
    *[Symbol.iterator](): Iterator<Uint8Array> {
      yield random.bytes(10);
      if (++passes === 1) return;
      seen = used();
      throw new Error("a fault between the steps");
    },
  };
  // cast: the first pass adds lengths, the second copies
  const parts = failing as unknown as readonly Uint8Array[];
  assertThrows(() => sealChaCha20Poly1305({ ...fresh(), parts }), Error, "a fault between");
  assert(seen, "the search finds what a message leaves before it is wiped");
  assert(!used(), "a fault left something behind");
});

Deno.test("a result survives later calls", () => {
  const input = fresh();
  const first = sealChaCha20Poly1305({ ...input, parts: [random.bytes(500)] });
  const copy = first.slice();
  for (let i = 0; i < 10; i++) sealChaCha20Poly1305({ ...fresh(), parts: [random.bytes(500)] });
  assertEquals(first, copy);
});

Deno.test("wrong keys, nonces and inputs are refused by length, type and kind of memory", () => {
  const input = fresh();
  for (const length of [0, 16, 31, 33]) {
    assertRefused(
      "invalid_key",
      () => sealChaCha20Poly1305({ ...input, key: random.bytes(length), parts: [] }),
    );
  }
  for (const length of [0, 8, 11, 13, 24]) {
    const nonce = random.bytes(length);
    assertRefused("invalid_nonce", () => sealChaCha20Poly1305({ ...input, nonce, parts: [] }));
    assertRefused(
      "invalid_nonce",
      () => openChaCha20Poly1305({ ...input, nonce, ciphertext: random.bytes(16) }),
    );
  }
  for (const size of [-1, 0.5, NaN, Infinity, 2 ** 31 + 1]) {
    assertRefused(
      "invalid_input",
      () => sealChaCha20Poly1305({ ...input, parts: [empty], paddingBytes: size }),
    );
    assertRefused(
      "invalid_input",
      () => sealChaCha20Poly1305({ ...input, parts: [empty], roomBytes: size }),
    );
  }
  const shared = new Uint8Array(new SharedArrayBuffer(70_000));
  assertRefused("invalid_input", () => openChaCha20Poly1305({ ...input, ciphertext: shared }));
  const text = "text" as unknown as Uint8Array; // cast: what a caller without types may pass
  assertRefused("invalid_input", () => sealChaCha20Poly1305({ ...input, parts: [text] }));
  assertRefused(
    "invalid_input",
    () => sealChaCha20Poly1305({ ...input, aad: text, parts: [empty] }),
  );
  assertRefused("invalid_input", () => openChaCha20Poly1305({ ...input, ciphertext: text }));
});

const file = "wycheproof/chacha20_poly1305_test.json";

testWhen(
  vectors(file),
  "every case of Wycheproof gives the expected result, nonces of other lengths are refused",
  () => {
    const { testGroups } = readVectors(file) as {
      testGroups: { tests: Record<string, string>[] }[];
    };
    const counts: Record<string, number> = {};
    for (const test of testGroups.flatMap(({ tests }) => tests)) {
      const bytes = (name: string): Uint8Array => hexToBytes(test[name] ?? "");
      const input = { key: bytes("key"), nonce: bytes("iv"), aad: bytes("aad") };
      const ciphertext = concatBytes(bytes("ct"), bytes("tag"));
      const name = `case ${test["tcId"]}`;
      if (input.nonce.length !== nonceBytes) {
        assertRefused("invalid_nonce", () => openChaCha20Poly1305({ ...input, ciphertext }));
      } else if (test["result"] === "valid") {
        assertEquals(sealChaCha20Poly1305({ ...input, parts: [bytes("msg")] }), ciphertext, name);
        assertEquals(openChaCha20Poly1305({ ...input, ciphertext }), bytes("msg"), name);
      } else {
        assertRefused(
          "authentication_failed",
          () => openChaCha20Poly1305({ ...input, ciphertext }),
        );
      }
      counts[test["result"] ?? ""] = (counts[test["result"] ?? ""] ?? 0) + 1;
    }
    assert((counts["valid"] ?? 0) > 100 && (counts["invalid"] ?? 0) > 50, JSON.stringify(counts));
  },
);
