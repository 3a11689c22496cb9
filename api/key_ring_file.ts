/** Secrets that this service makes for itself in the data directory when none are configured, and the key ring's file. */
import { CompactSign, compactVerify, importJWK } from "jose";
import { type KeyRing, keyRing, rotateKeyRing, type SigningKey } from "./domain/key_ring.ts";
import { Secret } from "../server/mod.ts";

const owner = 0o600;

/** The relay of the same machine reads the same file. */
export async function loadRelaySecret(dataDir: string): Promise<Secret> {
  const path = `${dataDir}/relay_secret`;
  await createOnce(
    path,
    () => crypto.getRandomValues(new Uint8Array(32)).toBase64({ alphabet: "base64url", omitPadding: true }),
  );
  return new Secret((await Deno.readTextFile(path)).trim());
}

export interface KeyRingSource {
  ring(): KeyRing;
  /** Reads the file again if it changed; a file that became unreadable or invalid leaves the ring as it was and throws. */
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
  if (configured === undefined) {
    await createOnce(path, async () => JSON.stringify({ keys: [await generateSigningKey()] }));
  }
  let text = await Deno.readTextFile(path);
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

/** Adds a key to the ring's file and answers its id. The file is replaced at once, so a reader sees the old or the new. */
export async function rotateKeyRingFile(path: string, nowMs: number): Promise<SigningKey> {
  const ring = await parseKeyRing(await Deno.readTextFile(path), path);
  const fresh = await generateSigningKey();
  const temporary = `${path}.${fresh.kid}.new`;
  try {
    await Deno.writeTextFile(temporary, JSON.stringify(rotateKeyRing(ring, fresh, nowMs), null, 2), { mode: owner });
    await keepOwner(path, temporary);
    await Deno.rename(temporary, path);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw error;
  }
  return fresh;
}

/** Whoever administers a service is often root, and the service, which is not, has to read the file afterwards. */
async function keepOwner(path: string, temporary: string): Promise<void> {
  const [before, now] = await Promise.all([path, temporary].map((each) => Deno.stat(each)));
  if (before?.uid === now?.uid && before?.gid === now?.gid) return;
  await Deno.chown(temporary, before?.uid ?? null, before?.gid ?? null);
}

async function generateSigningKey(): Promise<SigningKey> {
  const { privateKey } = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]) as CryptoKeyPair; // cast: Ed25519 makes pairs
  const { x, d } = await crypto.subtle.exportKey("jwk", privateKey);
  if (x === undefined || d === undefined) throw new TypeError("The platform exported an Ed25519 key without its parts");
  const suffix = crypto.getRandomValues(new Uint8Array(4)).toHex();
  return { kty: "OKP", crv: "Ed25519", kid: `${new Date().toISOString().slice(0, 10)}-${suffix}`, x, d };
}

/** A public part that does not belong to the private one would make tokens that nobody accepts: found here, at the start. */
async function checkPairs({ keys }: KeyRing, source: string): Promise<void> {
  for (const { kty, crv, x, d, kid } of keys) {
    try {
      const [privateKey, publicKey] = [
        await importJWK({ kty, crv, x, d }, "EdDSA"),
        await importJWK({ kty, crv, x }, "EdDSA"),
      ];
      const signed = await new CompactSign(new Uint8Array(1)).setProtectedHeader({ alg: "EdDSA" }).sign(privateKey);
      await compactVerify(signed, publicKey);
    } catch {
      throw new Error(`Cannot read the token keys: in ${source}, the two parts of key ${kid} do not belong together`);
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
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
  throw new Error(`Cannot read the token keys: ${source} is not a private Ed25519 JWK set (${problems})`);
}

/** Two processes that start together agree: the second finds the first one's file. */
async function createOnce(path: string, make: () => string | Promise<string>): Promise<void> {
  try {
    await Deno.stat(path);
    return;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const temporary = `${path}.${crypto.randomUUID()}.new`;
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true, mode: 0o700 });
  await Deno.writeTextFile(temporary, await make(), { mode: owner, createNew: true });
  try {
    await Deno.link(temporary, path);
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  } finally {
    await Deno.remove(temporary);
  }
}
