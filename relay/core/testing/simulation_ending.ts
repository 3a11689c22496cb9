/**
 * The end of a schedule: everybody comes to rest, so that what is owed can be told from what is
 * under way. First those who are connected must have been served; then all come back and read on
 * from their cursors; then the relay dies once more.
 */
import type { SimulatedAgent } from "./simulation_agent.ts";
import type { ModelChannel } from "./simulation_model.ts";
import { lastStay } from "./simulation_reader.ts";
import type { Simulation } from "./simulation_setting.ts";

/** All are told the same, so a few are enough to ask. */
const askedAtTheEnd = 3;
const wideWindow = 1_000_000;
/** Longer than the slowest engine takes to load a few channels. */
const patienceMs = 5_000;
/** Longer than it takes to read a page. */
const restMs = 250;
/** More rounds than any schedule has entries. */
const maxRounds = 2_000;

export async function finishSchedule(simulation: Simulation): Promise<void> {
  const { relay, agents } = simulation;
  await rest(simulation);
  for (const agent of agents) if (agent.isConnected) checkServed(simulation, agent);

  await reconnect(simulation);
  for (const agent of agents) checkServed(simulation, agent);
  await acknowledgeAll(simulation);
  // Trimming takes turns of the event loop, in which others have theirs.
  for (let round = 0; round < 8; round++) await relay.time.advance(restMs);
  await relay.checkQuota();
  await relay.checkTrimmed();

  await relay.crash();
  await reconnect(simulation);
  for (const agent of agents) {
    checkServed(simulation, agent);
    relay.auditor.check(
      agent.keyPackages === 0,
      `KeyPackages of ${agent.agentId} outlived the relay`,
    );
  }
  for (const agent of agents.slice(0, askedAtTheEnd)) await checkListings(simulation, agent);
  relay.auditor.finish();
}

/** Reads and makes room until nothing more comes. */
async function rest({ relay, agents }: Simulation): Promise<void> {
  for (const agent of agents) {
    if (agent.stalled && agent.isConnected) agent.client?.resume();
    agent.stalled = false;
  }
  await relay.time.advance(patienceMs);
  for (let round = 0; round < maxRounds; round++) {
    const before = positions(agents);
    for (const agent of agents) {
      for (const { channelId, position } of agent.readings) {
        agent.acknowledge(channelId, 0, position, true);
      }
    }
    await relay.time.advance(restMs);
    if (positions(agents) !== before) continue;
    // A reader moves by what is for it: it may read through pages on end that are not.
    await relay.time.advance(patienceMs);
    if (positions(agents) === before) return;
  }
  relay.auditor.report("deliveries never come to rest");
}

/** All of them, because in a sum one reading that ends could hide another that goes on. */
function positions(agents: readonly SimulatedAgent[]): string {
  return agents.map(({ readings }) =>
    readings.map(({ channelId, position }) => `${channelId} ${position}`)
  ).join();
}

/** Everybody anew, and on from where it had acknowledged. */
async function reconnect(simulation: Simulation): Promise<void> {
  const { relay, agents } = simulation;
  for (const agent of agents) {
    agent.disconnect();
    agent.connect();
  }
  await relay.time.advance(patienceMs);
  for (const agent of agents) {
    relay.auditor.check(agent.isConnected, `${agent.agentId} cannot connect`);
    for (const channel of relay.auditor.channels.values()) {
      void subscribeAgain(simulation, agent, channel);
    }
  }
  await relay.time.advance(patienceMs);
  await rest(simulation);
}

async function subscribeAgain(
  { relay }: Simulation,
  agent: SimulatedAgent,
  channel: ModelChannel,
): Promise<void> {
  const stay = channel.lastStay(agent.agentId);
  const outcome = await agent.subscribe(channel.channel.channelId, wideWindow);
  const what = `${agent.agentId} in ${channel.channel.name}`;
  if (outcome.kind === "lost") return relay.auditor.report(`${what} cannot subscribe`);
  if (stay === undefined) {
    return relay.auditor.check(outcome.kind === "refused", `${what} reads as a stranger`);
  }
  if (stay.stopped !== undefined || outcome.kind === "reply") return;
  // A removed member that has been told is a stranger; one that has not been told yet may still
  // read it.
  const { code } = outcome.body;
  const end = stay.end ?? Infinity;
  const closedAtMs = channel.closed === undefined
    ? undefined
    : channel.log[channel.closed - 1]?.timeMs;
  const overAtMs = stay.endedAtMs ?? closedAtMs ?? Infinity;
  const forgotten = overAtMs < relay.time.nowMs() - relay.config.limits.lapseAgeMs;
  relay.auditor.check(stay.acknowledged.asked >= end || forgotten, `${what} may not read: ${code}`);
}

