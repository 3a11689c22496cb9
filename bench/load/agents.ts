/**
 * The agents of a load, a process of their own: cells and envelopes as the SDK sends them, payloads
 * opaque, so that it is the relay that gets tired first. Arguments: port, certificate file, token.
 * Each line on its input is an order, each line on its output the answer. Messages leave by the
 * clock and not when the one before has arrived; how long each took is counted from the moment at
 * which it should have left, so a relay that stalls cannot hide it.
 */
import {
  binaryIdFromBytes,
  binaryIdToBytes,
  type ChannelId,
  encodeMessageAad,
  envelopeCapacity,
  limits,
  maxMessageEnvelopeOverhead,
  type MessageId,
  parseChannelName,
} from "../../proto/mod.ts";
import { createPrivateMessage } from "../../tests/support/mls.ts";
import { linesOf } from "../relay/lines.ts";
import { commitOf, LoadClient, type LoadTarget } from "../relay/load.ts";
import { connectQuic } from "../relay/quic.ts";

export type LoadOrder =
  | { readonly do: "connect"; readonly agents: number }
  /** Puts all agents that are in no channel yet into so many channels. */
  | { readonly do: "group"; readonly channels: number }
  /** `rate`: messages a second in all channels together. */
  | { readonly do: "run"; readonly rate: number; readonly seconds: number };

export interface LoadReport {
  readonly sent: number;
  readonly deliveries: number;
  /** Deliveries that should have come. */
  readonly expected: number;
  readonly seconds: number;
  /** Zero when nothing was delivered. */
  readonly latencyMs: { readonly p50: number; readonly p99: number; readonly p999: number };
  /** By error code. */
  readonly refused: Readonly<Record<string, number>>;
  /** Processor time of this process. */
  readonly cpuUs: number;
}

interface Channel {
  readonly id: ChannelId;
  readonly sender: LoadClient;
  readonly receivers: number;
  readonly epoch: number;
  counter: number;
}

const connectingAtOnce = 8;
/** A Welcome grows with those whom it is for, and each of them gets it whole. */
const addedAtOnce = 50;
const acknowledgeEvery = 32;
const pingMs = 10_000;
const tickMs = 4;
/** More than this under way, and the relay is behind for good. */
const maxUnderWay = 4_096;
/** For what is under way at the end. */
const drainMs = 5_000;
/** As MLS padding does: a message of 1 KiB fills one cell. */
const cellFillingBytes = envelopeCapacity(1, limits.cellBytes) - maxMessageEnvelopeOverhead - 100;

class Agents {
  readonly #target: LoadTarget;
  readonly #token: string;
  readonly #channels: Channel[] = [];
  #connected = 0;
  #ungrouped: LoadClient[] = [];
  /** When each message of the run should have left, by its number. */
  #due: number[] = [];
  #latencies: number[] = [];

  constructor(target: LoadTarget, token: string) {
    this.#target = target;
    this.#token = token;
  }

  obey(order: LoadOrder): Promise<object> {
    switch (order.do) {
      case "connect":
        return this.#connect(order.agents);
      case "group":
        return this.#group(order.channels);
      case "run":
        return this.#run(order.rate, order.seconds);
    }
  }

