/**
 * Trust on first use, per channel: an identity keeps the signature key under which it was first
 * seen, until another one is learned, which is reported. The right to bring another key in is
 * judged elsewhere (`key_changes.ts`, `commits/adding.ts`).
 */
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import type { CredentialPolicy, MemberCredential } from "../../mls/leaf.ts";

export interface FirstUseKey {
  readonly identity: Uint8Array;
  readonly signatureKey: Uint8Array;
}

/** Many times the members of a channel, and small enough for one record. */
const maxKnown = 8192;

export class FirstUseTrust {
  /** Signature keys by identity, both in hexadecimal. */
  readonly #known: Map<string, string>;

  constructor(known: Iterable<FirstUseKey> = []) {
    this.#known = new Map(
      Array.from(
        known,
        ({ identity, signatureKey }) => [bytesToHex(identity), bytesToHex(signatureKey)],
      ),
    );
  }

  /**
   * For `GroupDeps.policy`. Checking learns nothing: what is checked may still be refused for
   * another reason.
   */
  readonly policy: CredentialPolicy = ({ identity, signatureKey }) => {
    const [name, key] = [bytesToHex(identity), bytesToHex(signatureKey)];
    const known = this.#known.get(name);
    return known === undefined || known === key
      ? undefined
      : "its identity is known in this channel under another key";
  };

  /** These are members now. Returns the identities whose key has changed. */
  learn(members: Iterable<MemberCredential>): Uint8Array[] {
    const changed: Uint8Array[] = [];
    for (const { identity, signatureKey } of members) {
      const [name, key] = [bytesToHex(identity), bytesToHex(signatureKey)];
      const known = this.#known.get(name);
      if (known !== undefined && known !== key) changed.push(identity);
      this.#known.delete(name);
      this.#known.set(name, key);
    }
    return changed;
  }

  /**
   * Agents that come and go without end must not fill the disk: of former members only the latest
   * are kept.
   */
  prune(members: Iterable<MemberCredential>): void {
    if (this.#known.size <= maxKnown) return;
    const staying = new Set(Array.from(members, ({ identity }) => bytesToHex(identity)));
    for (const name of this.#known.keys()) {
      if (this.#known.size <= maxKnown) return;
      if (!staying.has(name)) this.#known.delete(name);
    }
  }

  /** To be stored, and given to the constructor after a restart. */
  *keys(): Generator<FirstUseKey> {
    for (const [identity, signatureKey] of this.#known) {
      yield { identity: hexToBytes(identity), signatureKey: hexToBytes(signatureKey) };
    }
  }
}
