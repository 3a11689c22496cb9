/**
 * A channel of many members: how long it takes to set it up, and how many deliveries a second it
 * makes for a while.
 */
import { ChannelManager, type ConnectOptions } from "../../sdk/mod.ts";
import { cpuUs } from "./processes.ts";

/** Logins of one address that the relay takes at a time, with room for others. */
const connectedAtOnce = 32;
const underWay = 64;
const [warmUpMs, runMs] = [3_000, 10_000];

export interface ChannelFigures {
  readonly members: number;
  readonly setUpMs: number;
  /** Per second. */
  readonly deliveries: number;
  /** Microseconds a delivery: of all members together, in this process, and of the relay. */
  readonly cpu: { readonly members: number; readonly relay: number };
}

interface Setting {
  readonly members: number;
  readonly relayPid: number;
  readonly payloadBytes: number;
  readonly options: (identity: string) => ConnectOptions;
}

/**
 * All members in this process: it is their work that is shared by the cores, wherever it is done.
 */
export async function measureChannel(setting: Setting): Promise<ChannelFigures> {
  const { members, options } = setting;
  const name = `acme/bench/members-${members}`;
  const managers = await connectAll(members, options);
  const [owner, ...guests] = managers;
  if (owner === undefined) throw new Error("A channel has an owner");
  const started = performance.now();
  const channel = await owner.create(name);
  const token = await owner.invite(name, { uses: members });
  const joined = await Promise.all(
    guests.map((guest) => guest.joinWithToken(name, token, { timeoutMs: 300_000 })),
  );
  const setUpMs = performance.now() - started;
  const counts = { delivered: 0 };
  const stop = new AbortController();
  const reading = joined.map(async (guest) => {
    for await (const _ of guest.messages({ signal: stop.signal })) counts.delivered++;
  });
  const send = (): Promise<unknown> => channel.send(new Uint8Array(setting.payloadBytes).fill(1));
  const figures = await measure(setting, send, counts);
  stop.abort();
  await Promise.all(reading);
  await Promise.all(managers.map((manager) => manager.close()));
  return { members, setUpMs, ...figures };
}

async function connectAll(members: number, options: Setting["options"]): Promise<ChannelManager[]> {
  const managers: ChannelManager[] = [];
  while (managers.length < members) {
    const count = Math.min(connectedAtOnce, members - managers.length);
    const next = Array.from(
      { length: count },
      (_, i) => options(`${members} ${managers.length + i}`),
    );
    managers.push(...await Promise.all(next.map((each) => ChannelManager.connect(each))));
  }
  return managers;
}

async function measure(
  { members, relayPid }: Setting,
  send: () => Promise<unknown>,
  counts: { delivered: number },
): Promise<Pick<ChannelFigures, "deliveries" | "cpu">> {
  let [sent, isOver] = [0, false];
  const sender = async (): Promise<void> => {
    while (!isOver) {
      await send();
      sent++;
    }
  };
  const sending = Array.from({ length: underWay }, sender);
  await new Promise((resolve) => setTimeout(resolve, warmUpMs)); // wait: code gets warm
  const [begun, startMs] = [counts.delivered, performance.now()];
  const before = [await cpuUs(Deno.pid), await cpuUs(relayPid)];
  await new Promise((resolve) => setTimeout(resolve, runMs)); // wait: the time that is measured
  const [deliveries, ms] = [counts.delivered - begun, performance.now() - startMs];
  const after = [await cpuUs(Deno.pid), await cpuUs(relayPid)];
  isOver = true;
  await Promise.all(sending);
  while (counts.delivered < sent * (members - 1)) {
    await new Promise((resolve) => setTimeout(resolve, 20)); // wait: the last ones are read
  }
  const [own = NaN, relay = NaN] = after.map((each, i) => (each - (before[i] ?? NaN)) / deliveries);
  return { deliveries: deliveries / ms * 1000, cpu: { members: own, relay } };
}

export function describeChannel({ members, setUpMs, deliveries, cpu }: ChannelFigures): string {
  return `${String(members).padStart(4)} members   set up in ${(setUpMs / 1000).toFixed(2)} s (${
    (setUpMs / (members - 1)).toFixed(0)
  } ms a member); ${deliveries.toFixed(0)} deliveries/s (µs a delivery: members ${
    cpu.members.toFixed(0)
  }, relay ${cpu.relay.toFixed(0)})`;
}
