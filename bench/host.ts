/**
 * What a host costs: a call without work, processor time of one message from program to program, and 32 sends under way, each beside
 * the SDK that holds its agent itself, in the same run; then the command line's starts beside the runtime's own. Everything is
 * real: hosts, relay and API in processes of their own.
 */
import { ChannelManager, type ConnectOptions } from "../sdk/mod.ts";
import { connectHost, hostPlatform } from "../sdk/testing/host.ts";
import { startStack } from "../tests/support/stack.ts";
import { exchange, median, type Pair, sendMany, underWay } from "./pairs.ts";
import { reportRatio } from "./ratio.ts";

const calls = 2_000;
const promised = { callUs: 150, addedCpuMs: 0.7, sends: 0.7, versionMs: 150, sendMs: 300 };

interface HostedPair extends Pair, AsyncDisposable {}

const folder = await Deno.makeTempDir({ prefix: "static-bench-" });
await using stack = await startStack();

function optionsOf(identity: string, host: "auto" | "off"): ConnectOptions {
  const { api, account, quicUrl, caFile } = stack;
  const service = { endpoint: quicUrl, apiUrl: api.url, apiKey: account.apiKey, tls: { caFile } };
  return { ...service, host, dataDir: `${folder}/${identity}`, identity, cover: "off" };
}

async function openPair(name: string, host: "auto" | "off"): Promise<HostedPair> {
  const [alice, bob] = [optionsOf(`${name}-alice`, host), optionsOf(`${name}-bob`, host)];
  const owner = await ChannelManager.connect(alice);
  const guest = await ChannelManager.connect(bob);
  const sending = await owner.create(`bench/host/${name}`);
  const receiving = await guest.joinWithToken(sending.name, await owner.invite(sending.name));
  const pids = host === "off" ? [] : await Promise.all([alice, bob].map((each) => pidOf(each)));
  const close = async (): Promise<void> => {
    await owner.close();
    await guest.close();
    if (host === "auto") { for (const each of [alice, bob]) await stop(each); }
  };
  return { sending, receiving, pids, [Symbol.asyncDispose]: close };
}

async function pidOf(options: ConnectOptions): Promise<number> {
  const client = await connectHost(options, hostPlatform);
  const { fields } = await client.link.call("status");
  await client.close();
  return fields.number("pid");
}

async function stop(options: ConnectOptions): Promise<void> {
  const client = await connectHost(options, hostPlatform);
  const connection = await client.link.connection();
  await connection.call("stop");
  await connection.over;
}

async function measureCalls(): Promise<number> {
  const options = optionsOf("hosted-alice", "auto");
  const client = await connectHost(options, hostPlatform);
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

async function startMs(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 9; i++) {
    const started = performance.now();
    const { success } = await new Deno.Command(Deno.execPath(), { args: [...args], env, stdout: "null" }).output();
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
  console.log(`${what}: ${ours.toFixed(2)} ${unit}; ${peer} ${theirs.toFixed(2)}; ratio ${ratio.toFixed(2)}`);
  reportRatio({ bench: "host", what, unit, ours, peer, theirs, ratio, target });
}

async function measureStarts(): Promise<void> {
  const empty = `${folder}/empty.ts`;
  await Deno.writeTextFile(empty, "");
  const rights = ["-N", "-R", "-W", "-E", "-S", "--allow-ffi", "--allow-run"];
  const program = ["run", "--quiet", "--no-check", ...rights, new URL("../cli/main.ts", import.meta.url).pathname];
  const emptyMs = await startMs(["run", "--quiet", empty]);
  const env = {
    STATIC_API_URL: stack.api.url,
    STATIC_API_KEY: stack.account.apiKey,
    STATIC_RELAY_URL: stack.quicUrl,
    STATIC_CA_FILE: stack.caFile,
    XDG_DATA_HOME: `${folder}/cli`,
    XDG_CONFIG_HOME: `${folder}/cli`,
  };
  const once = async (...words: string[]): Promise<void> =>
    void await new Deno.Command(Deno.execPath(), { args: [...program, ...words], env, stdout: "null" }).output();
  await once("channel", "create", "bench/host/cli");
  const versionMs = await startMs([...program, "--version"]);
  const sendMs = await startMs([...program, "channel", "send", "bench/host/cli", "hello"], env);
  await once("host", "stop");
  const peer = "empty program";
  show("static --version", "ms", versionMs, { theirs: emptyMs, target: emptyMs / promised.versionMs, peer });
  show("static channel send, host running", "ms", sendMs, { theirs: emptyMs, target: emptyMs / promised.sendMs, peer });
}

{
  await using embedded = await openPair("embedded", "off");
  await using hosted = await openPair("hosted", "auto");
  const callUs = await measureCalls();
  console.log(`call without work: ${callUs.toFixed(0)} µs (target ${promised.callUs})`);
  for (const pair of [embedded, hosted]) await exchange(pair);
  const [alone, through] = [await exchange(embedded), await exchange(hosted)];
  console.log(`processor time of one message: ${alone.toFixed(2)} ms alone, ${through.toFixed(2)} ms through hosts`);
  console.log(`added: ${(through - alone).toFixed(2)} ms (target ${promised.addedCpuMs})`);
  for (const pair of [embedded, hosted]) await sendMany(pair);
  const [own, shared] = [await sendMany(embedded), await sendMany(hosted)];
  show(`${underWay} sends under way`, "1/s", shared, { theirs: own, target: promised.sends, peer: "embedded SDK" });
}
await measureStarts();
await Deno.remove(folder, { recursive: true });
