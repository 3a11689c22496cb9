/**
 * The cost of a host: a call without work, processor time of one message from program to program,
 * and 32 sends under way, each beside the SDK that holds its agent itself, in the same run; then
 * the command line's starts beside the runtime's own. Everything is real: hosts, relay and API in
 * processes of their own.
 *
 * Processor time is that of two programs, each in a process of its own as two agents are, and of
 * their hosts. Both pairs play in turn, and the rounds in which V8 still compiles do not count: a
 * host lives for long.
 */
import { dirname } from "node:path";
import { type Channel, ChannelManager, type ConnectOptions } from "../sdk/mod.ts";
import { connectHost, hostPlatform } from "../sdk/testing/host.ts";
import { startStack } from "../tests/support/stack.ts";
import type { Player } from "./host_program.ts";
import { cpuMs, sendMany, underWay } from "./pairs.ts";
import { median, reportRatio } from "./ratio.ts";

const [calls, burst] = [2_000, 900];
/**
 * The size of the game: each exchange is two messages. All together stay below the 10,000 of the
 * smallest plan.
 */
const [rounds, warmRounds, exchanges] = [7, 3, 200];
const promised = { callUs: 150, addedCpuMs: 0.7, sends: 0.7, versionMs: 150, sendMs: 300 };

type Hosting = "auto" | "off";

const folder = await Deno.makeTempDir({ prefix: "static-bench-" });
await using stack = await startStack();

function optionsOf(identity: string, host: Hosting): ConnectOptions {
  const { api, account, quicUrl, caFile } = stack;
  const service = { endpoint: quicUrl, apiUrl: api.url, apiKey: account.apiKey, tls: { caFile } };
  return { ...service, host, dataDir: `${folder}/${identity}`, identity, cover: "off" };
}

function pairOf(name: string, host: Hosting): readonly [ConnectOptions, ConnectOptions] {
  return [optionsOf(`${name}-alice`, host), optionsOf(`${name}-bob`, host)];
}

interface Pair extends AsyncDisposable {
  readonly sending: Channel;
  readonly receiving: Channel;
}

async function openPair(name: string, host: Hosting): Promise<Pair> {
  const [alice, bob] = pairOf(name, host);
  const owner = await ChannelManager.connect(alice);
  const guest = await ChannelManager.connect(bob);
  const sending = await owner.create(`bench/host/${name}`);
  const receiving = await guest.joinWithToken(sending.name, await owner.invite(sending.name));
  const close = async (): Promise<void> => {
    await owner.close();
    await guest.close();
  };
  return { sending, receiving, [Symbol.asyncDispose]: close };
}

async function pidOf(options: ConnectOptions): Promise<number> {
  const client = await connectHost(options, hostPlatform);
  const { fields } = await (await client.link.connection()).call("status");
  await client.close();
  return fields.number("pid");
}

async function stopHosts(...all: readonly ConnectOptions[]): Promise<void> {
  for (const options of all) {
    const { link } = await connectHost(options, hostPlatform);
    await (await link.connection()).call("stop");
  }
}

/** Two programs that throw a message to and fro. */
interface Game extends AsyncDisposable {
  /** Processor time of one message: sent and received. */
  play(): Promise<number>;
}

async function openGame(name: string, host: Hosting): Promise<Game> {
  const both = pairOf(name, host);
  const script = new URL("./host_program.ts", import.meta.url).pathname;
  const players = both.map((options, i) => {
    const player: Player = { options, channel: `bench/host/${name}`, serves: i === 0 };
    const args = ["run", "-A", "--quiet", "--no-check", script, JSON.stringify(player)];
    return new Deno.Command(Deno.execPath(), { args, stdin: "piped", stdout: "piped" }).spawn();
  });
  const [writers, readers] = [
    players.map(({ stdin }) => stdin.getWriter()),
    players.map((each) => each.stdout.getReader()),
  ];
  const said = (): Promise<unknown> => Promise.all(readers.map((reader) => reader.read()));
  await said();
  const hosts = host === "off" ? [] : await Promise.all(both.map((options) => pidOf(options)));
  const pids = [...players.map(({ pid }) => pid), ...hosts];
  return {
    play: async () => {
      const before = await cpuMs(pids);
      for (const writer of writers) await writer.write(new TextEncoder().encode(`${exchanges}`));
      await said();
      return (await cpuMs(pids) - before) / (2 * exchanges);
    },
    [Symbol.asyncDispose]: async () => {
      for (const writer of writers) await writer.close();
      for (const { status } of players) await status;
    },
  };
}

