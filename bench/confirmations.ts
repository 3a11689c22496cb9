/**
 * The cost of members' confirmations of an epoch: `deno run -A --unstable-net bench/confirmations.ts`. Number, bytes
 * and room of cells for one epoch of a channel, and the relay's CPU compared with the same sessions in ten minutes of
 * standard cover. The relay of the first part is the real core behind real cells in this process, without sockets. The
 * cost of a cell with QUIC and TLS is measured with a relay in a process of its own, so the share is that of a real
 * relay.
 */
import {
  CellPacker,
  CellReader,
  type ChannelId,
  encodeClientNotice,
  encodeRequest,
  limits,
  parseChannelName,
  writeRider,
} from "../proto/mod.ts";
import { type CellLine, openCellLine } from "../relay/testing/cell_line.ts";
import { createWorld, startMs, tokenOf, type World } from "../relay/core/testing/world.ts";
import { grantedToken } from "../relay/testing/open_relay.ts";
import { commitOf, LoadClient, type LoadStream } from "./relay/load.ts";
import { Child } from "./relay/child.ts";
import { connectQuic } from "./relay/quic.ts";

const dayMs = 24 * 60 * 60 * 1000;
/** Ten minutes of `standard` cover, heartbeats included; see docs/traffic.md. */
const cellsEachWay = 82;
const channels = [{ members: 10, epochs: 400 }, { members: 100, epochs: 80 }, { members: 1_000, epochs: 6 }];
/** Until the relay takes a member's next word, and pages are complete. */
const pauseMs = 6_000;
const cellBytes = limits.cellBytes;

interface Epoch {
  readonly pages: number;
  readonly bytes: number;
  readonly cells: number;
  /** Of the relay, for all members. */
  readonly cpuUs: number;
}

/** A Ping in a cell: the relay answers with a cell that has room. */
function pingCell(rider?: Uint8Array): Uint8Array<ArrayBuffer> {
  const packer = new CellPacker(cellBytes);
  const ping = encodeRequest(1_000_000, "Ping", {});
  packer.push("control", ping);
  const cell = packer.next() ?? new Uint8Array(cellBytes);
  if (rider !== undefined) writeRider(cell, 3 + 4 + ping.length, rider);
  return cell;
}

/** The cells of a line, with nothing else done to them. */
class Member {
  readonly client: LoadClient;
  #line: CellLine | undefined;
  /** Envelopes beside the one that answers a Ping. */
  heard = { pages: 0, bytes: 0, cells: 0 };
  isCounting = false;

  constructor(world: World, number: number) {
    const { core, time: { nowMs, after } } = world;
    const connect = (): Promise<LoadStream> => {
      const line = openCellLine({ core, nowMs, after, random: Math.random, onCell: () => {} });
      this.#line = line;
      return Promise.resolve({
        read: async (onChunk) => {
          for (let chunk = await line.read(); chunk !== undefined; chunk = await line.read()) {
            if (this.isCounting) this.#count(chunk);
            else if (!this.isDeaf) onChunk(chunk);
          }
        },
        write: (cells) => line.write(cells, cellBytes),
        close: () => line.close(),
      });
    };
    this.client = new LoadClient({ origin: "quic://localhost:4433", connect }, number);
  }

  /** From now on cells are thrown away as they come. */
  isDeaf = false;

  send(cell: Uint8Array<ArrayBuffer>): Promise<void> {
    return this.#line?.write(cell, cellBytes) ?? Promise.resolve();
  }

  #count(chunk: Uint8Array): void {
    let envelopes = 0;
    new CellReader({ cellBytes, maxEnvelopeBytes: limits.envelopeBytes }).read(chunk, ({ length }) => {
      if (envelopes++ === 0) return;
      this.heard.pages++;
      this.heard.bytes += length;
    });
    if (envelopes > 1) this.heard.cells++;
  }
}

