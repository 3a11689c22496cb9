/**
 * Makes the two certificates of a development machine: an authority that may vouch for loopback
 * names and nothing else (name constraints), so that trusting it is harmless, and server
 * certificates as browsers want them for certificate hashes (ECDSA P-256, at most 14 days). And
 * those of a cluster's nodes, which are servers and clients of each other. Written in DER (RFC
 * 5280) by hand: it is a page, where a library would bring a dozen packages.
 */
import { concatBytes } from "@noble/hashes/utils.js";

type Bytes = Uint8Array<ArrayBuffer>;

/** A server's certificate with its private key. */
export interface KeyedCertificate {
  /** PEM: the certificate and what leads to its root. */
  readonly cert: string;
  /** PEM: its private key. */
  readonly key: string;
}

const dayMs = 86_400_000;
const authorityDays = 365;
const serverDays = 13;
const nodeDays = 3650;
/** Clocks of clients may be behind. */
const startsEarlierMs = 3_600_000;

const ecdsa = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const serverAuth = oid(0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01);
const clientAuth = oid(0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02);
const authorityName = commonName("Static development authority");
const nodeAuthorityName = commonName("Static nodes");
const serverName = commonName("localhost");

export async function createAuthority(nowMs: number): Promise<KeyedCertificate> {
  const keys = await generateKeys();
  const own = await keyIdentifier(keys.publicKey);
  return await issue(keys, {
    signer: keys.privateKey,
    issuer: authorityName,
    subject: authorityName,
    days: authorityDays,
    nowMs,
    extensions: [
      ...authorityExtensions(own),
      // nameConstraints
      extension(0x1e, sequence(der(0xa0, concatBytes(...permittedNames()))), "critical"),
    ],
  });
}

/** For localhost, 127.0.0.1 and ::1. */
export async function createServerCertificate(
  authority: KeyedCertificate,
  nowMs: number,
): Promise<KeyedCertificate> {
  const of = { issuer: authorityName, subject: serverName, days: serverDays, nowMs };
  return await issueLeaf(authority, of, { usages: [serverAuth], names: loopbackNames() });
}

/** Creates the authority for the nodes of one cluster. Its key lets more nodes in. */
export async function createNodeAuthority(nowMs: number): Promise<KeyedCertificate> {
  const keys = await generateKeys();
  return await issue(keys, {
    signer: keys.privateKey,
    issuer: nodeAuthorityName,
    subject: nodeAuthorityName,
    days: nodeDays,
    nowMs,
    extensions: authorityExtensions(await keyIdentifier(keys.publicKey)),
  });
}

/**
 * Creates a certificate for a node that proves to the others who it is. Names are hosts and IPv4
 * addresses.
 */
export async function createNodeCertificate(
  authority: KeyedCertificate,
  names: readonly string[],
  nowMs: number,
): Promise<KeyedCertificate> {
  const of = {
    issuer: nodeAuthorityName,
    subject: commonName(names[0] ?? "node"),
    days: nodeDays,
    nowMs,
  };
  return await issueLeaf(authority, of, {
    usages: [serverAuth, clientAuth],
    names: names.map(alternativeName),
  });
}

async function issueLeaf(
  authority: KeyedCertificate,
  of: Omit<CertificateParts, "signer" | "extensions">,
  leaf: Omit<LeafParts, "authorityKey">,
): Promise<KeyedCertificate> {
  const signer = await crypto.subtle.importKey("pkcs8", decodePem(authority.key), ecdsa, false, [
    "sign",
  ]);
  const authorityKey = await keyIdentifier(await publicKeyOf(authority.key));
  return await issue(await generateKeys(), {
    ...of,
    signer,
    extensions: leafExtensions({ ...leaf, authorityKey }),
  });
}

function authorityExtensions(ownKey: Bytes): Bytes[] {
  return [
    // basicConstraints: one level
    extension(0x13, sequence(boolean(true), integer(new Uint8Array([0]))), "critical"),
    // keyUsage: keyCertSign
    extension(0x0f, der(0x03, new Uint8Array([2, 0b0000_0100])), "critical"),
    extension(0x0e, der(0x04, ownKey)), // subjectKeyIdentifier
  ];
}

interface LeafParts {
  readonly usages: readonly Bytes[];
  readonly names: readonly Bytes[];
  readonly authorityKey: Bytes;
}

function leafExtensions({ usages, names, authorityKey }: LeafParts): Bytes[] {
  return [
    extension(0x13, sequence(), "critical"), // basicConstraints: no authority
    // keyUsage: digitalSignature
    extension(0x0f, der(0x03, new Uint8Array([7, 0b1000_0000])), "critical"),
    extension(0x25, sequence(...usages)), // extKeyUsage
    extension(0x11, sequence(...names)), // subjectAltName
    extension(0x23, sequence(der(0x80, authorityKey))), // authorityKeyIdentifier
  ];
}

interface CertificateParts {
  readonly signer: CryptoKey;
  readonly issuer: Bytes;
  readonly subject: Bytes;
  readonly days: number;
  readonly nowMs: number;
  readonly extensions: readonly Bytes[];
}

