/**
 * Actions of agents in a schedule. Every action is started and not waited for, so that requests of
 * many agents, and several of one, are under way at the same time. Most are requests that a client
 * would send now; some are late, early, repeated or wrong.
 */
import {
  binaryIdFromBytes,
  type ChannelName,
  type InviteId,
  leaveStatement,
  type MessageId,
} from "../../../proto/mod.ts";
import type { SimulatedAgent } from "./simulation_agent.ts";
import { signedCommit } from "../../../tests/support/mod.ts";
import { createCommit, createMessage, createWelcome } from "./simulation_bytes.ts";
import { sendCommit } from "./simulation_commits.ts";
import type { ModelChannel } from "./simulation_model.ts";
import {
  type HeldInvite,
  nextKeyPackage,
  pickChannel,
  pickEpoch,
  recent,
  type Simulation,
} from "./simulation_setting.ts";

type Action = (simulation: Simulation, actor: SimulatedAgent) => unknown;

const actions: readonly (readonly [weight: number, action: Action])[] = [
  [18, sendMessage],
  [6, resendMessage],
  [14, sendCommit],
  [3, resendCommit],
  [12, subscribe],
  [16, acknowledge],
  [5, takeWelcome],
  [2, sendWelcomeAgain],
  [3, findCommit],
  [2, listMembers],
  [1, unsubscribe],
  [2, leave],
  [0.3, closeChannel],
  [4, (_simulation, actor): void => actor.disconnect()],
  [1, (_simulation, actor): void => actor.connect()],
  [2, stallOrResume],
  [
    1,
    (simulation, actor): void =>
      createChannel(simulation, actor, simulation.random.pick(simulation.names)),
  ],
  [6, useKeyPackages],
  [1, rejectJoin],
  [2, misbehave],
];
const totalWeight = actions.reduce((sum, [weight]) => sum + weight, 0);

export function act(simulation: Simulation, actor: SimulatedAgent): void {
  const { random } = simulation;
  if (actor.client === undefined || actor.client.ended !== undefined) {
    if (random.chance(0.7)) actor.connect();
    return;
  }
  if (!actor.ready) return;
  let at = random.uint32() / 2 ** 32 * totalWeight;
  const [, action] = actions.find(([weight]) => (at -= weight) < 0) ?? [0, sendMessage];
  action(simulation, actor);
}

export function createChannel(
  { random }: Simulation,
  actor: SimulatedAgent,
  name: ChannelName,
): void {
  const nonce = random.bytes(16);
  for (let times = random.chance(0.2) ? 2 : 1; times > 0; times--) {
    void actor.ask("CreateChannel", { name, nonce });
  }
}

function sendMessage(simulation: Simulation, actor: SimulatedAgent): void {
  const { random } = simulation;
  const channel = pickChannel(simulation, actor);
  if (channel !== undefined) {
    sendMessages(simulation, actor, channel, random.chance(0.2) ? 1 + random.below(6) : 1);
  }
}

export function sendMessages(
  simulation: Simulation,
  actor: SimulatedAgent,
  channel: ModelChannel,
  count: number,
): void {
  const { random, relay } = simulation;
  const { channelId } = channel.channel;
  for (let sent = 0; sent < count; sent++) {
    const epoch = pickEpoch(simulation, channel);
    const messageId = binaryIdFromBytes<MessageId>(random.bytes(16));
    const counter = actor.messages.length + 1;
    const ciphertext = createMessage(random, { channelId, epoch, messageId, counter });
    const body = { channelId, epoch, messageId, ciphertext };
    actor.messages.push({ atMs: relay.time.nowMs(), body });
    void actor.ask("SendMessage", body);
    if (random.chance(0.05)) void actor.ask("SendMessage", body);
  }
}

/** The same bytes, or, as after a conflict, the same id encrypted again in the current epoch. */
function resendMessage(simulation: Simulation, actor: SimulatedAgent): void {
  const { random, relay } = simulation;
  const sent = recent(simulation, actor.messages);
  if (sent.length === 0) return;
  const { body } = random.pick(sent);
  const channel = relay.auditor.channel(body.channelId);
  if (channel === undefined || random.chance(0.5)) return void actor.ask("SendMessage", body);
  const { channelId, messageId } = body;
  const { epoch } = channel;
  const ciphertext = createMessage(random, { channelId, epoch, messageId, counter: 1 });
  void actor.ask("SendMessage", { channelId, epoch, messageId, ciphertext });
}

