/**
 * MLS structures written by hand (RFC 9420 sections 2.1, 6.3, 7.2, 10), independently of the code
 * that reads them: valid KeyPackages and PrivateMessages for tests that need no group behind them.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";

/** `opaque x<V>`. */
export function mlsVector(...parts: Uint8Array[]): Uint8Array {
  const content = concatBytes(...parts);
  if (content.length < 2 ** 6) return concatBytes(mlsUint(content.length, 1), content);
  if (content.length < 2 ** 14) return concatBytes(mlsUint(0x4000 + content.length, 2), content);
  return concatBytes(mlsUint(0x8000_0000 + content.length, 4), content);
}

export function mlsUint(value: number | bigint, size: 1 | 2 | 4 | 8): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes.slice(8 - size);
}

/** Those of channels, which every leaf lists. */
const extensionTypes = [0xf5c0, 0xf5c2, 0xf5c3].map((type) => mlsUint(type, 2));

export interface KeyPackageOptions {
  /** Ed25519 seed that signs. */
  readonly secretKey: Uint8Array;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly suite: number;
  readonly identity: Uint8Array;
  readonly initKey: Uint8Array;
  /** The leaf's encryption key. */
  readonly leafKey: Uint8Array;
  /** The key that it names, when that is not the one that signs. */
  readonly signatureKey: Uint8Array;
  readonly capabilities: Uint8Array;
  readonly source: number;
  readonly credentialType: number;
  readonly extensions: Uint8Array;
}

type Required = "secretKey" | "notBeforeMs" | "notAfterMs";

/** A signed KeyPackage as an MLSMessage. */
export function createKeyPackage(
  options: Pick<KeyPackageOptions, Required> & Partial<KeyPackageOptions>,
): Uint8Array {
  const {
    secretKey,
    suite = 3,
    identity = utf8ToBytes("agent"),
    initKey = new Uint8Array(32).fill(1),
    leafKey = new Uint8Array(32).fill(2),
    signatureKey = ed25519.getPublicKey(secretKey),
    source = 1,
    credentialType = 1,
    extensions = new Uint8Array(0),
  } = options;
  const one = mlsVector(mlsUint(1, 2));
  const capabilities = options.capabilities ??
    concatBytes(one, mlsVector(mlsUint(suite, 2)), mlsVector(...extensionTypes), mlsVector(), one);
  const sign = (label: string, content: Uint8Array): Uint8Array =>
    ed25519.sign(
      concatBytes(mlsVector(utf8ToBytes(`MLS 1.0 ${label}`)), mlsVector(content)),
      secretKey,
    );

  const leafContent = concatBytes(
    mlsVector(leafKey),
    mlsVector(signatureKey),
    mlsUint(credentialType, 2),
    mlsVector(identity),
    capabilities,
    mlsUint(source, 1),
    mlsUint(Math.floor(options.notBeforeMs / 1000), 8),
    mlsUint(Math.floor(options.notAfterMs / 1000), 8),
    mlsVector(),
  );
  const leaf = concatBytes(leafContent, mlsVector(sign("LeafNodeTBS", leafContent)));
  const content = concatBytes(
    mlsUint(1, 2),
    mlsUint(suite, 2),
    mlsVector(initKey),
    leaf,
    mlsVector(extensions),
  );
  return concatBytes(
    mlsUint(1, 2),
    mlsUint(5, 2),
    content,
    mlsVector(sign("KeyPackageTBS", content)),
  );
}

export interface PrivateMessageOptions {
  readonly groupId: Uint8Array;
  readonly epoch: number | bigint;
  /** 1 application, 2 proposal, 3 commit. */
  readonly contentType: number;
  readonly authenticatedData: Uint8Array;
  readonly ciphertext: Uint8Array;
  readonly wireFormat: number;
  readonly version: number;
}

/** An MLSMessage with a PrivateMessage whose ciphertext nobody can open. */
export function createPrivateMessage(options: Partial<PrivateMessageOptions> = {}): Uint8Array {
  return concatBytes(
    mlsUint(options.version ?? 1, 2),
    mlsUint(options.wireFormat ?? 2, 2),
    mlsVector(options.groupId ?? new Uint8Array(16)),
    mlsUint(options.epoch ?? 0, 8),
    mlsUint(options.contentType ?? 1, 1),
    mlsVector(options.authenticatedData ?? new Uint8Array(0)),
    mlsVector(new Uint8Array(28)),
    mlsVector(options.ciphertext ?? new Uint8Array(32)),
  );
}

/** An MLSMessage with a Welcome for this many, which nobody can open. */
export function createWelcome(recipients = 1, bytes = 64): Uint8Array {
  const secret = (index: number): Uint8Array =>
    concatBytes(
      mlsVector(new Uint8Array(32).fill(index)),
      mlsVector(new Uint8Array(32)),
      mlsVector(new Uint8Array(bytes)),
    );
  return concatBytes(
    mlsUint(1, 2),
    mlsUint(3, 2),
    mlsUint(3, 2),
    mlsVector(...Array.from({ length: recipients }, (_, index) => secret(index))),
    mlsVector(new Uint8Array(bytes)),
  );
}
