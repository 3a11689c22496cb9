/** A generation that an owner begins, without a word of what went wrong in the one before. */
import { sha256 } from "@noble/hashes/sha2.js";
import { baseOf } from "../base_epoch.ts";
import type { FoundingPlan } from "../founding.ts";
import type { KeyPackage } from "../key_package.ts";
import { foundedChange, keepChanges, versionOf } from "../owners_chain.ts";
import { versionIn } from "../owners_rules.ts";
import { foundedSealing, type Sealing } from "../sealing_rules.ts";
import type { Agent } from "./world.ts";

/** `sealing`: that of an honest owner's program if it is not given. */
export function foundedPlan(
  owner: Agent,
  add: readonly KeyPackage[],
  forged?: { readonly sealing: Sealing | undefined },
): FoundingPlan {
  const { world, identity, id } = owner;
  const { binding, changes, current } = owner.member;
  const base = baseOf(current);
  const generation = base.generation + 1;
  const founding = sha256(new Uint8Array(32).fill(generation));
  const { channelId } = world;
  const change = foundedChange(
    { channelId, before: versionIn(binding), owners: [id], founded: { generation, founding } },
    identity,
    world.signatures,
  );
  const { version, lastChange } = versionOf(change);
  const { sealing } = forged ?? { sealing: foundedSealing(binding.sealing, add, generation) };
  return {
    channelId,
    base,
    binding: {
      ...binding,
      owners: [id],
      chain: { version, lastChange },
      generation: { channelId, generation, founding, absent: [] },
      sealing,
    },
    changes: keepChanges(changes, [change]),
    own: owner.createKeyPackage(),
    add,
  };
}
