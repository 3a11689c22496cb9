/**
 * Agents whose traffic is watched, or who keep them busy: a process in Deno or Node that is told by lines what to do. Real
 * clients with real MLS; only their tokens are granted by the relay under test.
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { ChannelManager, type CoverOptions } from "../../sdk/mod.ts";

/** Plain values: it travels as an argument. */
export interface AgentsOptions {
  readonly endpoint: string;
  readonly transport: "quic" | "grpc";
  readonly cert: string;
  readonly token: string;
  readonly cover: CoverOptions;
  readonly label: string;
  readonly sessions: number;
  readonly folder: string;
}

export interface Invite {
  readonly name: string;
  readonly token: string;
}

/** One line in, one line of JSON out. */
export type AgentsCommand =
  /** Channels of the first agent, with an invite for each. */
  | { readonly do: "create"; readonly names: readonly string[] }
  /** The first agent joins the first channel, and so on, and reads what comes. */
  | { readonly do: "join"; readonly invites: readonly Invite[] }
  /** Each agent in its channel, with four sends under way; with a pause in between, one. */
  | { readonly do: "talk"; readonly names: readonly string[]; readonly untilMs: number; readonly everyMs: number }
  /** Answers every message in these channels from now on. */
  | { readonly do: "answer"; readonly names: readonly string[] }
  /** Each agent joins its share of the channels, one after the other. */
  | { readonly do: "joinAll"; readonly invites: readonly Invite[]; readonly untilMs: number }
  | { readonly do: "close" };

const payload = new Uint8Array(600).fill(7);
const timeoutMs = 20_000;
const hourMs = 3_600_000;
const sendsAtOnce = 4;

export async function runAgents(): Promise<void> {
  const options: AgentsOptions = JSON.parse(process.argv[2] ?? "{}");
  const managers: ChannelManager[] = [];
  for (let i = 0; i < options.sessions; i++) managers.push(await connect(options, i));
  say({ ready: managers.map(({ client }) => client.transport) });
  for await (const line of createInterface({ input: process.stdin })) {
    const command: AgentsCommand = JSON.parse(line);
    say(await carryOut(managers, command));
    if (command.do === "close") break;
  }
  process.exit(0);
}

async function connect(
  { endpoint, transport, cert, token, cover, label, folder }: AgentsOptions,
  number: number,
): Promise<ChannelManager> {
  const identity = `${label} ${number}`;
  const tls = { caCerts: [cert] };
  const dataDir = `${folder}/${label}-${number}`;
  return await ChannelManager.connect({ endpoint, transport, tls, token, cover, dataDir, identity });
}

async function carryOut(managers: readonly ChannelManager[], command: AgentsCommand): Promise<unknown> {
  const [first] = managers;
  if (first === undefined) throw new Error("There are no agents");
  switch (command.do) {
    case "create":
      return await Promise.all(command.names.map(async (name): Promise<Invite> => {
        await first.create(name);
        return { name, token: await first.invite(name, { uses: 1 }) };
      }));
    case "join":
      await Promise.all(
        command.invites.map(({ name, token }, i) => managers[i]?.joinWithToken(name, token, { timeoutMs })),
      );
      for (const [i, { name }] of command.invites.entries()) void listen(managers[i], name).catch(endsWithItsClient);
      return {};
    case "talk":
      return {
        sent: (await Promise.all(managers.map((manager, i) => talk(manager, i, command)))).reduce((a, b) => a + b, 0),
      };
    case "answer":
      for (const name of command.names) void answer(first, name).catch(endsWithItsClient);
      return {};
    case "joinAll":
      return { joined: await joinAll(managers, command) };
    case "close":
      await Promise.all(managers.map((manager) => manager.close()));
      return {};
  }
}

async function talk(
  manager: ChannelManager,
  number: number,
  { names, untilMs, everyMs }: Extract<AgentsCommand, { do: "talk" }>,
): Promise<number> {
  let sent = 0;
  const speak = async (): Promise<void> => {
    for (; Date.now() < untilMs; sent++) {
      await manager.send(names[number] ?? "", payload);
      const restMs = Math.max(0, Math.min(everyMs, untilMs - Date.now()));
      // wait: this is the rate at which it talks
      if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
    }
  };
  await Promise.all(Array.from({ length: everyMs === 0 ? sendsAtOnce : 1 }, speak));
  return sent;
}

async function listen(manager: ChannelManager | undefined, name: string): Promise<void> {
  for (;;) await manager?.receive(name, { timeoutMs: hourMs });
}

async function answer(manager: ChannelManager, name: string): Promise<void> {
  for (;;) {
    const message = await manager.receive(name, { timeoutMs: hourMs });
    if (message !== undefined) await manager.send(name, message);
  }
}

async function joinAll(
  managers: readonly ChannelManager[],
  { invites, untilMs }: Extract<AgentsCommand, { do: "joinAll" }>,
): Promise<number> {
  let joined = 0;
  await Promise.all(managers.map(async (manager, number) => {
    for (const { name, token } of invites.filter((_, i) => i % managers.length === number)) {
      if (Date.now() >= untilMs) break;
      await manager.joinWithToken(name, token, { timeoutMs });
      joined++;
    }
  }));
  return joined;
}

/** A loop that reads is over when its client is closed; nobody waits for it. */
function endsWithItsClient(): void {}

function say(line: unknown): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

await runAgents();
