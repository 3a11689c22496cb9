/** Whether every member of the present epoch knows something that a version added. */
import type { Epoch } from "../../mls/epoch.ts";
import { listsExtension } from "../../mls/leaf.ts";
import type { Membership } from "./membership.ts";

export class Capability {
  readonly #membership: Pick<Membership, "group">;
  readonly #type: number;
  #known: { readonly epoch: Epoch; readonly areAll: boolean } | undefined;

  /** `type`: by which leaves say so, in their list of extensions. */
  constructor(membership: Pick<Membership, "group">, type: number) {
    this.#membership = membership;
    this.#type = type;
  }

  get isOfAll(): boolean {
    const { current } = this.#membership.group;
    if (this.#known?.epoch !== current) {
      this.#known = { epoch: current, areAll: this.#doAllList(current) };
    }
    return this.#known.areAll;
  }

  #doAllList({ tree }: Pick<Epoch, "tree">): boolean {
    for (const [, { node }] of tree.leaves()) {
      if (!listsExtension(node, this.#type)) return false;
    }
    return true;
  }
}