function resendCommit(simulation: Simulation, actor: SimulatedAgent): void {
  const sent = recent(simulation, actor.commits);
  if (sent.length > 0) void actor.ask("SendCommit", simulation.random.pick(sent).body);
}

function subscribe(simulation: Simulation, actor: SimulatedAgent): void {
  const { random } = simulation;
  const channel = pickChannel(simulation, actor);
  if (channel === undefined) return;
  const { channelId } = channel.channel;
  const windowBytes = random.pick([1, 400, 4_000, 100_000, 100_000]);
  const position = actor.reader.readings.get(channelId)?.position;
  const joined = channel.lastStay(actor.agentId)?.joined ?? 0;
  if (random.chance(0.6)) return void actor.subscribe(channelId, windowBytes);
  const after = position !== undefined && random.chance(0.5)
    ? position
    : joined + random.below(channel.head - joined + 1);
  void actor.subscribe(channelId, windowBytes, after);
}

async function unsubscribe({ random }: Simulation, actor: SimulatedAgent): Promise<void> {
  if (actor.readings.length > 0) await actor.unsubscribe(random.pick(actor.readings).channelId);
}

function acknowledge({ random }: Simulation, actor: SimulatedAgent): void {
  if (actor.readings.length === 0) return;
  const { channelId, position, stay } = random.pick(actor.readings);
  // An agent that was added again takes the Welcome first, which is an action of its own.
  if (stay.next !== undefined) return;
  const received = random.chance(0.8) ? position : random.below(position + 1);
  const consumed = random.chance(0.6) ? received : random.below(received + 1);
  void actor.acknowledge(channelId, consumed, received, random.chance(0.6));
}

/** Acknowledging the joining commit is taking the Welcome. */
function takeWelcome({ random }: Simulation, actor: SimulatedAgent): void {
  const welcomes = [...actor.reader.welcomes];
  if (welcomes.length === 0) return;
  const [channelId, joined] = random.pick(welcomes);
  void actor.acknowledge(channelId, joined, joined, random.chance(0.3));
  if (random.chance(0.7)) void actor.subscribe(channelId, 100_000);
}

function sendWelcomeAgain(simulation: Simulation, actor: SimulatedAgent): void {
  const { random } = simulation;
  const channel = pickChannel(simulation, actor);
  const waiting = [...channel?.members ?? []].filter(([, stay]) =>
    stay.acknowledged.asked < stay.joined
  );
  if (channel === undefined || waiting.length === 0) return;
  const [agentId, { joined }] = random.pick(waiting);
  const epoch = (channel.log[joined - 1]?.epoch ?? 0) + 1;
  const { channelId } = channel.channel;
  void actor.ask("SendWelcome", {
    channelId,
    epoch,
    recipients: [agentId],
    welcome: createWelcome(random),
  });
}

function findCommit(simulation: Simulation, actor: SimulatedAgent): void {
  const channel = pickChannel(simulation, actor);
  if (channel === undefined) return;
  const epoch = simulation.random.below(channel.epoch + 2);
  void actor.ask("FindCommit", { channelId: channel.channel.channelId, epoch, generation: 0 });
}

function listMembers(simulation: Simulation, actor: SimulatedAgent): void {
  const channel = pickChannel(simulation, actor);
  if (channel !== undefined) {
    void actor.ask("ListMembers", { channelId: channel.channel.channelId });
  }
}

function leave(simulation: Simulation, actor: SimulatedAgent): void {
  const channel = pickChannel(simulation, actor);
  if (channel === undefined) return;
  const { channelId } = channel.channel;
  const leafHash = new Uint8Array(32).fill(simulation.random.below(2));
  const signature = actor.agent.sign(
    leaveStatement({ channelId, agentId: actor.agentId, leafHash }),
  );
  void actor.ask("LeaveChannel", { channelId, leafHash, signature });
}

function closeChannel(simulation: Simulation, actor: SimulatedAgent): void {
  const channel = pickChannel(simulation, actor);
  if (channel !== undefined) {
    void actor.ask("CloseChannel", { channelId: channel.channel.channelId });
  }
}

