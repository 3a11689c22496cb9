/**
 * Random messages of up to 100 KiB against `node:crypto`, both ways; the campaign has ten thousand.
 */
import { Buffer } from "node:buffer";
import { createCipheriv } from "node:crypto";
import { assert, assertEquals } from "@std/assert";
import { inCampaign, tried } from "../tests/support/campaign.ts";
import { createRandom, seedFromEnvironment } from "../tests/support/mod.ts";
import { Aes256Gcm } from "./mod.ts";

const cases = inCampaign ? 10_000 : 500;
const maxBytes = 100 * 1024;
const casesPerKey = 10;

Deno.test(`${cases} random messages encrypt as node:crypto does, and decrypt`, () => {
  const random = createRandom(seedFromEnvironment());
  const pool = random.bytes(2 * maxBytes);
  const piece = (length: number): Uint8Array<ArrayBuffer> => {
    const at = random.below(pool.length - length);
    return pool.slice(at, at + length);
  };
  for (let i = 0; i < cases / casesPerKey; i++) {
    const key = random.bytes(32);
    const gcm = new Aes256Gcm(key);
    for (let j = 0; j < casesPerKey; j++) {
      const nonce = random.bytes(12);
      // Cubed: most messages short, where edges are, and still many near the maximum.
      const plaintext = piece(Math.floor(maxBytes * (random.uint32() / 2 ** 32) ** 3));
      const aad = piece(
        random.chance(0.3) ? 0 : random.below(random.chance(0.02) ? maxBytes : 200),
      );
      const reference = createCipheriv("aes-256-gcm", key, nonce);
      reference.setAAD(aad);
      const expected = Buffer.concat([
        reference.update(plaintext),
        reference.final(),
        reference.getAuthTag(),
      ]);
      const where = `seed ${random.seed}, ${plaintext.length} bytes, aad ${aad.length}`;
      const ciphertext = gcm.seal({ nonce, plaintext, aad });
      assert(expected.equals(ciphertext), where);
      assertEquals(Buffer.compare(gcm.open({ nonce, ciphertext, aad }), plaintext), 0, where);
    }
    gcm.destroy();
  }
  tried(`${cases} random messages`);
});
