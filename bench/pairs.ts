/**
 * Two agents in one channel: the processor time of one message, and how many a second when 32 are
 * under way.
 */
import type { Channel } from "../sdk/mod.ts";
import { cpuUs } from "./e2e/processes.ts";

export interface Pair {
  readonly sending: Channel;
  readonly receiving: Channel;
  /** Processes whose time counts, beside this one. */
  readonly pids: readonly number[];
}

/** Numbers of messages, and the bytes of one. */
export const [messages, burst, messageBytes] = [300, 1_500, 1_024];
export const underWay = 32;
/** Processor time of processes so far. */
export async function cpuMs(pids: readonly number[]): Promise<number> {
  const times = await Promise.all(pids.map(cpuUs));
  return times.reduce((sum, each) => sum + each, 0) / 1000;
}

/**
 * One after the other, each received before the next is sent. Returns processor time in
 * milliseconds.
 */
export async function exchange({ sending, receiving, pids }: Pair): Promise<number> {
  const all = [Deno.pid, ...pids];
  const before = await cpuMs(all);
  for (let i = 0; i < messages; i++) {
    await sending.send(new Uint8Array(messageBytes));
    await receiving.receive();
  }
  return (await cpuMs(all) - before) / messages;
}

/** Messages per second, of so many. */
export async function sendMany(
  { sending, receiving }: Pick<Pair, "sending" | "receiving">,
  count = burst,
): Promise<number> {
  const startMs = performance.now();
  const reader = receiving.messages();
  const read = (async (): Promise<void> => {
    for (let i = 0; i < count; i++) await reader.next();
  })();
  let sent = 0;
  const sender = async (): Promise<void> => {
    while (sent++ < count) await sending.send(new Uint8Array(messageBytes));
  };
  await Promise.all(Array.from({ length: underWay }, sender));
  await read;
  return count / ((performance.now() - startMs) / 1000);
}