function stallOrResume(_simulation: Simulation, actor: SimulatedAgent): void {
  if (actor.stalled) actor.client?.resume();
  else actor.client?.stall();
  actor.stalled = !actor.stalled;
}

/**
 * The ways into a channel that need a KeyPackage: invites, and KeyPackages that wait on the relay.
 */
function useKeyPackages(simulation: Simulation, actor: SimulatedAgent): void {
  const { random, invites, relay } = simulation;
  if (simulation.keyPackages <= 0) return;
  const invite = invites.findLast(({ channelId }) =>
    relay.auditor.channel(channelId)?.members.has(actor.agentId) === false
  );
  if (invite !== undefined && random.chance(0.6)) return requestJoin(simulation, actor, invite);
  const channel = pickChannel(simulation, actor);
  if (channel === undefined || random.chance(0.3)) {
    const keyPackages = [nextKeyPackage(simulation, actor)];
    return void actor.ask("UploadKeyPackage", { keyPackages, replace: random.chance(0.2) });
  }
  const { channelId } = channel.channel;
  if (random.chance(0.5)) {
    const strangers = simulation.agents.filter((agent) => !channel.members.has(agent.agentId));
    const { agentId } = random.pick(strangers.length > 0 ? strangers : simulation.agents);
    const body = { channelId, agentId, nonce: random.bytes(16) };
    for (let times = random.chance(0.3) ? 2 : 1; times > 0; times--) {
      void actor.ask("AddMember", body);
    }
    return;
  }
  const inviteId = binaryIdFromBytes<InviteId>(random.bytes(16));
  const expiresAtMs = relay.time.nowMs() + 5 * 60_000;
  invites.push({ channelId, inviteId });
  void actor.ask("RegisterInvite", { channelId, inviteId, expiresAtMs, uses: 1 + random.below(2) });
}

function requestJoin(
  simulation: Simulation,
  actor: SimulatedAgent,
  { channelId, inviteId }: HeldInvite,
): void {
  const keyPackage = nextKeyPackage(simulation, actor);
  const body = { channelId, inviteId, keyPackage, mac: simulation.random.bytes(32), ttlMs: 60_000 };
  void actor.ask("RequestJoin", body);
}

/** The inviter's no. */
function rejectJoin({ random }: Simulation, actor: SimulatedAgent): void {
  if (actor.joinRequests.length === 0) return;
  const { channelId, requestId } = random.pick(actor.joinRequests);
  void actor.ask("RejectJoin", {
    channelId,
    requestId,
    code: "join_rejected",
    message: "Not today",
  });
}

/** Requests that break the contract: each has its refusal, and the session goes on. */
async function misbehave(simulation: Simulation, actor: SimulatedAgent): Promise<void> {
  const { random, relay } = simulation;
  const channel = pickChannel(simulation, actor);
  if (channel === undefined) return;
  const { channelId } = channel.channel;
  const { epoch } = channel;
  const messageId = binaryIdFromBytes<MessageId>(random.bytes(16));
  const commit = createCommit(random, channelId, epoch);
  const beyond = channel.head + 1_000;
  const outcome = await random.pick([
    () => actor.ask("SendMessage", { channelId, epoch, messageId, ciphertext: commit }),
    () => {
      const message = createMessage(random, { channelId, epoch, messageId, counter: 1 });
      return actor.ask(
        "SendCommit",
        signedCommit({ channelId, epoch, commit: message }, actor.agent.sign),
      );
    },
    () =>
      actor.ask(
        "SendCommit",
        signedCommit({ channelId, epoch, commit, generation: 1 }, actor.agent.sign),
      ),
    () =>
      actor.ask("SendCommit", signedCommit({ channelId, epoch, commit }, () => random.bytes(64))),
    () =>
      actor.ask("SendWelcome", {
        channelId,
        epoch,
        recipients: [],
        welcome: createWelcome(random),
      }),
    () => actor.ask("Acknowledge", { channelId, consumed: beyond, received: beyond }),
    () => actor.subscribe(channelId, 1_000, beyond),
  ])();
  relay.auditor.check(outcome.kind !== "reply", "a request that breaks the contract was accepted");
}