async function measureCalls(): Promise<number> {
  const client = await connectHost(optionsOf("hosted-alice", "auto"), hostPlatform);
  const connection = await client.link.connection();
  const times: number[] = [];
  for (let i = 0; i < calls; i++) {
    const startMs = performance.now();
    await connection.call("agent");
    times.push((performance.now() - startMs) * 1000);
  }
  await client.close();
  return median(times);
}

async function measureMessages(): Promise<void> {
  const times: Record<"alone" | "through", number[]> = { alone: [], through: [] };
  await using alone = await openGame("embedded", "off");
  await using through = await openGame("hosted", "auto");
  for (let round = 0; round < rounds; round++) {
    times.alone.push(await alone.play());
    times.through.push(await through.play());
  }
  const [own, shared] = [
    median(times.alone.slice(warmRounds)),
    median(times.through.slice(warmRounds)),
  ];
  const target = own / (own + promised.addedCpuMs);
  show("processor time of one message", "ms", shared, {
    theirs: own,
    target,
    peer: "embedded SDK",
  });
  console.log(`added: ${(shared - own).toFixed(2)} ms (target ${promised.addedCpuMs})`);
}

async function startMs(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 9; i++) {
    const started = performance.now();
    const { success } = await new Deno.Command(command, { args: [...args], env, stdout: "null" })
      .output();
    if (!success) throw new Error(`${args.join(" ")} failed`);
    times.push(performance.now() - started);
  }
  return median(times);
}

function show(
  what: string,
  unit: string,
  ours: number,
  compared: { theirs: number; target: number; peer: string },
): void {
  const { theirs, target, peer } = compared;
  const ratio = unit === "1/s" ? ours / theirs : theirs / ours;
  console.log(
    `${what}: ${ours.toFixed(2)} ${unit}; ${peer} ${theirs.toFixed(2)}; ratio ${
      ratio.toFixed(2)
    } (target ${target.toFixed(2)})`,
  );
  reportRatio({ bench: "host", what, unit, ours, peer, theirs, ratio, target });
}

/** By the shim, as a user starts it. */
async function measureStarts(): Promise<void> {
  const empty = `${folder}/empty.ts`;
  await Deno.writeTextFile(empty, "");
  const program = new URL("../static", import.meta.url).pathname;
  const emptyMs = await startMs(Deno.execPath(), ["run", "--quiet", empty]);
  const env = {
    PATH: `${dirname(Deno.execPath())}:${Deno.env.get("PATH")}`,
    STATIC_API_URL: stack.api.url,
    STATIC_API_KEY: stack.account.apiKey,
    STATIC_RELAY_URL: stack.quicUrl,
    STATIC_CA_FILE: stack.caFile,
    XDG_DATA_HOME: `${folder}/cli`,
    XDG_CONFIG_HOME: `${folder}/cli`,
  };
  const once = async (...args: string[]): Promise<void> =>
    void await new Deno.Command(program, { args, env, stdout: "null" }).output();
  await once("channel", "create", "bench/host/cli");
  const versionMs = await startMs(program, ["--version"], env);
  const sendMs = await startMs(program, ["channel", "send", "bench/host/cli", "hello"], env);
  await once("host", "stop");
  const peer = "empty program";
  show("static --version", "ms", versionMs, {
    theirs: emptyMs,
    target: emptyMs / promised.versionMs,
    peer,
  });
  show("static channel send, host running", "ms", sendMs, {
    theirs: emptyMs,
    target: emptyMs / promised.sendMs,
    peer,
  });
  console.log(`targets: ${promised.versionMs} and ${promised.sendMs} ms`);
}

{
  await using embedded = await openPair("embedded", "off");
  await using hosted = await openPair("hosted", "auto");
  const callUs = await measureCalls();
  console.log(`call without work: ${callUs.toFixed(0)} µs (target ${promised.callUs})`);
  for (const pair of [embedded, hosted]) await sendMany(pair, burst);
  const [own, shared] = [await sendMany(embedded, burst), await sendMany(hosted, burst)];
  show(`${underWay} sends under way`, "1/s", shared, {
    theirs: own,
    target: promised.sends,
    peer: "embedded SDK",
  });
}
await measureMessages();
await stopHosts(...pairOf("hosted", "auto"));
await measureStarts();
await Deno.remove(folder, { recursive: true });
