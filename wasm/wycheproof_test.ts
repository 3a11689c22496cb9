/**
 * Third-party cases for AES-GCM: every AES-256 one, valid and invalid; nonces of other lengths must
 * be refused, typed.
 */
import { assertEquals, assertGreater, assertThrows } from "@std/assert";
import { readVectors, testWhen, vectors } from "../tests/support/mod.ts";
import { Aes256Gcm, CipherError, nonceBytes } from "./mod.ts";

const file = "wycheproof/aes_gcm_test.json";

interface Case {
  readonly tcId: number;
  readonly comment: string;
  readonly key: string;
  readonly iv: string;
  readonly aad: string;
  readonly msg: string;
  readonly ct: string;
  readonly tag: string;
  readonly result: "valid" | "invalid" | "acceptable";
}

function readCases(): Case[] {
  const { testGroups } = readVectors(file) as { testGroups: { keySize: number; tests: Case[] }[] };
  return testGroups.filter(({ keySize }) => keySize === 256).flatMap(({ tests }) => tests);
}

function hex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16));
}

testWhen(
  vectors(file),
  "every AES-256 case of Wycheproof with a 96-bit nonce gives the expected result",
  () => {
    let [valid, invalid] = [0, 0];
    for (const test of readCases().filter(({ iv }) => iv.length === 2 * nonceBytes)) {
      const gcm = new Aes256Gcm(hex(test.key));
      const [nonce, aad, plaintext, ciphertext] = [
        hex(test.iv),
        hex(test.aad),
        hex(test.msg),
        hex(test.ct + test.tag),
      ];
      const name = `case ${test.tcId} ${test.comment}`;
      if (test.result === "valid") {
        assertEquals(gcm.seal({ nonce, plaintext, aad }), ciphertext, name);
        assertEquals(gcm.open({ nonce, ciphertext, aad }), plaintext, name);
        valid++;
      } else {
        const error = assertThrows(() => gcm.open({ nonce, ciphertext, aad }), CipherError);
        assertEquals(error.code, "authentication_failed", name);
        invalid++;
      }
      gcm.destroy();
    }
    assertGreater(valid, 30);
    assertGreater(invalid, 20);
  },
);

testWhen(
  vectors(file),
  "every AES-256 case of Wycheproof with another nonce length is refused with invalid_nonce",
  () => {
    const others = readCases().filter(({ iv }) => iv.length !== 2 * nonceBytes);
    for (const test of others) {
      const gcm = new Aes256Gcm(hex(test.key));
      const error = assertThrows(
        () =>
          gcm.open({
            nonce: hex(test.iv),
            ciphertext: hex(test.ct + test.tag),
            aad: hex(test.aad),
          }),
        CipherError,
      );
      assertEquals(error.code, "invalid_nonce", `case ${test.tcId}`);
      gcm.destroy();
    }
    assertGreater(others.length, 10);
  },
);