  async #connect(agents: number): Promise<{ connected: number }> {
    const first = this.#connected;
    const fresh = Array.from(
      { length: agents },
      (_, index) => new LoadClient(this.#target, first + index),
    );
    for (let at = 0; at < agents; at += connectingAtOnce) {
      await Promise.all(fresh.slice(at, at + connectingAtOnce).map((client) => this.#open(client)));
    }
    this.#ungrouped.push(...fresh);
    this.#connected += agents;
    return { connected: this.#connected };
  }

  /** A silent client counts as dead, so every client pings now and then, each at its own time. */
  async #open(client: LoadClient): Promise<void> {
    await client.open(this.#token);
    setInterval(() => void client.call("Ping", {}), pingMs);
  }

  async #group(count: number): Promise<{ channels: number }> {
    const members = this.#ungrouped.length / count;
    for (let index = 0; index < count; index++) {
      const all = this.#ungrouped.slice(
        Math.round(index * members),
        Math.round((index + 1) * members),
      );
      const [sender, ...receivers] = all;
      if (sender === undefined || receivers.length === 0) {
        throw new Error("A channel needs at least two agents");
      }
      this.#channels.push(await this.#createChannel(sender, receivers));
    }
    this.#ungrouped = [];
    return { channels: this.#channels.length };
  }

  async #createChannel(sender: LoadClient, receivers: readonly LoadClient[]): Promise<Channel> {
    const nonce = crypto.getRandomValues(new Uint8Array(16));
    const name = parseChannelName(`bench/load/c-${nonce.toHex()}`);
    const { channelId } = await sender.call("CreateChannel", { name, nonce });
    let epoch = 0;
    for (let at = 0; at < receivers.length; at += addedAtOnce) {
      const added = receivers.slice(at, at + addedAtOnce);
      const { sequence } = await sender.call(
        "SendCommit",
        commitOf(sender, channelId, epoch++, added),
      );
      for (const receiver of added) await this.#follow(receiver, channelId, sequence);
    }
    return { id: channelId, sender, receivers: receivers.length, epoch, counter: 0 };
  }

  async #follow(client: LoadClient, channelId: ChannelId, joined: number): Promise<void> {
    let unacknowledged = 0;
    client.onNotice = ({ operation, body }) => {
      if (operation !== "DeliverMessage") return;
      const bytes = binaryIdToBytes(body.messageId);
      const number = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
      this.#latencies.push(performance.now() - (this.#due[number] ?? 0));
      if (++unacknowledged < acknowledgeEvery) return;
      unacknowledged = 0;
      client.acknowledge({ channelId, consumed: body.sequence, received: body.sequence });
    };
    await client.call("Acknowledge", { channelId, consumed: joined, received: joined });
    await client.call("Subscribe", { channelId, windowBytes: 1 << 20, tag: 1 });
  }

  async #run(rate: number, seconds: number): Promise<LoadReport> {
    [this.#due, this.#latencies] = [[], []];
    const cpuBefore = process.cpuUsage();
    const start = performance.now();
    const { expected, refused } = await this.#sendByTheClock(start, rate, seconds);
    const lastMs = performance.now();
    while (this.#latencies.length < expected && performance.now() - lastMs < drainMs) await tick();
    const { user, system } = process.cpuUsage(cpuBefore);
    const sorted = this.#latencies.toSorted((a, b) => a - b);
    const at = (share: number): number =>
      sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return {
      sent: this.#due.length,
      deliveries: sorted.length,
      expected,
      seconds: (performance.now() - start) / 1_000,
      latencyMs: { p50: at(0.5), p99: at(0.99), p999: at(0.999) },
      refused,
      cpuUs: user + system,
    };
  }

  /** Ends early when so much is under way that the relay will not catch up. */
  async #sendByTheClock(
    start: number,
    rate: number,
    seconds: number,
  ): Promise<{ expected: number; refused: Record<string, number> }> {
    const refused: Record<string, number> = {};
    let [expected, underWay] = [0, 0];
    const elapsed = (): number => (performance.now() - start) / 1_000;
    while (elapsed() < seconds && underWay <= maxUnderWay) {
      for (const wanted = Math.floor(elapsed() * rate) + 1; this.#due.length < wanted;) {
        const channel = this.#channels[this.#due.length % this.#channels.length];
        if (channel === undefined) throw new Error("No channel");
        this.#due.push(start + this.#due.length / rate * 1_000);
        expected += channel.receivers;
        underWay++;
        send(channel, this.#due.length - 1).catch((error: Error) => {
          const code = error.message.split(":")[0] ?? "unknown";
          refused[code] = (refused[code] ?? 0) + 1;
        }).finally(() => underWay--);
      }
      await tick();
    }
    return { expected, refused };
  }
}

function send(channel: Channel, number: number): Promise<unknown> {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  new DataView(bytes.buffer).setUint32(0, number);
  const messageId = binaryIdFromBytes<MessageId>(bytes);
  const ciphertext = createPrivateMessage({
    groupId: binaryIdToBytes(channel.id),
    epoch: channel.epoch,
    authenticatedData: encodeMessageAad({ messageId, counter: ++channel.counter }),
    ciphertext: new Uint8Array(cellFillingBytes),
  });
  return channel.sender.call("SendMessage", {
    channelId: channel.id,
    epoch: channel.epoch,
    messageId,
    ciphertext,
  });
}

async function tick(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, tickMs));
}

const [port = "", certFile = "", token = ""] = Deno.args;
const cert = await Deno.readTextFile(certFile);
const origin = `quic://localhost:${port}`;
const agents = new Agents({ origin, connect: () => connectQuic(Number(port), cert) }, token);
console.log("ready");
for await (const line of linesOf(Deno.stdin.readable)) {
  console.log(JSON.stringify(await agents.obey(JSON.parse(line))));
}
Deno.exit(0);
