/**
 * Two agents and a relay, end to end: round trip and messages per second of 1 KiB for each transport, then channels of 2 to
 * 100 members: time to set one up, and deliveries per second. Everything is real: relay and API in processes of their own,
 * encrypted stores on disk, TLS, padding to cells; cover traffic is off.
 *
 * `deno run -A bench/e2e.ts [members …]`; without members, `2 10 50 100`. `0` skips the channels.
 */
import { ChannelManager, type ConnectOptions } from "../sdk/mod.ts";
import { createProject } from "../tools/bundle.ts";
import { type Stack, startStack } from "../tests/support/stack.ts";
import type { Command, Compared } from "./e2e/agent.ts";
import { reportRatio } from "./ratio.ts";
import { linesOf } from "./relay/lines.ts";

const payloadBytes = 1024;
const [warmUp, pings, messages] = [200, 500, 3000];
const channelMessages = 50;
const promised = { roundTripMs: 5, perSecond: 1000 };
const promisedFor = "deno-quic";

type Options = Omit<ConnectOptions, "signal" | "token">;

/** An agent's process and its answers. */
class AgentProcess {
  readonly transport: Promise<string>;
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #lines: AsyncIterator<string>;

  constructor(command: string, args: readonly string[], options: Options) {
    this.#child = new Deno.Command(command, {
      args: [...args, JSON.stringify(options)],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#lines = linesOf(this.#child.stdout)[Symbol.asyncIterator]();
    this.transport = this.#answer().then(({ transport }) => String(transport));
  }

  async ask(command: Command): Promise<Record<string, unknown>> {
    await this.#input.write(new TextEncoder().encode(`${JSON.stringify(command)}\n`));
    return await this.#answer();
  }

  async end(): Promise<void> {
    await this.#input.write(new TextEncoder().encode(`${JSON.stringify({ do: "end" })}\n`));
    await this.#child.status;
  }

  async #answer(): Promise<Record<string, unknown>> {
    const { done, value } = await this.#lines.next();
    if (done === true) throw new Error("An agent ended early");
    return JSON.parse(value);
  }
}

async function measurePair(label: string, start: (identity: string) => AgentProcess): Promise<void> {
  const [alice, bob] = [start(`${label} alice`), start(`${label} bob`)];
  const transport = await alice.transport;
  await bob.transport;
  const name = `acme/bench/${label}`;
  await alice.ask({ do: "create", name });
  const { token } = await alice.ask({ do: "invite", name });
  await bob.ask({ do: "join", name, token: String(token) });

  const answering = bob.ask({ do: "answer", name, count: warmUp + pings });
  const compared = await alice.ask({ do: "compare", name, warmUp, count: pings, bytes: payloadBytes });
  const { plain, asked } = compared as unknown as Compared; // cast: the agent's own line
  await answering;
  const reading = bob.ask({ do: "read", name, count: messages });
  const flooding = alice.ask({ do: "flood", name, count: messages, bytes: payloadBytes });
  const [read, flood] = [await reading, await flooding];
  const perSecond = messages / Number(read.ms) * 1000;
  console.log(
    `${label.padEnd(10)} ${transport.padEnd(6)} round trip p50 ${plain.p50.toFixed(2)} ms, p99 ` +
      `${plain.p99.toFixed(2)} ms; request and reply p50 ${asked.p50.toFixed(2)} ms (${
        (asked.p50 / plain.p50).toFixed(2)
      } ×), p99 ${asked.p99.toFixed(2)} ms; one way ${perSecond.toFixed(0)} messages/s (CPU a message: sender ` +
      `${Number(flood.cpuUs).toFixed(0)} µs, receiver ${Number(read.cpuUs).toFixed(0)} µs)`,
  );
  if (label === promisedFor) {
    const promise = { bench: "e2e", peer: "what was promised", target: 1 };
    const [ours, theirs] = [plain.p50, promised.roundTripMs];
    reportRatio({ ...promise, what: "round trip of 1 KiB, median", unit: "ms", ours, theirs, ratio: theirs / ours });
    const request = { ours: asked.p50, theirs: ours, ratio: ours / asked.p50, target: 1 / 1.2 };
    const peer = "the plain round trip, in the same run";
    reportRatio({ ...promise, what: "request and reply of 1 KiB, median", unit: "ms", ...request, peer });
    const rate = { ours: perSecond, theirs: promised.perSecond, ratio: perSecond / promised.perSecond };
    reportRatio({ ...promise, what: "messages of 1 KiB, one way", unit: "/s", ...rate });
  }
  await alice.end();
  await bob.end();
}

