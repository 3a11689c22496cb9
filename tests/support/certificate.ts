/**
 * A certificate for one test run: self-signed, end-entity (CA:FALSE), P-256, for loopback unless
 * told otherwise. Written in DER by hand (RFC 5280), because it is forty lines and the machine may
 * have no openssl.
 */
import { concatBytes } from "@noble/hashes/utils.js";

export interface TestCertificate {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

export interface CertificateNames {
  readonly dns?: readonly string[];
  /** As bytes, four or sixteen. */
  readonly addresses?: readonly (readonly number[])[];
}

const loopback: CertificateNames = {
  dns: ["localhost"],
  addresses: [[127, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
};

type Bytes = Uint8Array<ArrayBuffer>;

const ecdsa = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const commonName = sequence(
  der(0x31, sequence(oid(0x55, 0x04, 0x03), der(0x0c, text("localhost")))),
);
const dayMs = 86_400_000;

export async function createCertificate(
  names: CertificateNames = loopback,
): Promise<TestCertificate> {
  const keys = await crypto.subtle.generateKey(ecdsa, true, ["sign", "verify"]);
  const publicKey = new Uint8Array(await crypto.subtle.exportKey("spki", keys.publicKey));
  const toBeSigned = sequence(
    der(0xa0, integer(new Uint8Array([2]))),
    integer(crypto.getRandomValues(new Uint8Array(8))),
    ecdsaWithSha256,
    commonName,
    sequence(time(Date.now() - dayMs), time(Date.now() + dayMs)),
    commonName,
    publicKey,
    der(0xa3, sequence(notAnAuthority(), alternativeNames(names))),
  );
  const signature = new Uint8Array(await crypto.subtle.sign(ecdsa, keys.privateKey, toBeSigned));
  const signed = sequence(integer(signature.slice(0, 32)), integer(signature.slice(32)));
  const certificate = sequence(
    toBeSigned,
    ecdsaWithSha256,
    der(0x03, concatBytes(new Uint8Array([0]), signed)),
  );
  const key = new Uint8Array(await crypto.subtle.exportKey("pkcs8", keys.privateKey));
  return { cert: pem("CERTIFICATE", certificate), key: pem("PRIVATE KEY", key) };
}

function notAnAuthority(): Bytes {
  const critical = new Uint8Array([0x01, 0x01, 0xff]);
  return sequence(oid(0x55, 0x1d, 0x13), critical, der(0x04, sequence()));
}

function alternativeNames({ dns = [], addresses = [] }: CertificateNames): Bytes {
  const names = sequence(
    ...dns.map((name) => der(0x82, text(name))),
    ...addresses.map((address) => der(0x87, Uint8Array.from(address))),
  );
  return sequence(oid(0x55, 0x1d, 0x11), der(0x04, names));
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

/** Unsigned and minimal: no leading zeros, except one before a first bit that would mean a sign. */
function integer(magnitude: Uint8Array): Bytes {
  const first = magnitude.findIndex((byte) => byte !== 0);
  const minimal = magnitude.slice(first < 0 ? magnitude.length - 1 : first);
  return der(0x02, (minimal[0] ?? 0) >= 0x80 ? concatBytes(new Uint8Array([0]), minimal) : minimal);
}

function time(ms: number): Bytes {
  return der(0x17, text(new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, "").slice(2)));
}

function text(value: string): Bytes {
  return new TextEncoder().encode(value);
}

function pem(label: string, content: Uint8Array): string {
  const lines = btoa(String.fromCharCode(...content)).match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}
