import { assert, assertEquals, assertGreater, assertThrows } from "@std/assert";
import { createRandom, seedFromEnvironment } from "../tests/support/mod.ts";
import { Core, sharedCore } from "./aes256gcm_core.ts";
import {
  Aes256Gcm,
  CipherError,
  type CipherErrorCode,
  keyBytes,
  maxInputBytes,
  maxPrefixBytes,
  maxSeals,
  tagBytes,
} from "./mod.ts";

const random = createRandom(seedFromEnvironment());
const nonce = new Uint8Array(12);
const empty = new Uint8Array(0);
/** Behind the public tables. */
const secretsAt = 0x600;

function assertRefused(code: CipherErrorCode, act: () => unknown): CipherError {
  const error = assertThrows(act, CipherError);
  assertEquals(error.code, code, `${error.code}: ${error.message}`);
  return error;
}

function hex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16));
}

Deno.test("seal() answers the known bytes of NIST's GCM test case 16 (AES-256, associated data, partial block)", () => {
  const gcm = new Aes256Gcm(hex("feffe9928665731c6d6a8f9467308308".repeat(2)));
  const plaintext = hex(
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
  );
  const sealed = gcm.seal({
    nonce: hex("cafebabefacedbaddecaf888"),
    plaintext,
    aad: hex("feedfacedeadbeeffeedfacedeadbeefabaddad2"),
  });
  assertEquals(
    sealed,
    hex(
      "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662" +
        "76fc6ece0f4e1768cddf8853bb2d551b",
    ),
  );
});

Deno.test("open() refuses a flipped bit anywhere in nonce, ciphertext, tag or associated data", () => {
  const gcm = new Aes256Gcm(random.bytes(keyBytes));
  const aad = random.bytes(21);
  const plaintext = random.bytes(37);
  const ciphertext = gcm.seal({ nonce, plaintext, aad });
  assertEquals(gcm.open({ nonce, ciphertext, aad }), plaintext);
  for (const [name, bytes] of Object.entries({ nonce, ciphertext, aad })) {
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = bytes.slice();
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assertRefused(
        "authentication_failed",
        () => gcm.open({ nonce, ciphertext, aad, [name]: changed }),
      );
    }
  }
  for (let length = 0; length < ciphertext.length; length++) {
    const cut = ciphertext.subarray(0, length);
    assertRefused("authentication_failed", () => gcm.open({ nonce, ciphertext: cut, aad }));
  }
  gcm.destroy();
});

Deno.test("open() refuses a wrong key", () => {
  const ciphertext = new Aes256Gcm(random.bytes(keyBytes)).seal({
    nonce,
    plaintext: random.bytes(100),
  });
  assertRefused(
    "authentication_failed",
    () => new Aes256Gcm(random.bytes(keyBytes)).open({ nonce, ciphertext }),
  );
});

Deno.test("sizes around blocks, batches and the window round trip, with text and associated data beyond the window", () => {
  const gcm = new Aes256Gcm(random.bytes(keyBytes));
  const { windowBytes } = sharedCore();
  const around = [0, 16, 64, 128, windowBytes, 2 * windowBytes].flatMap((n) => [n - 1, n, n + 1])
    .filter((n) => n >= 0);
  for (const text of around) {
    for (const associated of [0, 1, 16, 130, windowBytes, windowBytes + 5]) {
      const plaintext = random.bytes(text);
      const aad = random.bytes(associated);
      const ciphertext = gcm.seal({ nonce, plaintext, aad });
      assertEquals(
        gcm.open({ nonce, ciphertext, aad }),
        plaintext,
        `text ${text}, aad ${associated}`,
      );
    }
  }
  gcm.destroy();
});

Deno.test("a prefix stands before the result and changes nothing else, also beyond the window", () => {
  const gcm = new Aes256Gcm(random.bytes(keyBytes));
  for (const length of [0, 100, 70_000]) {
    const plaintext = random.bytes(length);
    const plain = gcm.seal({ nonce, plaintext });
    for (const prefix of [random.bytes(1), random.bytes(maxPrefixBytes)]) {
      const sealed = gcm.seal({ nonce, plaintext, prefix });
      assertEquals(sealed.subarray(0, prefix.length), prefix);
      assertEquals(sealed.subarray(prefix.length), plain);
    }
  }
  const prefix = random.bytes(maxPrefixBytes + 1);
  assertRefused("invalid_input", () => gcm.seal({ nonce, plaintext: empty, prefix }));
  gcm.destroy();
});

Deno.test("a result survives later calls, growth of the memory and the end of its key", () => {
  const gcm = new Aes256Gcm(random.bytes(keyBytes));
  const plaintext = random.bytes(500);
  const first = gcm.seal({ nonce, plaintext });
  const copy = first.slice();
  const keys = Array.from({ length: 200 }, () => new Aes256Gcm(random.bytes(keyBytes)));
  const sealed = keys.map((key) => key.seal({ nonce, plaintext }));
  assertEquals(gcm.open({ nonce, ciphertext: first }), plaintext);
  assertEquals(first, copy);
  keys.forEach((key, i) =>
    assertEquals(key.open({ nonce, ciphertext: sealed[i] ?? empty }), plaintext)
  );
  keys.forEach((key) => key.destroy());
  gcm.destroy();
  assertEquals(first, copy);
});

