/**
 * One seeded schedule: agents that come and go, send, commit and read on a relay that is slow and
 * dies, until an independent auditor finds something wrong or everything has come to rest. The same
 * seed makes the same schedule.
 */
import type { AgentId } from "../../../proto/mod.ts";
import { createRandom, type Random } from "../../../tests/support/mod.ts";
import { act, createChannel, sendMessages } from "./simulation_actions.ts";
import { SimulatedAgent } from "./simulation_agent.ts";
import type { AgentStock } from "./simulation_bytes.ts";
import { commitChange } from "./simulation_commits.ts";
import { finishSchedule } from "./simulation_ending.ts";
import { SimulatedRelay } from "./simulation_relay.ts";
import { channelNames, type Simulation } from "./simulation_setting.ts";

export interface ScheduleResult {
  readonly agents: number;
  readonly channels: number;
  readonly entries: number;
  readonly commits: number;
  readonly messages: number;
}

export class ScheduleFailure extends Error {
  override readonly name = "ScheduleFailure";
}

/** Throws `ScheduleFailure` with what was found; the caller adds how to repeat it. */
export async function runSchedule(seed: number, stock: AgentStock): Promise<ScheduleResult> {
  const random = createRandom(seed);
  const relay = await openRelay(random);
  try {
    const simulation = createSimulation(random, relay, stock);
    await warmUp(simulation);
    const steps = 30 + random.below(120);
    const mayJump = random.chance(0.15);
    for (let step = 0; step < steps; step++) {
      act(simulation, pickActor(simulation, step));
      await pace(simulation, mayJump);
      throwIfWrong(relay, `after step ${step} of ${steps}`);
    }
    await finishSchedule(simulation);
    throwIfWrong(relay, "at the end");
    return summarise(simulation);
  } finally {
    await relay.close();
  }
}

function openRelay(random: Random): Promise<SimulatedRelay> {
  const poor = random.chance(0.25);
  const quota = poor ? 3 + random.below(20) : 100_000;
  return SimulatedRelay.open({
    random,
    waitChance: random.pick([0, 0.2, 0.6]),
    waitMs: random.pick([5, 50]),
    quota,
    granted: poor && random.chance(0.3) ? quota - 2 : 200_000,
    queueBytes: random.chance(0.15) ? 2_000 : 1_000_000,
  });
}

function createSimulation(random: Random, relay: SimulatedRelay, stock: AgentStock): Simulation {
  // Few agents meet each other more often: most schedules are small.
  const count = 2 + random.below(random.pick([3, 3, 8, 29]));
  const accounts = random.pick([1, 1, 2]);
  const numbers = Array.from({ length: count }, (_, number) => number);
  const agents = numbers.map((number) =>
    new SimulatedAgent(stock.agent(number), number % accounts, relay)
  );
  const simulation: Simulation = {
    random,
    relay,
    agents,
    stock,
    names: channelNames(1 + random.below(4)),
    keyPackages: random.chance(0.15) ? 12 : 0,
    nextKeyPackage: 0,
    invites: [],
  };
  return simulation;
}

/** Everybody connects, and every channel has some members. */
async function warmUp(simulation: Simulation): Promise<void> {
  const { random, relay, agents } = simulation;
  for (const agent of agents) agent.connect();
  await relay.time.advance(300);
  for (const name of simulation.names) createChannel(simulation, random.pick(agents), name);
  await relay.time.advance(300);
  for (const channel of relay.auditor.channels.values()) {
    const creator = agents.find(({ agentId }) => agentId === channel.channel.creator);
    if (creator !== undefined) {
      commitChange(simulation, creator, channel, { added: pickSome(simulation, creator) });
    }
  }
  await relay.time.advance(300);
  // Sometimes so much is in the log that it is trimmed in part, and that snapshots are taken in the
  // middle of everything.
  const [first] = relay.auditor.channels.values();
  const talker = first && agents.find(({ agentId }) => first.isActive(agentId));
  if (first === undefined || talker === undefined || !random.chance(0.08)) return;
  sendMessages(simulation, talker, first, random.pick([70, 270]));
  await relay.time.advance(2_000);
}

/** Few where others are to come in with KeyPackages of their own. */
function pickSome({ random, agents, keyPackages }: Simulation, creator: SimulatedAgent): AgentId[] {
  const share = keyPackages > 0 ? 0.2 : random.pick([0.3, 0.8, 1]);
  return agents.filter((agent) => agent !== creator && random.chance(share)).map(({ agentId }) =>
    agentId
  );
}

/** Some are busier than others for a while, so that their requests meet. */
function pickActor({ random, agents }: Simulation, step: number): SimulatedAgent {
  const busy = agents[(Math.floor(step / 20) + random.below(4)) % agents.length];
  return busy !== undefined && random.chance(0.7) ? busy : random.pick(agents);
}

/** The time between two actions: often none, mostly little, sometimes a lot. */
async function pace(simulation: Simulation, mayJump: boolean): Promise<void> {
  const { random, relay } = simulation;
  const dice = random.uint32() / 2 ** 32;
  if (dice < 0.3) return;
  if (dice < 0.9) return await relay.time.advance(random.below(random.pick([2, 20, 100])));
  if (dice < 0.97) return await relay.time.advance(500 + random.below(4_000));
  if (dice < 0.975) return relay.refill(5);
  if (dice < 0.985) return await relay.crash();
  if (dice < 0.99) return await relay.restart();
  if (mayJump) await relay.time.advance(random.pick([2, 6, 11, 65]) * 60_000);
}

function throwIfWrong({ auditor: { violations } }: SimulatedRelay, when: string): void {
  if (violations.length > 0) {
    throw new ScheduleFailure(`${when}:\n  ${violations.slice(0, 8).join("\n  ")}`);
  }
}

function summarise({ relay: { auditor }, agents }: Simulation): ScheduleResult {
  const channels = [...auditor.channels.values()];
  const sum = (of: (channel: (typeof channels)[number]) => number): number =>
    channels.reduce((total, channel) => total + of(channel), 0);
  return {
    agents: agents.length,
    channels: channels.length,
    entries: sum(({ head }) => head),
    commits: sum(({ epoch }) => epoch),
    messages: auditor.messages,
  };
}
