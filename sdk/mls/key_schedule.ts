/** The key schedule of RFC 9420 section 8, one epoch at a time. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { hmacSha256, sha256 } from "../../wasm/mod.ts";
import { label, MlsFault, vector } from "./codec.ts";
import { deriveSecret, expandWithLabel } from "./crypto/labelled.ts";
import { extract, hashBytes } from "./crypto/suite.ts";
import { encodePskId, encodePskLabel, type PreSharedKeyID } from "./ts_mls.ts";

const names = {
  joiner: label("joiner"),
  epoch: label("epoch"),
  welcome: label("welcome"),
  senderData: label("sender data"),
  encryption: label("encryption"),
  exporter: label("exporter"),
  external: label("external"),
  confirm: label("confirm"),
  membership: label("membership"),
  resumption: label("resumption"),
  authentication: label("authentication"),
  init: label("init"),
  exported: label("exported"),
  derivedPsk: label("derived psk"),
} as const;

/**
 * The secrets that a member keeps of an epoch. The encryption secret is not among them: it becomes
 * the secret tree.
 */
export interface EpochSecrets {
  readonly senderData: Uint8Array;
  readonly exporter: Uint8Array;
  readonly external: Uint8Array;
  readonly confirmation: Uint8Array;
  readonly membership: Uint8Array;
  readonly resumption: Uint8Array;
  /** Equal for all members of an epoch, and for nobody else. */
  readonly authenticator: Uint8Array;
  readonly init: Uint8Array;
}

export interface EpochStart {
  readonly secrets: EpochSecrets;
  readonly encryption: Uint8Array;
}

/** The secret that a Welcome carries. */
export function joinerSecret(
  init: Uint8Array,
  commitSecret: Uint8Array,
  context: Uint8Array,
): Uint8Array {
  return expandWithLabel(extract(init, commitSecret), names.joiner, context, hashBytes);
}

export function welcomeSecret(joiner: Uint8Array, pskSecret: Uint8Array): Uint8Array {
  return deriveSecret(extract(joiner, pskSecret), names.welcome);
}

export function startEpoch(
  joiner: Uint8Array,
  pskSecret: Uint8Array,
  context: Uint8Array,
): EpochStart {
  return startFromEpochSecret(
    expandWithLabel(extract(joiner, pskSecret), names.epoch, context, hashBytes),
  );
}

/** Epoch 0 starts from randomness instead of a joiner secret. */
export function startFromEpochSecret(epochSecret: Uint8Array): EpochStart {
  const derive = (name: Uint8Array): Uint8Array => deriveSecret(epochSecret, name);
  return {
    encryption: derive(names.encryption),
    secrets: {
      senderData: derive(names.senderData),
      exporter: derive(names.exporter),
      external: derive(names.external),
      confirmation: derive(names.confirm),
      membership: derive(names.membership),
      resumption: derive(names.resumption),
      authenticator: derive(names.authentication),
      init: derive(names.init),
    },
  };
}

/** Section 8.5. */
export function exportSecret(
  exporter: Uint8Array,
  name: string,
  context: Uint8Array,
  length: number,
): Uint8Array {
  const secret = deriveSecret(exporter, label(name));
  return expandWithLabel(secret, names.exported, sha256(context), length);
}

/** Section 12.1.4, for the pre-shared keys of one commit or Welcome. Throws `MlsFault`. */
export function checkPskIds(ids: readonly PreSharedKeyID[]): void {
  if (ids.some(({ pskNonce }) => pskNonce.length !== hashBytes)) {
    throw new MlsFault(`The nonce of a pre-shared key does not have ${hashBytes} bytes`);
  }
  if (ids.some((id) => id.psktype === "resumption" && id.usage !== "application")) {
    throw new MlsFault("A resumption key is of another kind than application");
  }
  if (new Set(ids.map((id) => bytesToHex(encodePskId(id)))).size !== ids.length) {
    throw new MlsFault("A pre-shared key is used twice");
  }
}

/** Section 8.4. */
export function pskSecretOf(
  ids: readonly PreSharedKeyID[],
  find: (id: PreSharedKeyID) => Uint8Array | undefined,
): Uint8Array {
  const zero = new Uint8Array(hashBytes);
  return ids.reduce<Uint8Array>((secret, id, index) => {
    const psk = find(id);
    if (psk === undefined) {
      throw new MlsFault("A commit or Welcome uses a pre-shared key that this agent does not have");
    }
    const context = encodePskLabel({ id, index, count: ids.length });
    return extract(
      expandWithLabel(extract(zero, psk), names.derivedPsk, context, hashBytes),
      secret,
    );
  }, zero);
}

/** Section 8.2. `content` is wire format, framed content and signature of the commit. */
export function confirmedTranscriptHash(
  interimBefore: Uint8Array,
  content: Uint8Array,
): Uint8Array {
  return sha256(interimBefore, content);
}

export function interimTranscriptHash(
  confirmed: Uint8Array,
  confirmationTag: Uint8Array,
): Uint8Array {
  return sha256(confirmed, vector(confirmationTag));
}

export function confirmationTag(confirmationKey: Uint8Array, confirmed: Uint8Array): Uint8Array {
  return hmacSha256(confirmationKey, confirmed);
}
