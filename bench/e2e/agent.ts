/**
 * One agent as a process of its own, in Deno or Node, led by lines of JSON: so that what is
 * measured is two agents and a relay on the machine's cores, and not three parties that share one.
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { ChannelManager, type ConnectOptions } from "../../sdk/mod.ts";

/** Commands of the leader; each is answered with one line. */
export type Command =
  | { readonly do: "create"; readonly name: string }
  | { readonly do: "invite"; readonly name: string }
  | { readonly do: "join"; readonly name: string; readonly token: string }
  /** Sends back so many messages, and replies to as many requests with what they carry. */
  | { readonly do: "answer"; readonly name: string; readonly count: number }
  /**
   * In turn a message there and back, and a request and its reply, so that both meet the same
   * machine; the first `warmUp` of each are not counted.
   */
  | {
    readonly do: "compare";
    readonly name: string;
    readonly warmUp: number;
    readonly count: number;
    readonly bytes: number;
  }
  | { readonly do: "flood"; readonly name: string; readonly count: number; readonly bytes: number }
  /** Reads so many messages; returns how long it took from the first to the last. */
  | { readonly do: "read"; readonly name: string; readonly count: number };

export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
}

/** In milliseconds. */
export interface Compared {
  readonly plain: Quantiles;
  readonly asked: Quantiles;
}

/** The first byte of a ping; its number follows. */
const pingMark = 2;

const options: ConnectOptions = JSON.parse(process.argv[2] ?? "");
const manager = await ChannelManager.connect(options);
answer({ transport: manager.client.transport });
for await (const line of createInterface({ input: process.stdin })) {
  const command: Command = JSON.parse(line);
  answer(await obey(command));
}
await manager.close();
process.exit(0);

function answer(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

async function obey(command: Command): Promise<unknown> {
  const { name } = command;
  switch (command.do) {
    case "create":
      await manager.create(name);
      return {};
    case "invite":
      return { token: await manager.invite(name) };
    case "join":
      await manager.joinWithToken(name, command.token);
      return {};
    case "answer":
      await Promise.all([echo(name, command.count), serve(name, command.count)]);
      return {};
    case "compare":
      return await compare(command);
    case "flood":
      return await flood(name, command.count, new Uint8Array(command.bytes).fill(1));
    case "read":
      return await read(name, command.count);
  }
}

/** Sends pings back, and nothing else. */
async function echo(name: string, count: number): Promise<void> {
  const channel = await manager.channel(name);
  let left = count;
  const reader = channel.envelopes();
  for await (const { bytes } of reader) {
    if (bytes[0] !== pingMark) continue;
    await channel.send(bytes);
    // The last message that a loop was given comes again to the next one, unless the loop finishes.
    if (--left === 0) await reader.finish();
  }
}

async function serve(name: string, count: number): Promise<void> {
  const channel = await manager.channel(name);
  let left = count;
  await new Promise<void>((resolve) => {
    const serving = channel.serve((request) => {
      if (--left === 0) void serving.stop().then(resolve);
      return request.bytes;
    });
  });
}

async function compare(
  { name, warmUp, count, bytes }: Command & { do: "compare" },
): Promise<Compared> {
  const channel = await manager.channel(name);
  const payload = new Uint8Array(bytes).fill(pingMark);
  const [to] = channel.members().filter(({ self }) => !self);
  if (to === undefined) throw new Error("There is nobody to ask");
  const reader = channel.envelopes();
  const [plain, asked]: [number[], number[]] = [[], []];
  for (let i = -warmUp; i < count; i++) {
    const ping = payload.slice();
    const number = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
    new DataView(ping.buffer).setUint32(1, number);
    const started = performance.now();
    await channel.send(ping);
    // Its own echo, and not one from before.
    for (let pong = -1; pong !== number;) pong = numberOf((await reader.next()).value?.bytes);
    const between = performance.now();
    await channel.request(payload, { to });
    if (i < 0) continue;
    plain.push(between - started);
    asked.push(performance.now() - between);
  }
  await reader.finish();
  return { plain: quantiles(plain), asked: quantiles(asked) };
}

function numberOf(pong: Uint8Array | undefined): number {
  if (pong === undefined) throw new Error("The channel has ended");
  return new DataView(pong.buffer, pong.byteOffset).getUint32(1);
}

function quantiles(times: number[]): Quantiles {
  times.sort((a, b) => a - b);
  return {
    p50: times[Math.floor(times.length / 2)] ?? NaN,
    p99: times[Math.floor(times.length * 0.99)] ?? NaN,
  };
}

async function flood(name: string, count: number, payload: Uint8Array): Promise<unknown> {
  const channel = await manager.channel(name);
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  const underWay = new Set<Promise<unknown>>();
  for (let i = 0; i < count; i++) {
    const sending = channel.send(payload);
    underWay.add(sending);
    sending.finally(() => underWay.delete(sending));
    if (underWay.size >= 64) await Promise.race(underWay);
  }
  await Promise.all(underWay);
  return { ms: performance.now() - started, cpuUs: cpuSince(cpu) / count };
}

/** The time of all threads of this process: a message costs it however busy the machine is. */
function cpuSince(before: ReturnType<typeof process.cpuUsage>): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

async function read(name: string, count: number): Promise<unknown> {
  let [left, first] = [count, 0];
  const cpu = process.cpuUsage();
  const reader = (await manager.channel(name)).envelopes();
  for await (const _ of reader) {
    first ||= performance.now();
    if (--left === 0) await reader.finish();
  }
  return { ms: performance.now() - first, cpuUs: cpuSince(cpu) / count };
}
