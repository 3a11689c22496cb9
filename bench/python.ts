/**
 * The cost of the Python package, beside the SDK that a program in Deno holds itself, in the same
 * run and in turn: a call without work, connecting, memory, exit, processor time of one message,
 * and `send_many`. The package is the wheel as a stranger gets it.
 */
import { ChannelManager, type ConnectOptions } from "../sdk/mod.ts";
import { buildWheel } from "../tools/build_python.ts";
import { findPython } from "../tests/support/python.ts";
import { TextLineStream } from "../tests/support/lines.ts";
import { runCommand } from "../tests/support/mod.ts";
import { startStack } from "../tests/support/stack.ts";
import { burst, exchange, messageBytes, messages, type Pair, sendMany } from "./pairs.ts";
import { median, reportRatio } from "./ratio.ts";

const rounds = 3;
/** The targets of the design, with Deno as the driver on two cores. */
const promised = { call: 150, connect: 0.5, cpu: 0.7, resident: 100, own: 45, exit: 1, sends: 0.6 };

const python = await findPython();
if (python === undefined) {
  console.log("Python 3.9 or newer is not installed: nothing to measure");
  Deno.exit(0);
}
const folder = await Deno.makeTempDir({ prefix: "static-bench-" });
await using stack = await startStack();
const { api, account, quicUrl, caFile } = stack;
// One account could not send all the messages of both in a month.
const another = await api.signUp();

/** The same two agents, held by this process. */
async function openPair(): Promise<Pair & AsyncDisposable> {
  const optionsOf = (identity: string): ConnectOptions => ({
    endpoint: quicUrl,
    apiUrl: api.url,
    apiKey: account.apiKey,
    tls: { caFile },
    dataDir: `${folder}/${identity}`,
    identity,
    cover: "off",
  });
  const [owner, guest] = [
    await ChannelManager.connect(optionsOf("alice")),
    await ChannelManager.connect(optionsOf("bob")),
  ];
  const sending = await owner.create("bench/python/embedded");
  const receiving = await guest.joinWithToken(sending.name, await owner.invite(sending.name));
  const close = async (): Promise<void> => {
    await owner.close();
    await guest.close();
  };
  return { sending, receiving, pids: [], [Symbol.asyncDispose]: close };
}

/**
 * A Python program that measures; each `next` is one of its lines, and `go` asks for another one.
 */
async function startPython(interpreter: string): Promise<{
  readonly next: () => Promise<Readonly<Record<string, number>>>;
  readonly go: () => Promise<void>;
  readonly close: () => Promise<void>;
}> {
  const wheel = await buildWheel(`${folder}/wheel`);
  await runCommand(interpreter, ["-m", "zipfile", "-e", wheel, `${folder}/python`]);
  const service = {
    endpoint: quicUrl,
    api_url: api.url,
    api_key: another.apiKey,
    ca_file: caFile,
    cover: "off",
  };
  const given = { folder, service, messages, burst, size: messageBytes };
  const child = new Deno.Command(interpreter, {
    args: [new URL("python/measure.py", import.meta.url).pathname, JSON.stringify(given)],
    env: { PYTHONPATH: `${folder}/python`, STATIC_RUNTIME: Deno.execPath() },
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream())
    .getReader();
  const input = child.stdin.getWriter();
  return {
    next: async () => {
      const { value } = await lines.read();
      if (value === undefined) throw new Error("The Python program has ended");
      return JSON.parse(value);
    },
    go: () => input.write(new TextEncoder().encode("go\n")),
    close: async () => {
      await input.close();
      await child.status;
    },
  };
}

function show(
  what: string,
  unit: string,
  found: { ours: number; target: number; peer?: string; theirs?: number },
): void {
  const { ours, target, peer = "promise", theirs = target } = found;
  const ratio = unit === "1/s" ? ours / theirs : theirs / ours;
  const promise = unit === "1/s"
    ? `ratio ${ratio.toFixed(2)}, promised ${target}`
    : `promised ${target}`;
  console.log(
    `${what}: ${ours.toFixed(unit === "1/s" || unit === "µs" ? 0 : 2)} ${unit} (${promise})`,
  );
  reportRatio({
    bench: "python",
    what,
    unit,
    ours,
    peer,
    theirs,
    ratio,
    target: unit === "1/s" ? target : 1,
  });
}

const measuring = await startPython(python);
const once = await measuring.next();
show("a call without work, median", "µs", { ours: once["call_us"] ?? NaN, target: promised.call });
console.log(`  fastest tenth: ${once["call_fast_us"]?.toFixed(0)} µs`);
show("StaticClient() to connected", "s", {
  ours: once["connect_s"] ?? NaN,
  target: promised.connect,
});
show("driver idle, resident", "MiB", {
  ours: once["idle_resident"] ?? NaN,
  target: promised.resident,
});
show("driver idle, of its own", "MiB", { ours: once["idle_own"] ?? NaN, target: promised.own });
console.log(
  `  after 2,000 calls: ${once["busy_resident"]?.toFixed(0)} and ${
    once["busy_own"]?.toFixed(0)
  } MiB`,
);
show("exit without close()", "s", { ours: once["exit_s"] ?? NaN, target: promised.exit });

const [added, ours, theirs]: [number[], number[], number[]] = [[], [], []];
{
  await using embedded = await openPair();
  // The first round warms both up.
  for (let round = 0; round <= rounds; round++) {
    const [ownCpu, ownSends] = [await exchange(embedded), await sendMany(embedded)];
    await measuring.go();
    const found = await measuring.next();
    if (round === 0) continue;
    added.push((found["message_cpu_ms"] ?? NaN) - ownCpu);
    theirs.push(ownSends);
    ours.push(found["sends_per_s"] ?? NaN);
  }
}
await measuring.close();
show("processor time added to one message", "ms", { ours: median(added), target: promised.cpu });
show("send_many", "1/s", {
  ours: median(ours),
  target: promised.sends,
  peer: "the SDK in Deno",
  theirs: median(theirs),
});
await Deno.remove(folder, { recursive: true });