/**
 * Everything that is in the log for this agent has reached its open subscriptions, and its Welcomes
 * have come.
 */
function checkServed({ relay }: Simulation, { agentId, reader }: SimulatedAgent): void {
  const { auditor } = relay;
  for (const reading of reader.readings.values()) {
    const { channel, ended } = reading;
    const stay = lastStay(reading);
    const what = `${agentId} in ${channel.channel.name}`;
    if (ended) continue;
    const lost = reader.missing(reading, channel.head);
    auditor.check(
      lost === undefined,
      `${what} was never given entry ${lost} (it is at ${reading.position})`,
    );
    const over = channel.closed !== undefined || stay.stopped !== undefined ||
      stay.end !== undefined;
    auditor.check(!over, `${what} was never told that its reading is over`);
  }
  for (const channel of auditor.channels.values()) {
    const stay = channel.members.get(agentId);
    const waits = stay?.welcome !== undefined && channel.isActive(agentId) &&
      stay.acknowledged.asked < stay.joined;
    const came = reader.welcomes.get(channel.channel.channelId) === stay?.joined;
    auditor.check(
      !waits || came,
      `the Welcome for ${agentId} into ${channel.channel.name} never came`,
    );
  }
}

async function acknowledgeAll({ relay, agents }: Simulation): Promise<void> {
  for (const agent of agents) {
    for (const { channelId, position } of agent.reader.readings.values()) {
      void agent.acknowledge(channelId, position, position, false);
    }
  }
  await relay.time.advance(patienceMs);
}

/** The relay's listings of channels must follow from their logs. */
async function checkListings({ relay }: Simulation, agent: SimulatedAgent): Promise<void> {
  const { auditor } = relay;
  const { agentId } = agent;
  const listed = await relay.within(agent.ask("ListChannels", { limit: 100 }));
  if (listed?.kind !== "reply") return auditor.report(`ListChannels of ${agentId} is not answered`);
  for (const channel of auditor.channels.values()) {
    const { channelId, name } = channel.channel;
    const summary = listed.body.channels.find((one) => one.channelId === channelId);
    const right = summary === undefined ||
      (summary.epoch === channel.epoch && summary.head === channel.head);
    auditor.check(right, `${name} is listed at epoch ${summary?.epoch} and entry ${summary?.head}`);
    auditor.check(
      (summary?.member ?? false) === channel.isActive(agentId),
      `${name} is listed wrongly for ${agentId}`,
    );
    if (channel.isActive(agentId)) await checkChannel({ relay, agent, channel });
  }
}

interface Listed {
  readonly relay: Simulation["relay"];
  readonly agent: SimulatedAgent;
  readonly channel: ModelChannel;
}

async function checkChannel({ relay, agent, channel }: Listed): Promise<void> {
  const { auditor } = relay;
  const { channelId, name } = channel.channel;
  const epochs = Array.from({ length: channel.epoch + 1 }, (_, epoch) => epoch);
  const finding = Promise.all(
    epochs.map((epoch) => agent.ask("FindCommit", { channelId, epoch, generation: 0 })),
  );
  const [answer] =
    await relay.within(Promise.all([agent.ask("ListMembers", { channelId }), finding])) ?? [];
  if (answer?.kind !== "reply") return auditor.report(`ListMembers of ${name} is not answered`);
  const said = answer.body.members.map(({ agentId, joinedSequence, leaving, owner }) =>
    `${agentId} ${joinedSequence} ${leaving} ${owner}`
  );
  const wanted = [...channel.members].map(([agentId, { joined, stopped }]) =>
    `${agentId} ${joined} ${stopped !== undefined} ${channel.owners.has(agentId)}`
  );
  auditor.check(
    said.sort().join() === wanted.sort().join(),
    `the members of ${name} are not those of its log`,
  );
  auditor.check(answer.body.epoch === channel.epoch, `${name} is at epoch ${channel.epoch}`);
}