async function issue(keys: CryptoKeyPair, parts: CertificateParts): Promise<KeyedCertificate> {
  const { signer, issuer, subject, days, nowMs, extensions } = parts;
  const startMs = nowMs - startsEarlierMs;
  const toBeSigned = sequence(
    der(0xa0, integer(new Uint8Array([2]))),
    integer(crypto.getRandomValues(new Uint8Array(16))),
    ecdsaWithSha256,
    issuer,
    sequence(time(startMs), time(startMs + days * dayMs)),
    subject,
    new Uint8Array(await crypto.subtle.exportKey("spki", keys.publicKey)),
    der(0xa3, sequence(...extensions)),
  );
  const signature = new Uint8Array(await crypto.subtle.sign(ecdsa, signer, toBeSigned));
  const signed = sequence(integer(signature.slice(0, 32)), integer(signature.slice(32)));
  const certificate = sequence(toBeSigned, ecdsaWithSha256, bitString(signed));
  const key = new Uint8Array(await crypto.subtle.exportKey("pkcs8", keys.privateKey));
  return { cert: encodePem("CERTIFICATE", certificate), key: encodePem("PRIVATE KEY", key) };
}

async function generateKeys(): Promise<CryptoKeyPair> {
  return await crypto.subtle.generateKey(ecdsa, true, ["sign", "verify"]);
}

async function publicKeyOf(privatePem: string): Promise<CryptoKey> {
  const key = await crypto.subtle.importKey("pkcs8", decodePem(privatePem), ecdsa, true, ["sign"]);
  const { kty = "", crv = "", x = "", y = "" } = await crypto.subtle.exportKey("jwk", key);
  return await crypto.subtle.importKey("jwk", { kty, crv, x, y }, ecdsa, true, ["verify"]);
}

async function keyIdentifier(key: CryptoKey): Promise<Bytes> {
  return new Uint8Array(
    await crypto.subtle.digest("SHA-1", await crypto.subtle.exportKey("raw", key)),
  );
}

const ipv6Loopback = new Uint8Array(16).with(15, 1);

function loopbackNames(): Bytes[] {
  return [
    der(0x82, text("localhost")),
    der(0x87, new Uint8Array([127, 0, 0, 1])),
    der(0x87, ipv6Loopback),
  ];
}

/** Returns the alternative name for a host or an IPv4 address. */
function alternativeName(name: string): Bytes {
  const isAddress = /^\d{1,3}(\.\d{1,3}){3}$/.test(name);
  return isAddress ? der(0x87, Uint8Array.from(name.split("."), Number)) : der(0x82, text(name));
}

/** Addresses with their masks. */
function permittedNames(): Bytes[] {
  const ipv4 = new Uint8Array([127, 0, 0, 0, 255, 0, 0, 0]);
  const ipv6 = concatBytes(ipv6Loopback, new Uint8Array(16).fill(255));
  return [der(0x82, text("localhost")), der(0x87, ipv4), der(0x87, ipv6)].map((name) =>
    sequence(name)
  );
}

/** `id-ce` and the last part of the extension's identifier. */
function extension(id: number, value: Bytes, critical?: "critical"): Bytes {
  return sequence(
    oid(0x55, 0x1d, id),
    ...(critical === undefined ? [] : [boolean(true)]),
    der(0x04, value),
  );
}

function der(tag: number, content: Uint8Array): Bytes {
  const { length } = content;
  const head = length < 0x80
    ? [length]
    : length < 0x100
    ? [0x81, length]
    : [0x82, length >> 8, length & 0xff];
  return concatBytes(new Uint8Array([tag, ...head]), content);
}

function sequence(...parts: readonly Uint8Array[]): Bytes {
  return der(0x30, concatBytes(...parts));
}

function oid(...encoded: number[]): Bytes {
  return der(0x06, new Uint8Array(encoded));
}

function boolean(value: boolean): Bytes {
  return der(0x01, new Uint8Array([value ? 0xff : 0]));
}

function bitString(content: Uint8Array): Bytes {
  return der(0x03, concatBytes(new Uint8Array([0]), content));
}

/** Unsigned and minimal: no leading zeros, except one before a first bit that would mean a sign. */
function integer(magnitude: Uint8Array): Bytes {
  const first = magnitude.findIndex((byte) => byte !== 0);
  const minimal = magnitude.slice(first < 0 ? magnitude.length - 1 : first);
  return der(0x02, (minimal[0] ?? 0) >= 0x80 ? concatBytes(new Uint8Array([0]), minimal) : minimal);
}

function commonName(name: string): Bytes {
  return sequence(der(0x31, sequence(oid(0x55, 0x04, 0x03), der(0x0c, text(name)))));
}

function time(ms: number): Bytes {
  return der(0x17, text(new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, "").slice(2)));
}

function text(value: string): Bytes {
  return new TextEncoder().encode(value);
}

function encodePem(label: string, content: Uint8Array): string {
  const lines = content.toBase64().match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}

function decodePem(pem: string): Bytes {
  return Uint8Array.fromBase64(pem.replace(/-----[^-]+-----/g, ""));
}
