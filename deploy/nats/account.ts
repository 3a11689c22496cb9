/**
 * An account of NATS for the relays of one cluster: an operator, an account with JetStream and a user, with the tokens that join
 * them. Their keys sign here and are forgotten, except the user's. The tool of NATS that makes such accounts is on few machines,
 * and its formats are small: keys in base32 with a prefix and a checksum, and tokens that are signed with them.
 */
import { ed25519 } from "@noble/curves/ed25519.js";

export interface NatsAccount {
  /** Lines for the configuration of a node. No secrets: only public keys, and what was signed with the others. */
  readonly settings: string;
  /** The content of a credentials file for a user of the account. */
  readonly credentials: string;
}

interface KeyPair {
  readonly publicKey: string;
  readonly seed: string;
  sign(text: string): string;
}

/** First byte of a public key; a seed has it behind one of its own. */
const prefixes = { operator: 14 << 3, account: 0, user: 20 << 3 } as const;
const seedPrefix = 18 << 3;
const unlimited = { subs: -1, data: -1, payload: -1 };

export function createNatsAccount(nowMs: number): NatsAccount {
  const [operator, system, account] = [createKeys("operator"), createKeys("account"), createKeys("account")];
  const signed = (keys: KeyPair, name: string, nats: object): string =>
    token({ issuer: operator, subject: keys, name, nowMs }, nats);
  const limits = { ...unlimited, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
  const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const settings = `
operator: ${signed(operator, "operator", { type: "operator", version: 2 })}
system_account: ${system.publicKey}
resolver: MEMORY
resolver_preload: {
  ${system.publicKey}: ${signed(system, "system", { type: "account", version: 2, limits })}
  ${account.publicKey}: ${signed(account, "relays", { type: "account", version: 2, limits: { ...limits, ...storage } })}
}
`;
  return { settings, credentials: credentialsOf(account, nowMs) };
}

function credentialsOf(account: KeyPair, nowMs: number): string {
  const user = createKeys("user");
  const claims = { type: "user", version: 2, pub: {}, sub: {}, ...unlimited };
  const jwt = token({ issuer: account, subject: user, name: "relay", nowMs }, claims);
  return `-----BEGIN NATS USER JWT-----
${jwt}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
${user.seed}
------END USER NKEY SEED------
`;
}

interface Signing {
  readonly issuer: KeyPair;
  readonly subject: KeyPair;
  readonly name: string;
  readonly nowMs: number;
}

function token({ issuer, subject, name, nowMs }: Signing, nats: object): string {
  const header = { typ: "JWT", alg: "ed25519-nkey" };
  const claims = { iat: Math.floor(nowMs / 1000), iss: issuer.publicKey, sub: subject.publicKey, name, nats };
  const body = [header, { jti: crypto.randomUUID(), ...claims }].map((part) =>
    base64url(new TextEncoder().encode(JSON.stringify(part)))
  ).join(".");
  return `${body}.${issuer.sign(body)}`;
}

function createKeys(kind: keyof typeof prefixes): KeyPair {
  const secret = crypto.getRandomValues(new Uint8Array(32));
  const prefix = prefixes[kind];
  return {
    publicKey: encode(Uint8Array.of(prefix, ...ed25519.getPublicKey(secret))),
    seed: encode(Uint8Array.of(seedPrefix | (prefix >> 5), (prefix & 31) << 3, ...secret)),
    sign: (text) => base64url(ed25519.sign(new TextEncoder().encode(text), secret)),
  };
}

/** Base32 (RFC 4648, without padding) with a CRC-16 behind, the low byte first. */
function encode(bytes: Uint8Array): string {
  const sum = crc16(bytes);
  const bits = [...bytes, sum & 0xff, sum >> 8].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const letters = bits.match(/.{1,5}/g) ?? [];
  return letters.map((five) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[parseInt(five.padEnd(5, "0"), 2)]).join("");
}

/** XMODEM's polynomial. */
function crc16(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) sum = (sum & 0x8000) === 0 ? (sum << 1) & 0xffff : ((sum << 1) ^ 0x1021) & 0xffff;
  }
  return sum;
}

function base64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}
