/**
 * Finds out when copies of the log differ: a fault of the nodes, of a disk or of this program.
 * Every relay tells what its copy came to at certain positions. One that does not agree with the
 * most of them must not go on serving; a new life folds anew.
 */
import { encodeBase64url } from "../../../proto/mod.ts";

export interface DivergenceCheckOptions {
  readonly relay: string;
  readonly digestAt: (position: number) => Uint8Array | undefined;
  readonly onDiffers: (position: number, others: readonly string[]) => void;
}

/** Positions whose digests are compared. */
const keptPositions = 32;

export class DivergenceCheck {
  readonly #options: DivergenceCheckOptions;
  readonly #told = new Map<number, Map<string, string>>();
  #last = 0;
  differences = 0;
  /** Digests of others that were this relay's own. */
  agreed = 0;

  constructor(options: DivergenceCheckOptions) {
    this.#options = options;
  }

  /** Whether this relay has not told of a position yet; it is asked before it does. */
  shouldTell(position: number): boolean {
    if (position <= this.#last) return false;
    this.#last = position;
    return true;
  }

  /** A relay, this one included, says what its copy came to. */
  take(relay: string, position: number, digest: Uint8Array): void {
    const votes = this.#told.get(position) ?? new Map<string, string>();
    this.#told.set(position, votes);
    votes.set(relay, encodeBase64url(digest));
    const [oldest] = this.#told.keys();
    if (this.#told.size > keptPositions && oldest !== undefined) this.#told.delete(oldest);
    const known = this.#options.digestAt(position);
    if (known === undefined) return;
    const own = encodeBase64url(known);
    const others = [...votes].filter(([from, vote]) =>
      from !== this.#options.relay && vote !== own
    );
    if (relay !== this.#options.relay && others.length === 0) this.agreed++;
    if (others.length === 0) return;
    this.differences++;
    const agreeing = 1 +
      [...votes].filter(([from, vote]) => from !== this.#options.relay && vote === own).length;
    if (agreeing <= others.length) this.#options.onDiffers(position, others.map(([from]) => from));
  }
}
