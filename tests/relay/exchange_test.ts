/**
 * Agents that talk all at once over QUIC while their relay is killed and started again on its file.
 * An agent that loses its connection comes back, repeats unanswered sends and reads on from its
 * cursor. In the end everybody has everything that was accepted, once and in one order.
 */
import { assert, assertEquals } from "@std/assert";
import { inCampaign, tried } from "../support/campaign.ts";
import type { ChannelId, NoticeBody, RequestBody } from "../../proto/mod.ts";
import { type Relay, TestAgent } from "../support/relay/agent.ts";
import { openQuic } from "../support/relay/deno_clients.ts";
import { DoomedRelay } from "./doomed_relay.ts";
import { CallFailed } from "../support/relay/relay_client.ts";

const messagesEach = 12;
/** A killed relay sends nothing: clients wait for it this long. */
const silenceMs = 4_000;
const patienceMs = 60_000;
/** Deliveries between two acknowledgements. */
const acknowledgeEvery = 7;

/** One agent that does not give up. */
class Talker {
  readonly agent: TestAgent;
  readonly #relay: Relay;
  readonly #channelId: ChannelId;
  readonly accepted = new Map<string, number>();
  /** Message id by sequence. */
  readonly read = new Map<number, string>();
  reconnections = 0;
  #epoch = 1;
  #consumed = 0;
  #taken = 0;
  #repair: Promise<void> | undefined;

  constructor(agent: TestAgent, relay: Relay, channelId: ChannelId) {
    this.agent = agent;
    this.#relay = relay;
    this.#channelId = channelId;
  }

  async talk(onAccepted: () => void): Promise<void> {
    await this.#listen();
    for (let number = 0; number < messagesEach; number++) {
      await this.#send(this.agent.message(this.#channelId, this.#epoch, 300));
      onAccepted();
    }
  }

  /** Takes everything that has come so far; returns the total. */
  take(): number {
    const delivered = this.agent.client.notices.of("DeliverMessage");
    for (const message of delivered.slice(this.#taken)) this.#takeOne(message);
    this.#taken = delivered.length;
    return this.read.size;
  }

  /** Comes back if the connection is gone. */
  async check(): Promise<void> {
    await this.agent.client.call("Ping", {}).catch(() => this.#reconnect());
  }

  #takeOne({ sequence, messageId }: NoticeBody<"DeliverMessage">): void {
    const before = this.read.get(sequence);
    assert(before === undefined || before === messageId, `Sequence ${sequence} was two messages`);
    this.read.set(sequence, messageId);
    if (this.read.size % acknowledgeEvery !== 0) return;
    this.#consumed = Math.max(this.#consumed, sequence);
    this.agent.acknowledge(this.#channelId, this.#consumed).catch(() => {});
  }

  async #listen(): Promise<void> {
    this.#taken = 0;
    await this.agent.subscribe(this.#channelId);
  }

  /** The same id until the relay answers, whatever happens in between. */
  async #send(first: RequestBody<"SendMessage">): Promise<void> {
    for (let message = first;;) {
      const answer = await this.agent.client.call("SendMessage", message).catch((error: unknown) =>
        error
      );
      if (answer instanceof CallFailed && answer.code === "epoch_conflict") {
        this.#epoch = answer.epoch ?? this.#epoch;
        const fresh = this.agent.message(this.#channelId, this.#epoch, 300);
        message = fresh;
      } else if (answer instanceof Error) {
        await this.#reconnect();
      } else {
        this.accepted.set(message.messageId, (answer as { sequence: number }).sequence);
        return;
      }
    }
  }

  #reconnect(): Promise<void> {
    return this.#repair ??= this.#comeBack().finally(() => this.#repair = undefined);
  }

  async #comeBack(): Promise<void> {
    this.take();
    for (;;) {
      try {
        this.agent.client = await this.#relay.open();
        await this.agent.authenticate();
        await this.#listen();
        this.reconnections++;
        return;
      } catch {
        // wait: until the relay is there again
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }
}

async function exchange(agents: number): Promise<void> {
  await using doomed = await DoomedRelay.create();
  const { cert } = doomed.certificate;
  const relay: Relay = {
    origin: `quic://localhost:${doomed.quicPort}`,
    open: () => openQuic(doomed.quicPort, cert, silenceMs),
  };
  const members: TestAgent[] = [];
  for (let number = 0; number < agents; number++) members.push(await TestAgent.connect(relay));
  const [creator, ...others] = members;
  if (creator === undefined) throw new Error("Nobody");
  const channelId = await creator.createChannel();
  await creator.client.call(
    "SendCommit",
    creator.commit(channelId, 0, { added: others.map(({ agentId }) => agentId) }),
  );
  for (const member of others) await member.acknowledge(channelId, 1);

  const talkers = members.map((member) => new Talker(member, relay, channelId));
  const total = agents * messagesEach;
  let acceptances = 0;
  let killed: Promise<void> | undefined;
  const killHalfway = (): void => {
    if (++acceptances < total / 2 || killed !== undefined) return;
    killed = doomed.kill().then(() => doomed.start());
  };
  await Promise.all(talkers.map((talker) => talker.talk(killHalfway)));
  await killed;
  assert(
    talkers.some(({ reconnections }) => reconnections > 0),
    "The relay was killed and nobody noticed",
  );

  const deadlineMs = Date.now() + patienceMs;
  while (talkers.some((talker) => talker.take() < total - messagesEach)) {
    if (Date.now() > deadlineMs) {
      const counts = talkers.map((talker) => talker.take());
      throw new Error(`Messages are missing: ${Math.min(...counts)} of ${total - messagesEach}`);
    }
    await Promise.all(talkers.map((talker) => talker.check()));
  }
  audit(talkers);
  tried(`${total} messages of ${agents} agents`);
  for (const { agent } of talkers) agent.client.close();
}

/** Everybody has what the others were told was accepted, at the same place. */
function audit(talkers: readonly Talker[]): void {
  const log = new Map<number, string>();
  for (const { accepted } of talkers) {
    for (const [messageId, sequence] of accepted) log.set(sequence, messageId);
  }
  assertEquals(log.size, talkers.length * messagesEach, "Two messages were given one place");
  for (const { read, accepted } of talkers) {
    const expected = [...log].filter(([, messageId]) => !accepted.has(messageId)).sort(([a], [b]) =>
      a - b
    );
    assertEquals([...read].sort(([a], [b]) => a - b), expected);
  }
}

for (const agents of inCampaign ? [2, 50] : [8]) {
  Deno.test(`${agents} agents talk while their relay is killed: nothing is lost, nothing comes twice`, () =>
    exchange(agents));
}
