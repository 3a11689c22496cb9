/**
 * The key ring in its file, which the API makes for itself in the data directory when no keys are
 * configured.
 */
import { CompactSign, compactVerify, importJWK } from "jose";
import { type KeyRing, keyRing, rotateKeyRing, type SigningKey } from "./domain/key_ring.ts";
import { readOrCreateOwned, type Secret, writeOwned } from "../server/mod.ts";

export interface KeyRingSource {
  ring(): KeyRing;
  /**
   * Reads the file again if it changed; a file that became unreadable or invalid leaves the ring as
   * it was and throws.
   */
  reload(): Promise<void>;
}

export async function openKeyRing(
  configured: { readonly file: string } | { readonly json: Secret } | undefined,
  dataDir: string,
): Promise<KeyRingSource> {
  if (configured !== undefined && "json" in configured) {
    const ring = await parseKeyRing(configured.json.reveal(), "STATIC_JWT_KEYS");
    return { ring: () => ring, reload: () => Promise.resolve() };
  }
  const path = configured?.file ?? keyRingPath(dataDir);
  const make = async (): Promise<string> => JSON.stringify({ keys: [await generateSigningKey()] });
  let text = configured === undefined
    ? await readOrCreateOwned(path, make)
    : await Deno.readTextFile(path);
  let ring = await parseKeyRing(text, path);
  return {
    ring: () => ring,
    reload: async () => {
      const now = await Deno.readTextFile(path);
      if (now === text) return;
      ring = await parseKeyRing(now, path);
      text = now;
    },
  };
}

export function keyRingPath(dataDir: string): string {
  return `${dataDir}/jwt_keys.json`;
}

/**
 * Adds a key to the ring's file and returns it. The file is replaced at once, so a reader sees the
 * old or the new.
 */
export async function rotateKeyRingFile(path: string, nowMs: number): Promise<SigningKey> {
  const ring = await parseKeyRing(await Deno.readTextFile(path), path);
  const fresh = await generateSigningKey();
  await writeOwned(path, JSON.stringify(rotateKeyRing(ring, fresh, nowMs), null, 2));
  return fresh;
}

async function generateSigningKey(): Promise<SigningKey> {
  const { privateKey } = await crypto.subtle.generateKey("Ed25519", true, [
    "sign",
    "verify",
  ]) as CryptoKeyPair; // cast: Ed25519 makes pairs
  const { x, d } = await crypto.subtle.exportKey("jwk", privateKey);
  if (x === undefined || d === undefined) {
    throw new TypeError("The platform exported an Ed25519 key without its parts");
  }
  const suffix = crypto.getRandomValues(new Uint8Array(4)).toHex();
  return {
    kty: "OKP",
    crv: "Ed25519",
    kid: `${new Date().toISOString().slice(0, 10)}-${suffix}`,
    x,
    d,
  };
}

/**
 * A public part that does not belong to the private one would make tokens that nobody accepts:
 * found here, at the start.
 */
async function checkPairs({ keys }: KeyRing, source: string): Promise<void> {
  for (const { kty, crv, x, d, kid } of keys) {
    try {
      const [privateKey, publicKey] = [
        await importJWK({ kty, crv, x, d }, "EdDSA"),
        await importJWK({ kty, crv, x }, "EdDSA"),
      ];
      const signed = await new CompactSign(new Uint8Array(1)).setProtectedHeader({ alg: "EdDSA" })
        .sign(privateKey);
      await compactVerify(signed, publicKey);
    } catch {
      throw new Error(
        `Cannot read the token keys: in ${source}, the two parts of key ${kid} do not belong together`,
      );
    }
  }
}

/** The text of a private key never reaches an error message. */
async function parseKeyRing(text: string, source: string): Promise<KeyRing> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error(`Cannot read the token keys: ${source} is not JSON`);
  }
  const parsed = keyRing.safeParse(json);
  if (parsed.success) {
    await checkPairs(parsed.data, source);
    return parsed.data;
  }
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`)
    .join("; ");
  throw new Error(
    `Cannot read the token keys: ${source} is not a private Ed25519 JWK set (${problems})`,
  );
}
