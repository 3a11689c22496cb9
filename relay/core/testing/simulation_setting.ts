/** The shared state of a schedule's actions: the agents, and their choices. */
import {
  type ChannelId,
  type ChannelName,
  type InviteId,
  parseChannelName,
} from "../../../proto/mod.ts";
import type { Random } from "../../../tests/support/mod.ts";
import type { SimulatedAgent } from "./simulation_agent.ts";
import type { AgentStock } from "./simulation_bytes.ts";
import type { ModelChannel } from "./simulation_model.ts";
import type { SimulatedRelay } from "./simulation_relay.ts";

export interface Simulation {
  readonly random: Random;
  readonly relay: SimulatedRelay;
  readonly agents: readonly SimulatedAgent[];
  readonly stock: AgentStock;
  readonly names: readonly ChannelName[];
  /**
   * KeyPackages that may still be used: verifying one takes longer than a hundred other requests.
   */
  keyPackages: number;
  /** The next KeyPackage of the stock. */
  nextKeyPackage: number;
  readonly invites: HeldInvite[];
}

export interface HeldInvite {
  readonly channelId: ChannelId;
  readonly inviteId: InviteId;
}

/** One that was not used in this schedule yet. */
export function nextKeyPackage(simulation: Simulation, { agent }: SimulatedAgent): Uint8Array {
  simulation.keyPackages--;
  return simulation.stock.keyPackage(agent, simulation.nextKeyPackage++);
}

/** Mostly a channel of which the actor is a member. */
export function pickChannel(
  { random, relay }: Simulation,
  actor: SimulatedAgent,
): ModelChannel | undefined {
  const all = [...relay.auditor.channels.values()];
  const own = all.filter((channel) => channel.isActive(actor.agentId));
  const some = own.length > 0 && random.chance(0.95) ? own : all;
  return some.length === 0 ? undefined : random.pick(some);
}

/** Mostly the current one. */
export function pickEpoch({ random }: Simulation, { epoch }: ModelChannel): number {
  return random.chance(0.92) ? epoch : Math.max(0, epoch - 1 + random.below(3));
}

/** Requests that may be repeated: the relay remembers them for longer than this. */
export function recent<T extends { readonly atMs: number }>(
  { relay }: Simulation,
  sent: readonly T[],
): readonly T[] {
  const sinceMs = relay.time.nowMs() - relay.config.limits.queueAgeMs / 2;
  return sent.filter(({ atMs }) => atMs > sinceMs);
}

export function channelNames(count: number): ChannelName[] {
  return Array.from(
    { length: count },
    (_, number) => parseChannelName(`acme/simulation/channel-${number}`),
  );
}
