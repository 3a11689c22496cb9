/**
 * An account of NATS for the relays of one cluster: an operator, an account with JetStream and
 * users, with the tokens that join them. The tool of NATS that makes such accounts is on few
 * machines, and its formats are small: keys in base32 with a prefix and a checksum, and tokens that
 * are signed with them.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { sha256 } from "@noble/hashes/sha2.js";

/**
 * Everything that is needed to sign for the account. All of it is secret. The log on the nodes
 * belongs to the account.
 */
export interface NatsAccount {
  readonly createdMs: number;
  /** Seeds, as the tool of NATS takes them too. */
  readonly operator: string;
  readonly system: string;
  readonly account: string;
  /** The newest user was made then, by the clock of the machine that made it. */
  readonly issuedMs: number;
  /** Users that were made until then are refused. */
  readonly revokedMs?: number;
}

interface NatsKeyPair {
  readonly publicKey: string;
  sign(text: string): string;
}

/** First byte of a public key; a seed has it behind one of its own. */
const prefixes = { operator: 14 << 3, account: 0, user: 20 << 3 } as const;
const seedPrefix = 18 << 3;
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const unlimited = { subs: -1, data: -1, payload: -1 };

export function createNatsAccount(nowMs: number): NatsAccount {
  const [operator, system, account] = [
    createSeed("operator"),
    createSeed("account"),
    createSeed("account"),
  ];
  return { createdMs: nowMs, issuedMs: nowMs, operator, system, account };
}

/**
 * The same account, to which only users have access that are made after this, also if this clock is
 * behind another one.
 */
export function revokeUsers(of: NatsAccount, nowMs: number): NatsAccount {
  return { ...of, revokedMs: Math.max(nowMs, of.issuedMs, of.revokedMs ?? 0) };
}

/**
 * The same account, with the time of a user that is made now: later than the revocation by a
 * second, because tokens count seconds.
 */
export function issueUser(of: NatsAccount, nowMs: number): NatsAccount {
  return { ...of, issuedMs: Math.max(nowMs, of.issuedMs, (of.revokedMs ?? -1_000) + 1_000) };
}

/**
 * Lines for the configuration of a node, the same for all. No secrets: only public keys, and what
 * was signed with the others.
 */
export function accountSettings({ createdMs, revokedMs, ...seeds }: NatsAccount): string {
  const [operator, system, account] = [
    keysOf(seeds.operator),
    keysOf(seeds.system),
    keysOf(seeds.account),
  ];
  const signed = (keys: NatsKeyPair, name: string, nats: object): string =>
    token({ issuer: operator, subject: keys, name, seconds: secondsOf(createdMs) }, nats);
  const limits = { ...unlimited, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
  const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const revoked = revokedMs === undefined ? {} : { revocations: { "*": secondsOf(revokedMs) } };
  const relays = { type: "account", version: 2, limits: { ...limits, ...storage }, ...revoked };
  return `
operator: ${signed(operator, "operator", { type: "operator", version: 2 })}
system_account: ${system.publicKey}
resolver: MEMORY
resolver_preload: {
  ${system.publicKey}: ${signed(system, "system", { type: "account", version: 2, limits })}
  ${account.publicKey}: ${signed(account, "relays", relays)}
}
`;
}

/** The content of a credentials file for a new user of the account, as old as its newest. */
export function createCredentials({ account, issuedMs }: NatsAccount): string {
  const seed = createSeed("user");
  const claims = { type: "user", version: 2, pub: {}, sub: {}, ...unlimited };
  const signing = {
    issuer: keysOf(account),
    subject: keysOf(seed),
    name: "relay",
    seconds: secondsOf(issuedMs),
  };
  const jwt = token(signing, claims);
  return `-----BEGIN NATS USER JWT-----
${jwt}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
${seed}
------END USER NKEY SEED------
`;
}

interface TokenDraft {
  readonly issuer: NatsKeyPair;
  readonly subject: NatsKeyPair;
  readonly name: string;
  /** When it is made, since 1970. */
  readonly seconds: number;
}

function token({ issuer, subject, name, seconds }: TokenDraft, nats: object): string {
  const header = { typ: "JWT", alg: "ed25519-nkey" };
  const claims = { iat: seconds, iss: issuer.publicKey, sub: subject.publicKey, name, nats };
  const jti = base32(sha256(new TextEncoder().encode(JSON.stringify(claims))));
  const body = [header, { jti, ...claims }].map((part) =>
    base64url(new TextEncoder().encode(JSON.stringify(part)))
  )
    .join(".");
  return `${body}.${issuer.sign(body)}`;
}

function secondsOf(ms: number): number {
  return Math.floor(ms / 1000);
}

function createSeed(kind: keyof typeof prefixes): string {
  const prefix = prefixes[kind];
  const secret = crypto.getRandomValues(new Uint8Array(32));
  return encode(Uint8Array.of(seedPrefix | (prefix >> 5), (prefix & 31) << 3, ...secret));
}

function keysOf(seed: string): NatsKeyPair {
  const [first = 0, second = 0, ...rest] = decode(seed);
  const secret = Uint8Array.from(rest);
  const prefix = ((first & 7) << 5) | (second >> 3);
  return {
    publicKey: encode(Uint8Array.of(prefix, ...ed25519.getPublicKey(secret))),
    sign: (text) => base64url(ed25519.sign(new TextEncoder().encode(text), secret)),
  };
}

/** Base32 with a CRC-16 behind, the low byte first. */
function encode(bytes: Uint8Array): string {
  const sum = crc16(bytes);
  return base32(Uint8Array.of(...bytes, sum & 0xff, sum >> 8));
}

/** Throws when the checksum says that a letter is wrong. */
function decode(text: string): Uint8Array {
  const bits = Array.from(text, (letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0"))
    .join("");
  const bytes = Uint8Array.from(bits.match(/.{8}/g) ?? [], (eight) => parseInt(eight, 2));
  const content = bytes.slice(0, -2);
  if (bytes.length < 3 || encode(content) !== text) throw new Error("a seed of NATS is damaged");
  return content;
}

/** RFC 4648, without padding. */
function base32(bytes: Uint8Array): string {
  const letters =
    Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("").match(/.{1,5}/g) ?? [];
  return letters.map((five) => alphabet[parseInt(five.padEnd(5, "0"), 2)]).join("");
}

/** XMODEM's polynomial. */
function crc16(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) {
      sum = (sum & 0x8000) === 0 ? (sum << 1) & 0xffff : ((sum << 1) ^ 0x1021) & 0xffff;
    }
  }
  return sum;
}

function base64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}
