/** Faults, one function each: the fault happens, and ends when everybody is heard again. */
import { residentBytes } from "../support/process_memory.ts";
import type { Actor } from "./actor.ts";
import { vandalize } from "./vandals.ts";
import { channel, type Exchange, pause, until } from "./exchange.ts";

export interface Fault {
  readonly name: string;
  readonly happen: (exchange: Exchange, how: Severity) => Promise<void>;
}

/** The stress campaign takes longer faults: past the idle timeout of connections, for instance. */
export interface Severity {
  readonly outageMs: number;
}

const acceptMs = 30_000;
/**
 * Two cores carry the whole stack: single sends wait for a collection of garbage, or for another
 * process.
 */
const machineNoiseMs = 250;
/** For a few hundred connections and megabytes of noise, and for the servers' own ups and downs. */
const maxGrowthMb = 150;

export const faults: readonly Fault[] = [
  {
    name: "kill -9 of an agent",
    happen: async (exchange) => {
      const victim = exchange.random.pick(exchange.residents);
      await victim.kill();
      await exchange.progress(exchange.others(victim));
      await exchange.revive(victim);
    },
  },
  {
    name: "kill -9 of the relay",
    happen: async ({ stack }) => {
      await stack.killRelay();
      await stack.startRelay();
    },
  },
  {
    name: "kill -9 of the API; messages go on without it",
    happen: async (exchange) => {
      await exchange.stack.api.stop();
      await exchange.progress();
      await exchange.stack.startApi();
    },
  },
  {
    name: "kill -9 of the database; messages go on without it",
    happen: async (exchange) => {
      const { database } = exchange.stack;
      if (database === undefined) return;
      await database.kill();
      await exchange.progress();
      await database.start();
    },
  },
  {
    name: "SIGSTOP of an agent; the others do not notice",
    happen: async (exchange, { outageMs }) => {
      const victim = exchange.random.pick(exchange.residents);
      const usual = await exchange.slowestOf(exchange.others(victim), outageMs);
      victim.signal("SIGSTOP");
      const beside = await exchange.slowestOf(exchange.others(victim), outageMs);
      victim.signal("SIGCONT");
      console.log(`p99 of the others' sends: ${usual} ms, beside a frozen agent ${beside} ms`);
      if (beside > 2 * usual + machineNoiseMs) {
        throw new Error(`The others wait ${beside} ms instead of ${usual} ms`);
      }
    },
  },
  {
    name: "SIGSTOP of the relay",
    happen: async ({ stack }, { outageMs }) => {
      stack.relay.signal("SIGSTOP");
      await pause(outageMs);
      stack.relay.signal("SIGCONT");
    },
  },
  {
    name: "5 to 30 % loss, 200 to 500 ms delay, doubled and overtaking datagrams; messages go on",
    happen: async (exchange) => {
      const { random, residents } = exchange;
      for (const { link } of residents) {
        const least = 200 + random.below(200);
        link.set({ loss: 0.05 + random.below(26) / 100, doubled: 0.1, delayMs: [least, 500] });
      }
      try {
        await exchange.progress();
      } finally {
        for (const { link } of residents) link.set({});
      }
    },
  },
  {
    name: "partition of an agent, and heal; the others do not notice",
    happen: async (exchange, { outageMs }) => {
      const victim = exchange.random.pick(exchange.residents);
      victim.link.set({ up: false, down: false });
      const endMs = Date.now() + outageMs;
      while (Date.now() < endMs) await exchange.progress(exchange.others(victim));
      victim.link.set({});
    },
  },
  {
    name: "kill -9 of a committer between the acceptance of its commit and the reply",
    happen: async (exchange) => {
      const committer = exchange.random.pick(exchange.residents);
      const guest = await exchange.guest();
      await commitWithoutReply(exchange, committer, guest);
      await committer.kill();
      committer.link.set({});
      await exchange.revive(committer);
      await welcome(exchange, guest);
    },
  },
  {
    name: "kill -9 of the relay between the acceptance of a commit and the reply",
    happen: async (exchange) => {
      const committer = exchange.random.pick(exchange.residents);
      const guest = await exchange.guest();
      const [added] = await commitWithoutReply(exchange, committer, guest);
      await exchange.stack.killRelay();
      committer.link.set({});
      await exchange.stack.startRelay();
      await added;
      await welcome(exchange, guest);
    },
  },
  {
    name: "kill -9 of the relay during a join",
    happen: async (exchange) => {
      const { stack, owner, random } = exchange;
      const token = await owner.text({ do: "invite" });
      const guest = await exchange.guest();
      const joining = guest.ask({ do: "join", channel, token });
      await pause(random.below(250));
      await stack.killRelay();
      await stack.startRelay();
      await joining;
      await exchange.talk(guest);
      await depart(exchange, guest);
    },
  },
  {
    name:
      "noise, floods and silent connections on every port; messages go on, memory stays bounded",
    happen: async (exchange) => {
      const { stack, random } = exchange;
      const before = memoryOf(exchange);
      const tcp = [stack.api.url, stack.relay.grpcUrl].map((url) => Number(new URL(url).port));
      await vandalize({ tcp, udp: [stack.relayPort] }, random, async () => {
        await exchange.progress();
        const { status } = await stack.api.call("GET", "/v1/usage", { key: stack.account.apiKey });
        if (status !== 200) {
          throw new Error(`The API answers ${status} while strangers are at the door`);
        }
      });
      const grown = memoryOf(exchange) - before;
      if (grown > maxGrowthMb) throw new Error(`Strangers cost ${grown.toFixed(0)} MB of memory`);
    },
  },
];

/** Of both servers, in MiB. */
function memoryOf({ stack: { api, relay } }: Exchange): number {
  return (residentBytes(api.pid) + residentBytes(relay.pid)) / 2 ** 20;
}

/** The relay takes a commit, and its sender hears nothing. Returns the sender's pending call. */
async function commitWithoutReply(
  exchange: Exchange,
  committer: Actor,
  guest: Actor,
): Promise<Promise<unknown>[]> {
  const keyPackage = await guest.text({ do: "key_package" });
  const before = committer.epoch;
  committer.link.set({ down: false });
  const added = committer.ask({ do: "add", keyPackage });
  // The one who is killed never answers; the other's answer is awaited by who gets it.
  added.catch(() => {});
  const witnesses = exchange.others(committer);
  await until(
    "the commit to be accepted",
    acceptMs,
    () => witnesses.some(({ epoch }) => epoch > before),
  );
  // In a list, because a promise alone would be awaited here.
  return [added];
}

/** The agent that was added by that commit gets its Welcome, talks a little and goes. */
async function welcome(exchange: Exchange, guest: Actor): Promise<void> {
  await guest.ask({ do: "enter", channel });
  await exchange.talk(guest);
  await depart(exchange, guest);
}

async function depart(exchange: Exchange, guest: Actor): Promise<void> {
  await exchange.progress([guest]);
  await guest.ask({ do: "hush" });
  await guest.ask({ do: "leave" });
  await guest.close();
}
