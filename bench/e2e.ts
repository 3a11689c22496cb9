/**
 * Two agents and a relay, end to end: round trips, requests and messages per second of 1 KiB for
 * each transport, cold and warm, with what a message costs each of the three; then channels of
 * several members: time to set one up, and deliveries per second. Everything is real: relay and API
 * in processes of their own, encrypted stores on disk, TLS, padding to cells; cover traffic is off.
 *
 * `deno run -A bench/e2e.ts [members …]`; without members, `10 100`. `0` skips the channels.
 */
import { createProject } from "../tools/bundle.ts";
import { type Stack, startStack } from "../tests/support/stack.ts";
import { AgentProcess, type Options } from "./e2e/agent_process.ts";
import { type ChannelFigures, describeChannel, measureChannel } from "./e2e/channel.ts";
import { describePair, measurePair, type PairFigures, payloadBytes } from "./e2e/pair.ts";
import { measureSlim } from "./e2e/slim.ts";
import { reportRatio } from "./ratio.ts";

/** The targets; requests are compared with plain round trips. */
const promised = { warmMs: 2, coldMs: 2.8, p99Ms: 12, request: 1.2, relayUs: 90, setUpMs: 5_000 };
const promisedRates: Readonly<Record<string, number>> = { "deno-quic": 6_000, "node-grpc": 4_000 };
const promisedDeliveries: Readonly<Record<number, number>> = { 10: 10_000, 100: 9_000 };
const bench = "e2e";
const peer = "what was promised";

/** Reports a figure of which less is better. */
function reportLess(what: string, unit: string, ours: number, theirs: number): void {
  reportRatio({ bench, what, unit, ours, peer, theirs, ratio: theirs / ours, target: 1 });
}

function reportMore(what: string, ours: number, theirs: number | undefined): void {
  if (theirs !== undefined) {
    reportRatio({ bench, what, unit: "/s", ours, peer, theirs, ratio: ours / theirs, target: 1 });
  }
}

function reportPair(label: string, { cold, warm, warmRate, cpu }: PairFigures): void {
  reportMore(`messages of 1 KiB, one way, ${label}`, warmRate, promisedRates[label]);
  for (const [how, { plain, asked }] of [["cold", cold], ["warm", warm]] as const) {
    const request = {
      ours: asked.p50,
      theirs: plain.p50,
      ratio: plain.p50 / asked.p50,
      target: 1 / promised.request,
    };
    const against = { bench, unit: "ms", peer: "the plain round trip, in the same run" };
    reportRatio({
      ...against,
      what: `request and reply of 1 KiB, median, ${label}, ${how}`,
      ...request,
    });
  }
  if (label !== "deno-quic") return;
  reportLess("round trip of 1 KiB, median, warm", "ms", warm.plain.p50, promised.warmMs);
  reportLess("round trip of 1 KiB, median, cold", "ms", cold.plain.p50, promised.coldMs);
  reportLess("round trip of 1 KiB, p99, warm", "ms", warm.plain.p99, promised.p99Ms);
  reportLess("processor time of the relay for a message", "µs", cpu.relay, promised.relayUs);
}

function reportChannel({ members, setUpMs, deliveries }: ChannelFigures): void {
  reportMore(`deliveries in a channel of ${members}`, deliveries, promisedDeliveries[members]);
  if (members === 100) reportLess("set-up of 100 members", "ms", setUpMs, promised.setUpMs);
}

/**
 * An account for each measurement, without a limit: minutes of messages are more than a small plan
 * has in a month.
 */
async function optionsFor(
  stack: Stack,
  folder: string,
  endpoint: string,
): Promise<(identity: string) => Options> {
  const { id, apiKey } = await stack.api.signUp();
  const sql = stack.backend.sql();
  await sql`UPDATE accounts SET plan = 'enterprise' WHERE id = ${id}`;
  await sql.end();
  return (identity) => ({
    endpoint,
    apiKey,
    apiUrl: stack.api.url,
    tls: { caFile: stack.caFile },
    cover: { mode: "off" },
    identity,
    dataDir: `${folder}/${identity.replaceAll(" ", "-")}`,
  });
}

const sizes = Deno.args.length > 0 ? Deno.args.map(Number) : [10, 100];
const folder = await Deno.makeTempDir({ prefix: "static-bench-" });
await using stack = await startStack();
const { relayPid } = stack;
console.log(
  `${new Date().toISOString()}  Deno ${Deno.version.deno}, load ${
    Deno.loadavg().map((n) => n.toFixed(1))
  }`,
);

const rates = new Map<string, number>();

async function runPair(
  label: string,
  endpoint: string,
  start: (options: Options) => AgentProcess,
): Promise<void> {
  const options = await optionsFor(stack, folder, endpoint);
  const [alice, bob] = [start(options(`${label} alice`)), start(options(`${label} bob`))];
  const figures = await measurePair({ alice, bob, relayPid, name: `acme/bench/${label}` });
  console.log(describePair(label, figures));
  rates.set(label, figures.warmRate);
  reportPair(label, figures);
}

const agentFile = new URL("e2e/agent.ts", import.meta.url);
for (
  const [label, endpoint] of [["deno-quic", stack.quicUrl], ["deno-grpc", stack.grpcUrl]] as const
) {
  const args = ["run", "-A", "--no-check", agentFile.pathname];
  await runPair(label, endpoint, (options) => new AgentProcess(Deno.execPath(), args, options));
}
{
  await using project = await createProject();
  const bundle = await project.bundle(agentFile, "node");
  await runPair(
    "node-grpc",
    stack.grpcUrl,
    (options) => new AgentProcess("node", [bundle], options),
  );
}
const slim = await measureSlim(payloadBytes);
if (typeof slim === "string") console.log(`SLIM is not measured: ${slim}`);
else {
  console.log(
    `SLIM: one way ${slim.perSecond.toFixed(0)} acknowledged messages/s; round trip p50 ${
      slim.roundTripMs.toFixed(2)
    } ms`,
  );
  const [ours, theirs] = [rates.get("deno-quic") ?? NaN, slim.perSecond];
  const what = "messages of 1 KiB, one way, acknowledged";
  reportRatio({
    bench,
    what,
    unit: "/s",
    ours,
    peer: "SLIM 2.0 alpha (not durable)",
    theirs,
    ratio: ours / theirs,
    target: 3,
  });
}
for (const members of sizes) {
  if (members < 2) continue;
  const options = await optionsFor(stack, folder, stack.quicUrl);
  const figures = await measureChannel({ members, relayPid, payloadBytes, options });
  console.log(describeChannel(figures));
  reportChannel(figures);
}
await Deno.remove(folder, { recursive: true });
