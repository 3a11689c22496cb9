/**
 * The keys that sign tokens and badges in their file, which the API makes for itself in the data
 * directory when no keys are configured.
 */
import { CompactSign, compactVerify, importJWK } from "jose";
import {
  type KeyRing,
  type KeyRings,
  keyRings,
  type RingUse,
  rotateKeyRing,
  type SigningKey,
  signingKey,
} from "./domain/key_ring.ts";
import { readOrCreateOwned, type Secret, writeOwned } from "../server/mod.ts";

export interface KeyRingSource {
  rings(): KeyRings;
  /**
   * Reads the file again if it changed; a file that became unreadable or invalid leaves the rings
   * as they were and throws.
   */
  reload(): Promise<void>;
}

export async function openKeyRings(
  configured: { readonly file: string } | { readonly json: Secret } | undefined,
  dataDir: string,
): Promise<KeyRingSource> {
  if (configured !== undefined && "json" in configured) {
    const rings = await parseKeyRings(configured.json.reveal(), "STATIC_JWT_KEYS");
    return { rings: () => rings, reload: () => Promise.resolve() };
  }
  const path = configured?.file ?? keyRingPath(dataDir);
  const make = async (): Promise<string> => {
    const [token, badge] = await Promise.all([generateSigningKey(), generateSigningKey()]);
    return JSON.stringify({ keys: [token], badge_keys: [badge] });
  };
  let text = configured === undefined
    ? await readOrCreateOwned(path, make)
    : await Deno.readTextFile(path);
  let rings = await parseKeyRings(text, path);
  return {
    rings: () => rings,
    reload: async () => {
      const now = await Deno.readTextFile(path);
      if (now === text) return;
      rings = await parseKeyRings(now, path);
      text = now;
    },
  };
}

export function keyRingPath(dataDir: string): string {
  return `${dataDir}/jwt_keys.json`;
}

export interface RingRotation {
  readonly use: RingUse;
  readonly nowMs: number;
  /** The statement of the key that signs now about its successor. */
  readonly endorse?: (by: SigningKey, successor: SigningKey) => Partial<SigningKey>;
}

/**
 * Adds a key to a ring of the file and returns it. The file is replaced at once, so a reader sees
 * the old or the new.
 */
export async function rotateKeyRingFile(
  path: string,
  { use, nowMs, endorse = () => ({}) }: RingRotation,
): Promise<SigningKey> {
  const text = await Deno.readTextFile(path);
  const rings = await parseKeyRings(text, path);
  const made = await generateSigningKey();
  const keys = use.what === "tokens" ? rings.keys : rings.badge_keys;
  const signing = keys && signingKey({ keys }, nowMs);
  const fresh = signing === undefined ? made : { ...made, ...endorse(signing, made) };
  const ring = keys === undefined
    ? { keys: [fresh] }
    : rotateKeyRing({ keys }, { fresh, use, nowMs });
  if (ring === undefined) {
    throw new Error(
      `Cannot rotate: ${use.maxPublished} keys are published, the most there may be. The oldest goes ` +
        `${use.lifetimeSeconds / 86_400} days after its successor began to sign`,
    );
  }
  const next: KeyRings = use.what === "tokens"
    ? { ...rings, keys: [...ring.keys] }
    : { ...rings, badge_keys: [...ring.keys] };
  // Both rings are in it: of two rotations at one moment none may lose its key without a word.
  if (await Deno.readTextFile(path) !== text) {
    throw new Error(`Cannot rotate: ${path} was changed at the same moment. Run the command again`);
  }
  await writeOwned(path, JSON.stringify(next, null, 2));
  return ring.keys[0] ?? fresh;
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
async function parseKeyRings(text: string, source: string): Promise<KeyRings> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error(`Cannot read the token keys: ${source} is not JSON`);
  }
  const parsed = keyRings.safeParse(json);
  if (parsed.success) {
    const { keys, badge_keys: badgeKeys = [] } = parsed.data;
    await checkPairs({ keys: [...keys, ...badgeKeys] }, source);
    return parsed.data;
  }
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`)
    .join("; ");
  throw new Error(
    `Cannot read the token keys: ${source} is not a private Ed25519 JWK set (${problems})`,
  );
}
