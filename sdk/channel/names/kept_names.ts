/**
 * The names as a start finds them, and as an end of the process leaves them. Both are here, so that
 * a new field of the state is named in both: a test holds that a start finds what an end has left.
 */
import type { ChannelId, ChannelName } from "../../../proto/mod.ts";
import type { LeftoverErasure, NameSlot, NamesState, NameState } from "./names_state.ts";

/** The names, as they are on disk. */
export interface KeptNames {
  readonly channels: readonly KeptChannel[];
  /** The nonces of creations that were not answered. */
  readonly nonces: Readonly<Partial<Record<ChannelName, string>>>;
}

export interface KeptChannel {
  readonly channelId: ChannelId;
  readonly name: ChannelName;
  readonly hasKeys: boolean;
  /** The note that it is being erased. */
  readonly isNoted: boolean;
}

export function restoreNames({ channels, nonces }: KeptNames): NamesState {
  const state = nothing();
  for (const channel of channels) restore(state, channel);
  // cast: its keys are names
  for (const [name, nonce] of Object.entries(nonces) as [ChannelName, string][]) {
    state.names[name] = { ...state.names[name] ?? fresh({ at: "free" }), nonce };
  }
  return state;
}

function nothing(): NamesState {
  return { names: {}, leftovers: [], closing: [], overwritten: [], numbers: 0, stage: "working" };
}

function restore(state: NamesState, { channelId, name, hasKeys, isNoted }: KeptChannel): void {
  if (isNoted) {
    state.leftovers = [...state.leftovers, leftoverOf(channelId)];
    return;
  }
  // In a store that was damaged, a record may be left without its keys, beside a later channel of
  // the same name.
  if (state.names[name] !== undefined && !hasKeys) return;
  state.names[name] = fresh(hasKeys ? restingOf(state, channelId) : { at: "keyless", channelId });
}

function restingOf(state: NamesState, channelId: ChannelId): NameSlot {
  return { at: "resting", channelId, membership: ++state.numbers, leaf: ++state.numbers };
}

function fresh(slot: NameSlot): NameState {
  return { slot, nonce: undefined, turn: undefined, waiting: [] };
}

/**
 * Copies the state: a step works on a copy, because the disk may refuse what the step has to write.
 */
export function copyNames({ names, ...rest }: NamesState): NamesState {
  const copied: NamesState["names"] = {};
  // cast: its keys are names
  for (const name of Object.keys(names) as ChannelName[]) {
    const at = names[name];
    if (at !== undefined) copied[name] = { ...at, waiting: [...at.waiting] };
  }
  return { names: copied, ...rest };
}

/** Nothing but the disk lasts: no call, no turn, no machine. An erasure lasts by its note. */
export function forgetNames({ names, leftovers }: NamesState): NamesState {
  const state = nothing();
  state.leftovers = leftovers.map(({ channelId }) => leftoverOf(channelId));
  // cast: its keys are names
  for (const name of Object.keys(names) as ChannelName[]) {
    const at = names[name];
    if (at !== undefined) forget(state, name, at);
  }
  return state;
}

function forget(state: NamesState, name: ChannelName, { slot, nonce }: NameState): void {
  const kept = keptOf(state, slot);
  if (kept.at === "free" && nonce === undefined) return;
  state.names[name] = { ...fresh(kept), nonce };
}

function keptOf(state: NamesState, slot: NameSlot): NameSlot {
  if (slot.at === "free" || slot.at === "keyless") return slot;
  const { channelId } = slot;
  if (slot.at !== "erasing" || slot.step === "end" || slot.step === "note") {
    return restingOf(state, channelId);
  }
  state.leftovers = [...state.leftovers, leftoverOf(channelId)];
  return { at: "free" };
}

/** An erasure of a channel of which some keys may be left. */
function leftoverOf(channelId: ChannelId): LeftoverErasure {
  return { channelId, step: "keys", job: undefined };
}