/** All members in this process: it is their work that is shared by the cores, whoever does it. */
async function measureChannel(members: number, options: (identity: string) => ConnectOptions): Promise<void> {
  const name = `acme/bench/members-${members}`;
  const managers = await Promise.all(
    Array.from({ length: members }, (_, i) => ChannelManager.connect(options(`${members} ${i}`))),
  );
  const [owner, ...guests] = managers;
  if (owner === undefined) throw new Error("A channel has an owner");
  const started = performance.now();
  await owner.create(name);
  const token = await owner.invite(name, { uses: members });
  await Promise.all(guests.map((guest) => guest.joinWithToken(name, token, { timeoutMs: 300_000 })));
  const setUpMs = performance.now() - started;
  const reading = Promise.all(guests.map((guest) => readAll(guest, name)));
  const sent = performance.now();
  const payload = new Uint8Array(payloadBytes).fill(1);
  await Promise.all(Array.from({ length: channelMessages }, () => owner.send(name, payload)));
  await reading;
  const deliveries = guests.length * channelMessages / (performance.now() - sent) * 1000;
  const perMember = setUpMs / guests.length;
  console.log(
    `${String(members).padStart(4)} members   set up in ${(setUpMs / 1000).toFixed(2)} s (${
      perMember.toFixed(0)
    } ms a ` +
      `member); ${deliveries.toFixed(0)} deliveries/s`,
  );
  await Promise.all(managers.map((manager) => manager.close()));
}

async function readAll(guest: ChannelManager, name: string): Promise<void> {
  let left = channelMessages;
  for await (const _ of (await guest.channel(name)).messages()) if (--left === 0) break;
}

/** An account for each measurement: the free plan's quota is enough for one. */
async function optionsFor(stack: Stack, folder: string, endpoint: string): Promise<(identity: string) => Options> {
  const { apiKey } = await stack.api.signUp();
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

const sizes = Deno.args.length > 0 ? Deno.args.map(Number) : [2, 10, 50, 100];
const folder = await Deno.makeTempDir({ prefix: "static-bench-" });
await using stack = await startStack();
console.log(`${new Date().toISOString()}  Deno ${Deno.version.deno}, load ${Deno.loadavg().map((n) => n.toFixed(1))}`);
const agentFile = new URL("e2e/agent.ts", import.meta.url).pathname;
for (const [label, endpoint] of [["deno-quic", stack.quicUrl], ["deno-grpc", stack.grpcUrl]] as const) {
  const options = await optionsFor(stack, folder, endpoint);
  const args = ["run", "-A", "--no-check", agentFile];
  await measurePair(label, (identity) => new AgentProcess(Deno.execPath(), args, options(identity)));
}
{
  await using project = await createProject();
  const bundle = await project.bundle(new URL("e2e/agent.ts", import.meta.url), "node");
  const options = await optionsFor(stack, folder, stack.grpcUrl);
  await measurePair("node-grpc", (identity) => new AgentProcess("node", [bundle], options(identity)));
}
for (const members of sizes) {
  if (members > 1) await measureChannel(members, await optionsFor(stack, folder, stack.quicUrl));
}
await Deno.remove(folder, { recursive: true });
