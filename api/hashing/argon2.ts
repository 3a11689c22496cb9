/**
 * Argon2id to and from PHC strings (`$argon2id$v=19$m=…,t=…,p=…$salt$hash`), over hash-wasm. Runs
 * wherever it is called: the pool calls it in workers.
 */
import { argon2id } from "hash-wasm";

export interface Argon2Profile {
  readonly memoryKiB: number;
  readonly iterations: number;
  readonly parallelism: number;
}

const saltBytes = 16;
const hashBytes = 32;
const phc =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{43})$/;

export async function hashSecret(secret: string, profile: Argon2Profile): Promise<string> {
  const salt = crypto.getRandomValues(new Uint8Array(saltBytes));
  return encodePhc(profile, salt, await derive(secret, profile, salt));
}

/**
 * False also for a hash that is not one of ours. The comparison takes the same time whatever
 * differs.
 */
export async function verifySecret(secret: string, encoded: string): Promise<boolean> {
  const [, memory, iterations, parallelism, salt, hash] = phc.exec(encoded) ?? [];
  if (salt === undefined || hash === undefined) return false;
  const profile = {
    memoryKiB: Number(memory),
    iterations: Number(iterations),
    parallelism: Number(parallelism),
  };
  return equalBytes(
    await derive(secret, profile, Uint8Array.fromBase64(salt)),
    Uint8Array.fromBase64(hash),
  );
}

/**
 * A well-formed hash that no secret has: verifying against it costs what verifying against a real
 * one costs.
 */
export function decoyHash(profile: Argon2Profile): string {
  return encodePhc(
    profile,
    crypto.getRandomValues(new Uint8Array(saltBytes)),
    new Uint8Array(hashBytes),
  );
}

async function derive(
  secret: string,
  profile: Argon2Profile,
  salt: Uint8Array,
): Promise<Uint8Array> {
  return await argon2id({
    password: new TextEncoder().encode(secret),
    salt,
    memorySize: profile.memoryKiB,
    iterations: profile.iterations,
    parallelism: profile.parallelism,
    hashLength: hashBytes,
    outputType: "binary",
  });
}

function encodePhc(
  { memoryKiB, iterations, parallelism }: Argon2Profile,
  salt: Uint8Array,
  hash: Uint8Array,
): string {
  const text = (bytes: Uint8Array): string => bytes.toBase64({ omitPadding: true });
  return `$argon2id$v=19$m=${memoryKiB},t=${iterations},p=${parallelism}$${text(salt)}$${
    text(hash)
  }`;
}

/** As in proto, which a worker would have to load as a whole for these lines. */
function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i] ?? 0);
  return difference === 0;
}
