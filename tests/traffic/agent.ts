/**
 * One agent whose traffic is watched, or who keeps the watched ones busy: a process in Deno or Node
 * that is told by lines what to do. A real client with real MLS; only its token is granted by the
 * relay under test.
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { ChannelManager, type CoverOptions } from "../../sdk/mod.ts";
import type { WireTransport } from "./observation.ts";

/** Plain values: it travels as an argument. */
export interface AgentOptions {
  readonly endpoint: string;
  readonly transport: WireTransport;
  readonly cert: string;
  readonly token: string;
  readonly cover: CoverOptions;
  readonly identity: string;
  readonly folder: string;
}

export interface Invite {
  readonly name: string;
  readonly token: string;
}

/** One line in, one line of JSON out. */
export type AgentCommand =
  /** Channels, with an invite for each. */
  | { readonly do: "create"; readonly names: readonly string[] }
  /** Joins, and reads what comes. */
  | { readonly do: "join"; readonly invite: Invite }
  /** With four sends under way; with a pause in between, one. */
  | {
    readonly do: "talk";
    readonly name: string;
    readonly untilMs: number;
    readonly everyMs: number;
  }
  /** Replies to every message in these channels from now on. */
  | { readonly do: "answer"; readonly names: readonly string[] }
  /** One channel after the other. */
  | { readonly do: "joinAll"; readonly invites: readonly Invite[]; readonly untilMs: number }
  | { readonly do: "close" };

const payload = new Uint8Array(600).fill(7);
const timeoutMs = 20_000;
const hourMs = 3_600_000;
const sendsAtOnce = 4;

export async function runAgent(): Promise<void> {
  const { folder, ...options }: AgentOptions = JSON.parse(process.argv[2] ?? "{}");
  const manager = await ChannelManager.connect({
    endpoint: options.endpoint,
    transport: options.transport,
    tls: { caCerts: [options.cert] },
    token: options.token,
    cover: options.cover,
    dataDir: `${folder}/${options.identity}`,
    identity: options.identity,
  });
  say({ ready: manager.client.transport });
  for await (const line of createInterface({ input: process.stdin })) {
    const command: AgentCommand = JSON.parse(line);
    say(await carryOut(manager, command));
    if (command.do === "close") break;
  }
  process.exit(0);
}

async function carryOut(manager: ChannelManager, command: AgentCommand): Promise<unknown> {
  switch (command.do) {
    case "create":
      return await Promise.all(command.names.map(async (name): Promise<Invite> => {
        await manager.create(name);
        return { name, token: await manager.invite(name, { uses: 1 }) };
      }));
    case "join": {
      const { name, token } = command.invite;
      await manager.joinWithToken(name, token, { timeoutMs });
      void listen(manager, name).catch(endsWithItsClient);
      return {};
    }
    case "talk":
      return { done: await talk(manager, command) };
    case "answer":
      for (const name of command.names) void answer(manager, name).catch(endsWithItsClient);
      return {};
    case "joinAll":
      return { done: await joinAll(manager, command) };
    case "close":
      await manager.close();
      return {};
  }
}

async function talk(
  manager: ChannelManager,
  { name, untilMs, everyMs }: Extract<AgentCommand, { do: "talk" }>,
): Promise<number> {
  let sent = 0;
  const speak = async (): Promise<void> => {
    for (; Date.now() < untilMs; sent++) {
      await manager.send(name, payload);
      const restMs = Math.max(0, Math.min(everyMs, untilMs - Date.now()));
      // wait: this is the rate at which it talks
      if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
    }
  };
  await Promise.all(Array.from({ length: everyMs === 0 ? sendsAtOnce : 1 }, speak));
  return sent;
}

async function listen(manager: ChannelManager, name: string): Promise<void> {
  for (;;) await manager.receive(name, { timeoutMs: hourMs });
}

async function answer(manager: ChannelManager, name: string): Promise<void> {
  for (;;) {
    const message = await manager.receive(name, { timeoutMs: hourMs });
    if (message !== undefined) await manager.send(name, message);
  }
}

async function joinAll(
  manager: ChannelManager,
  { invites, untilMs }: Extract<AgentCommand, { do: "joinAll" }>,
): Promise<number> {
  let joined = 0;
  for (const { name, token } of invites) {
    if (Date.now() >= untilMs) break;
    await manager.joinWithToken(name, token, { timeoutMs });
    joined++;
  }
  return joined;
}

/** A loop that reads is over when its client is closed; nobody waits for it. */
function endsWithItsClient(): void {}

function say(line: unknown): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

await runAgent();
