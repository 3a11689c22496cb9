/**
 * Channels in which every secret that travelled had the layer of X-Wing, so that a recording stays
 * closed to outsiders: `docs/protocol.md` has the rules. Every member judges by the group and by
 * bytes alone; followers of a founding by its Welcome, for they never see its KeyPackages.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import { type AgentId, foundingEpoch, generationOf, MlsReader } from "../../proto/mod.ts";
import { MlsFault } from "./codec.ts";
import { hasLayer } from "./crypto/seal_layer.ts";
import { type KeyPackage, sealKeyOf } from "./key_package.ts";
import { agentOf, listsExtension, sealingExtension } from "./leaf.ts";
import type { Welcome } from "./ts_mls.ts";

/** In the GroupContext of a channel that is sealed. */
export interface Sealing {
  /** Nobody comes in without a key; otherwise the first that does ends the sealing. */
  readonly required: boolean;
  /** The first epoch from which it holds. */
  readonly since: number;
}

/** The choice for a new channel. */
export type SealingChoice = "require" | "prefer";

const format = 1;

export function newSealing(choice: SealingChoice): Sealing {
  return { required: choice !== "prefer", since: 0 };
}

export function encodeSealing({ required, since }: Sealing): Uint8Array {
  const number = new Uint8Array(8);
  new DataView(number.buffer).setBigUint64(0, BigInt(since));
  return concatBytes(Uint8Array.of(format, required ? 1 : 0), number);
}

/** Throws `WireError` for whatever `encodeSealing` would not have written. */
export function decodeSealing(bytes: Uint8Array): Sealing {
  const reader = new MlsReader(bytes, "sealing of a channel");
  const found = reader.uint8();
  if (found !== format) reader.refuse(`its format is ${found}, this version knows ${format}`);
  const require = reader.uint8();
  if (require > 1) reader.refuse("it neither requires the layer nor prefers it");
  const since = reader.uint64();
  reader.end();
  return { required: require === 1, since };
}

export function sameSealing(a: Sealing | undefined, b: Sealing | undefined): boolean {
  return a?.required === b?.required && a?.since === b?.since;
}

/** Whether the secrets of a newcomer with this KeyPackage are sealed, and it can say so. */
export function hasSealKey(keyPackage: KeyPackage): boolean {
  try {
    return sealKeyOf(keyPackage) !== undefined &&
      listsExtension(keyPackage.leafNode, sealingExtension);
  } catch (error) {
    if (error instanceof MlsFault) return false;
    throw error;
  }
}

/** Whether it lacks a key without which nobody comes in. */
export function isKeyMissing(keyPackage: KeyPackage, sealing: Sealing | undefined): boolean {
  return sealing?.required === true && !hasSealKey(keyPackage);
}

/** Returns the agents that come in without a key. */
export function withoutSealKey(added: readonly KeyPackage[]): AgentId[] {
  return added.flatMap((keyPackage) =>
    hasSealKey(keyPackage) ? [] : [agentOf(keyPackage.leafNode)]
  );
}

/** After a commit that adds these without a key. Throws `MlsFault` where they may not come. */
export function sealingAfter(
  before: Sealing | undefined,
  keyless: readonly AgentId[],
): Sealing | undefined {
  if (before === undefined) return undefined;
  const [first] = keyless;
  if (first === undefined) return before;
  if (!before.required) return undefined;
  throw new MlsFault(
    `The KeyPackage of agent ${first} has no key for the layer of Welcomes, which the channel requires`,
  );
}

/** Returns the sealing of a new generation that begins with these KeyPackages. */
export function foundedSealing(
  base: Sealing | undefined,
  added: readonly KeyPackage[],
  generation: number,
): Sealing | undefined {
  if (base?.required === true) return base;
  return withoutSealKey(added).length > 0 ? undefined : regained(base, generation);
}

/** Whether followers take this as the sealing of a new generation on that base. */
export function mayFollow(
  founded: Sealing | undefined,
  base: Sealing | undefined,
  generation: number,
): boolean {
  if (base?.required === true) return sameSealing(founded, base);
  return founded === undefined || sameSealing(founded, regained(base, generation));
}

function regained(base: Sealing | undefined, generation: number): Sealing {
  return { required: false, since: base?.since ?? foundingEpoch(generation) + 1 };
}

/** Throws `MlsFault` for one that no member writes into this epoch. */
export function checkSealing(sealing: Sealing | undefined, epoch: number): void {
  if (sealing === undefined) return;
  const { required, since } = sealing;
  const generation = generationOf(since);
  const isBeginning = since === 0 || (generation > 0 && since === foundingEpoch(generation) + 1);
  if (since > epoch || !isBeginning || (required && since !== 0)) {
    throw new MlsFault("A channel says that it is sealed from an epoch on from which it cannot be");
  }
}

/**
 * Checks a Welcome for the agents that come in by it: all newcomers have the same secret, so one
 * without the layer gives away that of all. Throws `MlsFault`.
 */
export function checkWelcomeSealed({ secrets }: Welcome, sealing: Sealing | undefined): void {
  if (sealing === undefined) return;
  if (!secrets.every(({ encryptedGroupSecrets }) => hasLayer(encryptedGroupSecrets))) {
    throw new MlsFault("Cannot join: the channel is sealed, and the Welcome is not");
  }
}

/**
 * Checks the sealing for a member that comes back; `known`: the sealing of its channel. Throws
 * `MlsFault`.
 */
export function checkStillRequired(
  known: Sealing | undefined,
  { sealing }: { readonly sealing?: Sealing | undefined },
): void {
  if ((known?.required ?? false) !== (sealing?.required ?? false)) {
    throw new MlsFault(
      "Cannot join: whether the channel requires the layer of Welcomes is not as this agent knew it",
    );
  }
}