Deno.test("nothing of a message stays in WebAssembly memory, whether it was sealed, opened or refused", () => {
  const gcm = new Aes256Gcm(random.bytes(keyBytes));
  const { memory, contextsAt } = sharedCore().wasm;
  const used = (): boolean =>
    new Uint8Array(memory.buffer).subarray(secretsAt, contextsAt.value).some((byte) => byte !== 0);
  for (const length of [1, 63, 64, 65, 1000, 65_536, 70_000, 200_000]) {
    const plaintext = random.bytes(length);
    const ciphertext = gcm.seal({
      nonce,
      plaintext,
      aad: random.bytes(length),
      prefix: random.bytes(64),
    }).subarray(64);
    assert(!used(), `seal of ${length} bytes left something behind`);
    assertRefused("authentication_failed", () => gcm.open({ nonce, ciphertext }));
    assert(!used(), `a refused open of ${length} bytes left something behind`);
    gcm.open({ nonce, ciphertext: gcm.seal({ nonce, plaintext }) });
    assert(!used(), `open of ${length} bytes left something behind`);
  }
  gcm.destroy();
});

Deno.test("a released key leaves nothing in WebAssembly memory", () => {
  const core = new Core();
  const context = core.createContext(random.bytes(keyBytes));
  const memory = new Uint8Array(core.wasm.memory.buffer, secretsAt);
  assertGreater(memory.filter((byte) => byte !== 0).length, 2500);
  core.releaseContext(context);
  assert(!memory.some((byte) => byte !== 0));
});

Deno.test("a destroyed key refuses everything, and destroying again is harmless", () => {
  const gcm = new Aes256Gcm(random.bytes(keyBytes));
  const ciphertext = gcm.seal({ nonce, plaintext: empty });
  gcm.destroy();
  gcm.destroy();
  assertRefused("key_destroyed", () => gcm.seal({ nonce, plaintext: empty }));
  assertRefused("key_destroyed", () => gcm.open({ nonce, ciphertext }));
  const [a, b] = [new Aes256Gcm(random.bytes(keyBytes)), new Aes256Gcm(random.bytes(keyBytes))];
  const sealed = a.seal({ nonce, plaintext: empty });
  assertRefused("authentication_failed", () => b.open({ nonce, ciphertext: sealed }));
});

Deno.test("a key seals no more messages than it may, and still opens", () => {
  assertEquals(maxSeals, 2 ** 32);
  const gcm = new Aes256Gcm(random.bytes(keyBytes), { sealsAllowed: 2 });
  const ciphertext = gcm.seal({ nonce, plaintext: empty });
  gcm.seal({ nonce, plaintext: empty });
  assertRefused("key_exhausted", () => gcm.seal({ nonce, plaintext: empty }));
  assertEquals(gcm.open({ nonce, ciphertext }), empty);
  for (const sealsAllowed of [-1, 0.5, NaN, maxSeals + 1]) {
    assertRefused("invalid_input", () => new Aes256Gcm(random.bytes(keyBytes), { sealsAllowed }));
  }
});

Deno.test("wrong keys, nonces and inputs are refused by length, type and kind of memory", () => {
  for (const length of [0, 16, 24, 31, 33]) {
    assertRefused("invalid_key", () => new Aes256Gcm(random.bytes(length)));
  }
  const gcm = new Aes256Gcm(random.bytes(keyBytes));
  for (const length of [0, 8, 11, 13, 16]) {
    assertRefused(
      "invalid_nonce",
      () => gcm.seal({ nonce: random.bytes(length), plaintext: empty }),
    );
    assertRefused(
      "invalid_nonce",
      () => gcm.open({ nonce: random.bytes(length), ciphertext: random.bytes(16) }),
    );
  }
  const shared = new Uint8Array(new SharedArrayBuffer(32));
  assertRefused("invalid_input", () => gcm.open({ nonce, ciphertext: shared }));
  assertRefused("invalid_input", () => gcm.seal({ nonce, plaintext: empty, aad: shared }));
  const huge = new Uint8Array(maxInputBytes + tagBytes + 1);
  assertRefused("invalid_input", () => gcm.open({ nonce, ciphertext: huge }));
  assertRefused(
    "invalid_input",
    () => gcm.seal({ nonce, plaintext: huge.subarray(0, maxInputBytes + 1) }),
  );
  assertRefused(
    "invalid_input",
    () => gcm.seal({ nonce, plaintext: empty, aad: huge.subarray(0, maxInputBytes + 1) }),
  );
});

Deno.test("errors and printed objects show no key and no content", () => {
  const key = new TextEncoder().encode("canary-canary-canary-canary-cana");
  const gcm = new Aes256Gcm(key);
  const shown = [Deno.inspect(gcm), JSON.stringify(gcm), String(gcm)].join();
  assert(!/canary|99,97,110/.test(shown), shown);
  const error = assertRefused("invalid_nonce", () => gcm.seal({ nonce: key, plaintext: key }));
  assert(!error.message.includes("canary"));
});