/** Each with what the same cells cost without: what differs is what confirmations cost. */
async function measureEpoch({ members, epochs }: { members: number; epochs: number }): Promise<Epoch> {
  const world = await createWorld();
  const all = Array.from({ length: members }, (_, number) => new Member(world, number));
  for (const [number, { client }] of all.entries()) await client.open(tokenOf(1 + number, startMs + 30 * dayMs));
  const [owner, ...others] = all.map(({ client }) => client);
  const [counted] = all;
  if (owner === undefined || counted === undefined) throw new Error("There is nobody");
  const { channelId, epoch: first } = await createChannel(owner, others);
  for (const { client } of all) await client.call("Subscribe", { channelId, windowBytes: 1 << 20, tag: 1 });
  for (let i = 1; i < epochs; i++) await owner.call("SendCommit", commitOf(owner, channelId, first + i - 1, []));
  for (const member of all) member.isDeaf = true;
  const plain = all.map(() => pingCell());
  const pulls = Math.ceil(members / limits.confirmationsPerPage / 4) + 1;
  await pingAll(all, plain, pulls); // warm
  let cpuUs = 0;
  for (let epoch = first; epoch < first + epochs; epoch++) {
    const confirming = all.map((_, number) => pingCell(confirmationOf(channelId, epoch, number)));
    cpuUs += await pingAll(all, confirming, 1) - await pingAll(all, plain, 1);
    await world.time.advance(pauseMs);
    counted.isCounting = epoch === first;
    cpuUs += await pingAll(all, plain, pulls) - await pingAll(all, plain, pulls);
  }
  await world.close();
  return { ...counted.heard, cpuUs: cpuUs / epochs };
}

/** In commits of a few, because a relay takes only so many additions that nobody asked for. */
async function createChannel(
  owner: LoadClient,
  others: readonly LoadClient[],
): Promise<{ readonly channelId: ChannelId; readonly epoch: number }> {
  const name = parseChannelName("bench/relay/halves");
  const { channelId } = await owner.call("CreateChannel", { name, nonce: new Uint8Array(16) });
  let epoch = 0;
  for (let at = 0; at < others.length; at += 100) {
    const added = others.slice(at, at + 100);
    const { sequence } = await owner.call("SendCommit", commitOf(owner, channelId, epoch++, added));
    for (const client of added) await client.call("Acknowledge", { channelId, consumed: sequence, received: sequence });
  }
  return { channelId, epoch };
}

function confirmationOf(channelId: ChannelId, epoch: number, number: number): Uint8Array {
  const signature = new Uint8Array(64);
  new DataView(signature.buffer).setUint32(0, number);
  return encodeClientNotice(1 + number, "Confirm", { channelId, epoch, state: new Uint8Array(32).fill(1), signature });
}

/** Everybody sends its cell and is sent one, so many times. Returns the CPU, in microseconds. */
async function pingAll(
  members: readonly Member[],
  cells: readonly Uint8Array<ArrayBuffer>[],
  times: number,
): Promise<number> {
  const start = process.cpuUsage();
  for (let time = 0; time < times; time++) {
    for (const [number, member] of members.entries()) await member.send(cells[number] ?? new Uint8Array(cellBytes));
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

/** CPU of a relay for a cell each way over QUIC. */
async function measureCell(): Promise<number> {
  const script = new URL("relay/server.ts", import.meta.url).pathname;
  const server = new Child(Deno.execPath(), ["run", "-A", "--no-check", "--quiet", "--unstable-net", script]);
  const { quicPort, cert } = JSON.parse(await server.line());
  const target = { origin: `quic://localhost:${quicPort}`, connect: () => connectQuic(quicPort, cert) };
  const clients = Array.from({ length: 20 }, (_, number) => new LoadClient(target, number));
  for (const client of clients) await client.open(grantedToken("00000000-0000-4000-8000-000000000001"));
  const ping = async (times: number): Promise<void> => {
    await Promise.all(clients.map(async (client) => {
      for (let time = 0; time < times; time++) await client.call("Ping", {});
    }));
  };
  await ping(100);
  const before = JSON.parse(await server.ask("stats")).cpuUs;
  await ping(300);
  const cpuUs = (JSON.parse(await server.ask("stats")).cpuUs - before) / (300 * clients.length);
  for (const client of clients) client.close();
  await server.end();
  return cpuUs;
}

const cellUs = await measureCell();
console.log(`a cell each way over QUIC: ${cellUs.toFixed(0)} µs of the relay's CPU`);
for (const channel of channels) {
  const { members } = channel;
  const { pages, bytes, cells, cpuUs } = await measureEpoch(channel);
  const share = cpuUs / (members * cellsEachWay * cellUs);
  console.log(
    `${members} members: ${members} up, ${pages} pages of ${bytes} bytes down to each, in the fill of ${cells} cells; ` +
      `${(cpuUs / members).toFixed(1)} µs of the relay's CPU for each member, ${
        (100 * share).toFixed(2)
      } % of ten minutes`,
  );
}
Deno.exit(0);
