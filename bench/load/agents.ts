/**
 * The agents of a load, a process of their own: cells and envelopes as the SDK sends them, payloads opaque, so that it is the
 * relay that gets tired first. Arguments: port, certificate file, token. Each line on its input is an order, each line on its
 * output the answer. Messages leave by the clock and not when the one before has arrived; how long each took is counted from
 * the moment at which it should have left, so a relay that stalls cannot hide it.
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
import { createPrivateMessage, createWelcome } from "../../tests/support/mls.ts";
import { linesOf } from "../relay/lines.ts";
import { LoadClient } from "../relay/load.ts";
import { connectQuic } from "../relay/quic.ts";

export type LoadOrder =
  | { readonly do: "connect"; readonly agents: number }
  /** Puts everybody who is in no channel yet into so many channels. */
  | { readonly do: "group"; readonly channels: number }
  /** `rate`: messages a second in all channels together. */
  | { readonly do: "run"; readonly rate: number; readonly seconds: number };

export interface LoadReport {
  readonly sent: number;
  readonly deliveries: number;
  /** Deliveries that should have come. */
  readonly expected: number;
  readonly seconds: number;
  readonly latencyMs: { readonly p50: number; readonly p99: number; readonly p999: number };
  /** By error code. */
  readonly refused: Readonly<Record<string, number>>;
  /** Of this process. */
  readonly cpuUs: number;
}

interface Channel {
  readonly id: ChannelId;
  readonly sender: LoadClient;
  readonly receivers: number;
  counter: number;
}

const connectingAtOnce = 8;
const acknowledgeEvery = 32;
const tickMs = 4;
/** More than this under way, and the relay is behind for good. */
const maxUnderWay = 4_096;
/** For what is under way at the end. */
const drainMs = 5_000;
/** As MLS padding does: a message of 1 KiB fills one cell. */
const cellFillingBytes = envelopeCapacity(1, limits.cellBytes) - maxMessageEnvelopeOverhead - 100;

const [port = "", certFile = "", token = ""] = Deno.args;
const cert = await Deno.readTextFile(certFile);
const target = { origin: `quic://localhost:${port}`, connect: () => connectQuic(Number(port), cert) };
const clients: LoadClient[] = [];
let ungrouped: LoadClient[] = [];
const channels: Channel[] = [];
/** When each message should have left, by its number. */
let due: number[] = [];
let latencies: number[] = [];

async function connect(agents: number): Promise<{ connected: number }> {
  const first = clients.length;
  const fresh = Array.from({ length: agents }, (_, index) => new LoadClient(target, first + index));
  for (let at = 0; at < agents; at += connectingAtOnce) {
    await Promise.all(fresh.slice(at, at + connectingAtOnce).map((client) => client.open(token)));
  }
  clients.push(...fresh);
  ungrouped.push(...fresh);
  return { connected: clients.length };
}

async function group(count: number): Promise<{ channels: number }> {
  const members = ungrouped.length / count;
  for (let index = 0; index < count; index++) {
    const [sender, ...receivers] = ungrouped.slice(Math.round(index * members), Math.round((index + 1) * members));
    if (sender === undefined || receivers.length === 0) throw new Error("A channel needs at least two agents");
    channels.push(await createChannel(sender, receivers));
  }
  ungrouped = [];
  return { channels: channels.length };
}

async function createChannel(sender: LoadClient, receivers: readonly LoadClient[]): Promise<Channel> {
  const nonce = crypto.getRandomValues(new Uint8Array(16));
  const name = parseChannelName(`bench/load/c-${nonce.toHex()}`);
  const { channelId } = await sender.call("CreateChannel", { name, nonce });
  const added = receivers.map(({ agentId }) => agentId);
  await sender.call("SendCommit", {
    channelId,
    epoch: 0,
    commit: createPrivateMessage({ groupId: binaryIdToBytes(channelId), contentType: 3 }),
    added,
    removed: [],
    welcomes: [{ recipients: added, welcome: createWelcome(added.length) }],
    answers: [],
    leaves: [],
    rejoins: [],
  });
  for (const receiver of receivers) await follow(receiver, channelId);
  return { id: channelId, sender, receivers: receivers.length, counter: 0 };
}

async function follow(client: LoadClient, channelId: ChannelId): Promise<void> {
  let unacknowledged = 0;
  client.onNotice = ({ operation, body }) => {
    if (operation !== "DeliverMessage") return;
    const number = new DataView(binaryIdToBytes(body.messageId).buffer).getUint32(0);
    latencies.push(performance.now() - (due[number] ?? 0));
    if (++unacknowledged < acknowledgeEvery) return;
    unacknowledged = 0;
    client.acknowledge({ channelId, consumed: body.sequence, received: body.sequence });
  };
  await client.call("Acknowledge", { channelId, consumed: 1, received: 1 });
  await client.call("Subscribe", { channelId, windowBytes: 1 << 20, tag: 1 });
}

function send(channel: Channel, number: number): Promise<unknown> {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  new DataView(bytes.buffer).setUint32(0, number);
  const messageId = binaryIdFromBytes<MessageId>(bytes);
  const ciphertext = createPrivateMessage({
    groupId: binaryIdToBytes(channel.id),
    epoch: 1,
    authenticatedData: encodeMessageAad({ messageId, counter: ++channel.counter }),
    ciphertext: new Uint8Array(cellFillingBytes),
  });
  return channel.sender.call("SendMessage", { channelId: channel.id, epoch: 1, messageId, ciphertext });
}

async function run(rate: number, seconds: number): Promise<LoadReport> {
  [due, latencies] = [[], []];
  const refused: Record<string, number> = {};
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  let [expected, underWay, stopped] = [0, 0, false];
  while (!stopped && performance.now() - start < seconds * 1_000) {
    const wanted = Math.floor((performance.now() - start) / 1_000 * rate);
    while (due.length < wanted && !stopped) {
      const channel = channels[due.length % channels.length];
      if (channel === undefined) throw new Error("No channel");
      due.push(start + due.length / rate * 1_000);
      expected += channel.receivers;
      underWay++;
      send(channel, due.length - 1).catch((error: Error) => {
        const code = error.message.split(":")[0] ?? "unknown";
        refused[code] = (refused[code] ?? 0) + 1;
      }).finally(() => underWay--);
      stopped = underWay > maxUnderWay;
    }
    await new Promise((resolve) => setTimeout(resolve, tickMs));
  }
  const lastMs = performance.now();
  while (latencies.length < expected && performance.now() - lastMs < drainMs) {
    await new Promise((resolve) => setTimeout(resolve, tickMs));
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
  return {
    sent: due.length,
    deliveries: sorted.length,
    expected,
    seconds: (performance.now() - start) / 1_000,
    latencyMs: { p50: at(0.5), p99: at(0.99), p999: at(0.999) },
    refused,
    cpuUs: user + system,
  };
}

function obey(order: LoadOrder): Promise<object> {
  switch (order.do) {
    case "connect":
      return connect(order.agents);
    case "group":
      return group(order.channels);
    case "run":
      return run(order.rate, order.seconds);
  }
}

console.log("ready");
for await (const line of linesOf(Deno.stdin.readable)) {
  if (line === "end") break;
  console.log(JSON.stringify(await obey(JSON.parse(line))));
}
Deno.exit(0);
