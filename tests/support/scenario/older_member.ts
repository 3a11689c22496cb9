/** Members whose leaves do not list all that this version is capable of. */
import {
  atOnce,
  createKeyPackage,
  DurableGroup,
  Group,
  type MlsIdentity,
  type OwnKeyPackage,
  portableSignatures,
  withOlderLeaf,
} from "../../../sdk/testing/agents.ts";
import { type Actor, name, type Stage } from "./stage.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** An older owner with a channel and nobody else in it. */
export async function createOlderOwner(stage: Stage): Promise<Actor> {
  const owner = await stage.actor("alice");
  await owner.manager.create(name);
  const { channelId, group: { binding, changes } } = await owner.inside();
  const { identity } = owner.agent.parts;
  const nowMs = stage.world.time.nowMs();
  const own = createOlderKeyPackage(identity, nowMs);
  const group = Group.begin({ channelId, binding, changes }, own, {
    signatures: portableSignatures,
    policy: () => undefined,
    randomBytes,
    findPsk: () => undefined,
    identity,
    clocksMs: () => [nowMs],
    carryOut: atOnce,
    padding: () => 0,
  });
  await owner.change(async (store) => void await DurableGroup.save(group, store));
  return owner;
}

/** Adds a member that stays away; by default its leaf knows no policies. */
export async function addOlderMember(
  owner: Actor,
  member: Actor,
  { world }: Stage,
  types?: readonly number[],
): Promise<void> {
  const inside = await owner.inside();
  const { keyPackage } = createOlderKeyPackage(
    member.agent.parts.identity,
    world.time.nowMs(),
    types,
  );
  await inside.commit(() => ({ add: [keyPackage] }));
}

/** The KeyPackage of a program of before, to be handed to a member. */
export function createOlderMessage(
  { agent: { parts: { identity } } }: Actor,
  { world }: Stage,
  types?: readonly number[],
): Uint8Array {
  return createOlderKeyPackage(identity, world.time.nowMs(), types).message;
}

function createOlderKeyPackage(
  identity: MlsIdentity,
  nowMs: number,
  types?: readonly number[],
): OwnKeyPackage {
  const made = createKeyPackage({
    suiteId: 3,
    identity,
    notBeforeMs: nowMs - dayMs,
    notAfterMs: nowMs + dayMs,
    lastResort: false,
    randomBytes,
    signatures: portableSignatures,
  });
  return withOlderLeaf(made, identity, types);
}

function randomBytes(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length));
}
