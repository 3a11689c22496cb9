/**
 * Sessions by the secrets that name them. A secret is looked up by its SHA-256, so that how long a
 * lookup takes tells nothing about secrets that exist. Of ended sessions only the reason is
 * remembered, for a bounded number of them: their clients are told why, and a late call does not
 * open them again.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { encodeBase64url } from "../../proto/mod.ts";
import type { EndReason } from "../core/client_link.ts";

export const secretBytes = 32;
const rememberedEnds = 4_096;

export class SecretMap<Session> {
  readonly #live = new Map<string, Session>();
  readonly #ended = new Map<string, EndReason | undefined>();

  get size(): number {
    return this.#live.size;
  }

  find(secret: Uint8Array): Session | undefined {
    return this.#live.get(keyOf(secret));
  }

  /** Whether, and why, a session of this secret has ended. */
  findEnd(secret: Uint8Array): { readonly reason: EndReason | undefined } | undefined {
    const key = keyOf(secret);
    return this.#ended.has(key) ? { reason: this.#ended.get(key) } : undefined;
  }

  add(secret: Uint8Array, session: Session): void {
    this.#live.set(keyOf(secret), session);
  }

  end(secret: Uint8Array, reason: EndReason | undefined): void {
    const key = keyOf(secret);
    if (!this.#live.delete(key)) return;
    this.#ended.set(key, reason);
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > rememberedEnds && oldest !== undefined) this.#ended.delete(oldest);
  }
}

function keyOf(secret: Uint8Array): string {
  return encodeBase64url(sha256(secret));
}
