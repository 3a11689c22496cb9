/**
 * Two agents: round trips and requests, first with code that V8 has hardly seen (cold), then after
 * many messages (warm); messages one way; what each costs the sender, the relay and the receiver,
 * in processor time and in confirmed writes.
 */
import type { AgentProcess } from "./agent_process.ts";
import type { Compared } from "./agent.ts";
import { countSyncs, cpuUs } from "./processes.ts";

export const payloadBytes = 1024;
const [warmUp, pings, coldMessages, warmMessages, countedMessages] = [
  200,
  500,
  3_000,
  12_000,
  2_000,
];

/** Microseconds of a message, or confirmed writes. */
interface Costs {
  readonly sender: number;
  readonly relay: number;
  readonly receiver: number;
}

export interface PairFigures {
  readonly transport: string;
  readonly cold: Compared;
  readonly warm: Compared;
  /** Messages per second. */
  readonly coldRate: number;
  readonly warmRate: number;
  readonly cpu: Costs;
  /** Undefined where nobody can count them. */
  readonly syncs: Costs | undefined;
}

interface Players {
  readonly alice: AgentProcess;
  readonly bob: AgentProcess;
  readonly relayPid: number;
  readonly name: string;
}

export async function measurePair(players: Players): Promise<PairFigures> {
  const { alice, bob, name } = players;
  const transport = await alice.transport;
  await bob.transport;
  await alice.ask({ do: "create", name });
  const { token } = await alice.ask({ do: "invite", name });
  await bob.ask({ do: "join", name, token: String(token) });
  const cold = await comparePings(players);
  const { rate: coldRate } = await flood(players, coldMessages);
  const { rate: warmRate, cpu } = await flood(players, warmMessages);
  const warm = await comparePings(players);
  const syncs = await countMessages(players);
  await alice.end();
  await bob.end();
  return { transport, cold, warm, coldRate, warmRate, cpu, syncs };
}

async function comparePings({ alice, bob, name }: Players): Promise<Compared> {
  const answering = bob.ask({ do: "answer", name, count: warmUp + pings });
  const compared = await alice.ask({
    do: "compare",
    name,
    warmUp,
    count: pings,
    bytes: payloadBytes,
  });
  await answering;
  return compared as unknown as Compared; // cast: the agent's own line
}

async function flood(
  { alice, bob, relayPid, name }: Players,
  count: number,
): Promise<{ rate: number; cpu: Costs }> {
  const before = await cpuUs(relayPid);
  const reading = bob.ask({ do: "read", name, count });
  const flooding = alice.ask({ do: "flood", name, count, bytes: payloadBytes });
  const [read, sent] = [await reading, await flooding];
  const relay = (await cpuUs(relayPid) - before) / count;
  return {
    rate: count / Number(read["ms"]) * 1000,
    cpu: { sender: Number(sent["cpuUs"]), relay, receiver: Number(read["cpuUs"]) },
  };
}

/** Not timed: counting slows the processes down. */
async function countMessages(players: Players): Promise<Costs | undefined> {
  const pids = [players.alice.pid, players.relayPid, players.bob.pid];
  const counts = await countSyncs(pids, async () => void await flood(players, countedMessages));
  if (counts === undefined) return undefined;
  const [sender = NaN, relay = NaN, receiver = NaN] = counts.map((each) => each / countedMessages);
  return { sender, relay, receiver };
}

export function describePair(label: string, figures: PairFigures): string {
  const { transport, cold, warm, coldRate, warmRate, cpu, syncs } = figures;
  const trip = ({ plain, asked }: Compared): string =>
    `round trip p50 ${plain.p50.toFixed(2)} ms, p99 ${plain.p99.toFixed(2)}; request ${
      asked.p50.toFixed(2)
    } ` +
    `(${(asked.p50 / plain.p50).toFixed(2)} ×), p99 ${asked.p99.toFixed(2)}`;
  const each = (costs: Costs, digits: number): string =>
    `sender ${costs.sender.toFixed(digits)}, relay ${costs.relay.toFixed(digits)}, receiver ${
      costs.receiver.toFixed(digits)
    }`;
  return [
    `${label} (${transport})`,
    `  cold: ${trip(cold)}; one way ${coldRate.toFixed(0)} messages/s`,
    `  warm: ${trip(warm)}; one way ${warmRate.toFixed(0)} messages/s`,
    `  a message costs µs of processor: ${each(cpu, 0)}`,
    syncs === undefined
      ? "  confirmed writes: not counted, strace is missing or not allowed"
      : `  confirmed writes a message: ${each(syncs, 3)}`,
  ].join("\n");
}
