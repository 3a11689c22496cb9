/**
 * The commits of a schedule: each a change that its sender believes possible in the epoch that it
 * believes current.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { type AgentId, limits, rejoinStatement, type RequestBody } from "../../../proto/mod.ts";
import { signedCommit } from "../../../tests/support/mod.ts";
import type { SimulatedAgent } from "./simulation_agent.ts";
import { createCommit, createWelcome } from "./simulation_bytes.ts";
import type { ModelChannel } from "./simulation_model.ts";
import { nextKeyPackage, pickChannel, pickEpoch, type Simulation } from "./simulation_setting.ts";

type Commit = RequestBody<"SendCommit">;
type Change = Partial<Pick<Commit, "added" | "removed" | "owners" | "answers">>;
type MakeChange = (
  simulation: Simulation,
  actor: SimulatedAgent,
  channel: ModelChannel,
) => Change | undefined;

const changes: readonly MakeChange[] = [
  update,
  add,
  add,
  add,
  remove,
  swap,
  changeOwners,
  removeLeavers,
  askToRejoin,
];

export function sendCommit(simulation: Simulation, actor: SimulatedAgent): void {
  const channel = pickChannel(simulation, actor);
  if (channel === undefined) return;
  const answer = simulation.random.chance(0.5)
    ? answerJoin(simulation, actor, channel) ?? answerRejoin(simulation, actor, channel)
    : undefined;
  const change = answer ?? simulation.random.pick(changes)(simulation, actor, channel);
  if (change !== undefined) commitChange(simulation, actor, channel, change);
}

export function commitChange(
  simulation: Simulation,
  actor: SimulatedAgent,
  channel: ModelChannel,
  change: Change,
): void {
  const { random, relay } = simulation;
  const { channelId } = channel.channel;
  const epoch = pickEpoch(simulation, channel);
  const commit = createCommit(random, channelId, epoch);
  const welcomes = createWelcomes(simulation, change.added ?? []);
  const body = signedCommit({ channelId, epoch, commit, ...change, welcomes }, actor.agent.sign);
  actor.commits.push({ atMs: relay.time.nowMs(), body });
  void actor.ask("SendCommit", body);
}

/** One for all, or one each; sometimes one is left out, for SendWelcome to bring. */
function createWelcomes({ random }: Simulation, added: readonly AgentId[]): Commit["welcomes"] {
  const welcomed = random.chance(0.1) ? added.slice(1) : added;
  if (welcomed.length === 0) return [];
  if (welcomed.length > limits.welcomesPerCommit || random.chance(0.5)) {
    return [{ recipients: welcomed, welcome: createWelcome(random) }];
  }
  return welcomed.map((agentId) => ({ recipients: [agentId], welcome: createWelcome(random) }));
}

function update(): Change {
  return {};
}

function add(
  { random, agents }: Simulation,
  _actor: SimulatedAgent,
  channel: ModelChannel,
): Change | undefined {
  const removed = random.chance(0.5) ? channel.leaving : [];
  const free = agents.map(({ agentId }) => agentId).filter((agentId) =>
    !channel.members.has(agentId) || removed.includes(agentId)
  );
  if (free.length === 0) return undefined;
  const added = [...new Set(Array.from({ length: 1 + random.below(3) }, () => random.pick(free)))];
  return { added, removed };
}

function others(channel: ModelChannel, actor: SimulatedAgent): AgentId[] {
  return [...channel.members.keys()].filter((agentId) => agentId !== actor.agentId);
}

/** Allowed to owners only; others are refused. */
function remove(
  { random }: Simulation,
  actor: SimulatedAgent,
  channel: ModelChannel,
): Change | undefined {
  const candidates = others(channel, actor);
  return candidates.length === 0 ? undefined : { removed: [random.pick(candidates)] };
}

/** Out and in again by one commit. */
function swap(
  { random }: Simulation,
  actor: SimulatedAgent,
  channel: ModelChannel,
): Change | undefined {
  const candidates = others(channel, actor);
  if (candidates.length === 0) return undefined;
  const agentId = random.pick(candidates);
  return { removed: [...new Set([agentId, ...channel.leaving])], added: [agentId] };
}

function changeOwners(
  { random }: Simulation,
  actor: SimulatedAgent,
  channel: ModelChannel,
): Change {
  const some = [...channel.members.keys()].filter(() => random.chance(0.4));
  return { owners: { agentIds: [...new Set([actor.agentId, ...some])] } };
}

function removeLeavers(
  _simulation: Simulation,
  _actor: SimulatedAgent,
  channel: ModelChannel,
): Change | undefined {
  return channel.leavers.length === 0 ? undefined : { removed: channel.leavers };
}

function answerJoin(
  _simulation: Simulation,
  actor: SimulatedAgent,
  channel: ModelChannel,
): Change | undefined {
  const requests = actor.joinRequests.filter(({ channelId }) =>
    channelId === channel.channel.channelId
  );
  const request = requests.at(-1);
  if (request === undefined || channel.members.has(request.agentId)) return undefined;
  return { added: [request.agentId], removed: channel.leavers, answers: [request.requestId] };
}

function answerRejoin(
  _simulation: Simulation,
  actor: SimulatedAgent,
  channel: ModelChannel,
): Change | undefined {
  const requests = actor.rejoinRequests.filter(({ channelId }) =>
    channelId === channel.channel.channelId
  );
  const request = requests.at(-1);
  if (request === undefined || !channel.members.has(request.agentId)) return undefined;
  const { agentId, requestId } = request;
  return {
    added: [agentId],
    removed: [...new Set([agentId, ...channel.leavers])],
    answers: [requestId],
  };
}

/** Not a commit, but what one will answer. */
function askToRejoin(
  simulation: Simulation,
  actor: SimulatedAgent,
  { channel, epoch }: ModelChannel,
): undefined {
  const { random } = simulation;
  if (simulation.keyPackages <= 0 || random.chance(0.7)) return undefined;
  const keyPackage = nextKeyPackage(simulation, actor);
  const { channelId } = channel;
  const leafHash = random.bytes(32);
  const statement = {
    channelId,
    agentId: actor.agentId,
    leafHash,
    keyPackageHash: sha256(keyPackage),
  };
  const signature = actor.agent.sign(rejoinStatement(statement));
  const answerer = random.chance(0.3) ? { answerer: random.pick(simulation.agents).agentId } : {};
  void actor.ask("RequestRejoin", {
    channelId,
    keyPackage,
    leafHash,
    signature,
    epoch,
    generation: 0,
    ...answerer,
  });
  return undefined;
}
