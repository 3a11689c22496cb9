/**
 * Chains for looking ahead in the log: each epoch's begin where the group's stand and move on
 * alone. So a message can be opened before its turn, and be received like any other when its turn
 * comes.
 */
import type { SecretTree } from "./secret_tree.ts";

export class ChainForks {
  #latest: { readonly epoch: bigint; readonly tree: SecretTree } | undefined;

  /** The log's epochs only grow: those before this one are not needed any more. */
  of(epoch: bigint, tree: SecretTree): SecretTree {
    if (this.#latest?.epoch !== epoch) this.#latest = { epoch, tree: tree.fork() };
    return this.#latest.tree;
  }
}
