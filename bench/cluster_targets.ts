/**
 * The cost of a replicated log beside the embedded engine, in one run: `deno run -A bench/cluster_targets.ts`. Entries have 4 KiB;
 * three NATS nodes and two relays' engines are on this machine. Shown: appends until their verdict, the way to the other relay,
 * CPU of both relays, pauses when the log's leader goes away, and the memory that 10,000 channels take.
 */
import { freshPrefix } from "../relay/cluster/testing/open_test_cluster.ts";
import { leaderOf } from "../tests/support/log_leader.ts";
import { natsInstalled, startNats, type TestNats } from "../tests/support/mod.ts";
import { Child } from "./relay/child.ts";
import type { Appends, Use } from "./relay/engine_process.ts";

const measureMs = Number(Deno.env.get("STATIC_BENCH_MS") ?? "5000");
/** Longer than an election takes. */
const pauseMs = Math.max(measureMs, 20_000);
const beforeFaultMs = 2_000;
const channels = 10_000;
const MiB = 1024 * 1024;
const script = new URL("relay/engine_process.ts", import.meta.url).pathname;

async function start(...args: readonly string[]): Promise<Child> {
  const child = new Child(Deno.execPath(), ["run", "-A", "--no-check", "--quiet", script, ...args]);
  await child.line();
  return child;
}

async function appendAt(child: Child, callers: number, ms = measureMs): Promise<Appends> {
  return JSON.parse(await child.ask(`append ${callers} ${ms}`));
}

async function useOf(child: Child): Promise<Use> {
  return JSON.parse(await child.ask("use"));
}

function show(what: string, target: string, measured: string): void {
  console.log(`${what.padEnd(58)}${target.padEnd(22)}${measured}`);
}

function at(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? 0;
}

/** Returns CPU for an append. */
async function measureAppends(name: string, writer: Child, targets: readonly [string, string]): Promise<number> {
  await appendAt(writer, 32, measureMs / 4);
  const one = await appendAt(writer, 1);
  show(
    `${name}: append until the verdict, one in flight`,
    targets[0],
    `p50 ${at(one.latenciesMs, 0.5).toFixed(2)}, p99 ${at(one.latenciesMs, 0.99).toFixed(2)} ms`,
  );
  const before = await useOf(writer);
  const many = await appendAt(writer, 32);
  const after = await useOf(writer);
  show(`${name}: one channel, 32 in flight`, targets[1], `${Math.round(many.count / many.elapsedMs * 1000)}/s`);
  return (after.cpuUs - before.cpuUs) / many.count;
}

async function measureFollowing(writer: Child, follower: Child): Promise<void> {
  await follower.ask("seen");
  const { times } = await appendAt(writer, 1);
  // Behind everything: it reads on until its own entry is there.
  await appendAt(follower, 1, 1);
  const seen = new Map<number, number>(JSON.parse(await follower.ask("seen")));
  const delays = times.map(([position, timeMs]) => (seen.get(position) ?? Infinity) - timeMs);
  show(
    "cluster: at the other relay, after the acknowledgement",
    "+ 1 ms",
    `p50 ${at(delays, 0.5).toFixed(2)}, p99 ${at(delays, 0.99).toFixed(2)} ms`,
  );
}

async function measurePause(
  name: string,
  target: string,
  { writer, fault }: { readonly writer: Child; readonly fault: () => Promise<() => Promise<void>> },
): Promise<void> {
  const appending = appendAt(writer, 8, pauseMs);
  await new Promise((resolve) => setTimeout(resolve, beforeFaultMs));
  const mend = await fault();
  const appended = await appending;
  show(`cluster: pause, ${name}`, target, `${(appended.pauseMs / 1000).toFixed(1)} s`);
  await mend();
}

async function memoryOf({ access, ask }: TestNats): Promise<number> {
  const answers = await Promise.all(access.urls.map(async (_, node) => (await ask(node, "/varz")).mem));
  return Math.max(...answers.map(Number));
}

async function measureMemory(nats: TestNats, writer: Child): Promise<void> {
  const before = [await useOf(writer), await memoryOf(nats)] as const;
  await writer.ask(`channels ${channels}`);
  const after = [await useOf(writer), await memoryOf(nats)] as const;
  const [relay, node] = [after[0].memoryBytes - before[0].memoryBytes, after[1] - before[1]];
  show(
    `cluster: ${channels} channels, memory of a relay, of a node`,
    "200, 100 MiB",
    `+ ${Math.round(relay / MiB)}, + ${Math.round(node / MiB)} MiB`,
  );
}

async function measureEmbedded(folder: string): Promise<void> {
  const engine = await start("embedded", `${folder}/embedded.sqlite`);
  await engine.ask("channels 1");
  const cpuUs = await measureAppends("embedded", engine, ["", ""]);
  show("embedded: CPU for an append", "", `${cpuUs.toFixed(0)} µs`);
  await engine.end();
}

async function measureCluster(nats: TestNats): Promise<void> {
  const prefix = freshPrefix();
  const startRelay = (number: number): Promise<Child> =>
    start("cluster", nats.access.urls.join(), prefix, `relay-${number}`, `${nats.folder}/relay-${number}.sqlite`);
  const [writer, follower] = [await startRelay(1), await startRelay(2)];
  await writer.ask("channels 1");
  const ownUs = await measureAppends("cluster", writer, ["p50 2.5, p99 25 ms", "1,500/s"]);
  await measureFollowing(writer, follower);
  const before = await useOf(follower);
  const { count } = await appendAt(writer, 32);
  const followedUs = ((await useOf(follower)).cpuUs - before.cpuUs) / count;
  show(
    "cluster: CPU of a relay for an own, for a followed entry",
    "200, 60 µs",
    `${ownUs.toFixed(0)}, ${followedUs.toFixed(0)} µs`,
  );
  const kill = (signal: "SIGKILL" | "SIGTERM") => async (): Promise<() => Promise<void>> => {
    const node = await leaderOf(nats, prefix);
    await nats.kill(node, signal);
    return () => nats.restart(node);
  };
  const freeze = async (): Promise<() => Promise<void>> => {
    const node = await leaderOf(nats, prefix);
    nats.freeze(node);
    return () => Promise.resolve(nats.thaw(node));
  };
  await measurePause("the log's leader is killed", "12 s", { writer, fault: kill("SIGKILL") });
  await measurePause("the log's leader is stopped with SIGTERM", "2 s", { writer, fault: kill("SIGTERM") });
  await measurePause("the log's leader is frozen", "15 s", { writer, fault: freeze });
  await measureMemory(nats, writer);
  await writer.end();
  await follower.end();
}

if (!natsInstalled.met) throw new Error(natsInstalled.reason);
show("4 KiB, on this machine", "target", `measured (load ${Deno.loadavg()[0]?.toFixed(1)})`);
{
  await using nats = await startNats({ plain: true });
  await measureEmbedded(nats.folder);
  await measureCluster(nats);
}
Deno.exit(0);
