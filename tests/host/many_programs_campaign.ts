// Programs on one agent, while the host and the programs are killed at random. An auditor compares
// what each has seen.
import { assert, assertEquals } from "@std/assert";
import { type Channel, ChannelManager, type ConnectOptions } from "../../sdk/mod.ts";
import { tried } from "../support/campaign.ts";
import { TextLineStream } from "../support/lines.ts";
import { shareStack } from "../support/shared_stack.ts";
import type { Role, Step } from "./busy_program.ts";
import { commandLine, type Shell, showHook } from "./command_line.ts";
import { ended, openRaw, withHosts } from "../support/hosts.ts";

const [runMs, killMs] = [60_000, 2_000];
const name = "acme/hosts/busy";
const script = new URL("./busy_program.ts", import.meta.url).pathname;

const kinds: readonly (readonly [Role["kind"], string])[] = [
  ["listen", "one"],
  ["listen", "two"],
  ["manual", "three"],
  ["receive", "default"],
  ["send", "a"],
  ["burst", "b"],
  ["ask", "q"],
  ["ask", "r"],
  ["serve", "s"],
  ["on-message", "on-message"],
];

const listening: readonly Role["kind"][] = ["listen", "manual", "receive", "on-message"];
const maxBehind = 500;
const maxExtraMs = 120_000;

/** A program through all its lives. */
class Program {
  readonly kind: Role["kind"];
  readonly name: string;
  readonly lives: Step[][] = [];
  /** The highest number of those of the member outside that it has seen. */
  reached = 0;
  readonly #role: Omit<Role, "from">;
  readonly #shell: Shell;
  #child: Deno.ChildProcess | undefined;
  #reading: Promise<void> | undefined;
  #isWanted = true;
  endedByItself = false;

  constructor(role: Omit<Role, "from">, shell: Shell) {
    this.kind = role.kind;
    this.name = role.name;
    this.#role = role;
    this.#shell = shell;
  }

  start(): void {
    const from = this.texts("begun").length + 1;
    const own = ["run", "-A", "--quiet", script, JSON.stringify({ ...this.#role, from })];
    const { args, env } = this.kind === "on-message"
      ? this.#shell(showHook(name, this.name))
      : { args: own, env: {} };
    const child = new Deno.Command(Deno.execPath(), {
      args,
      env,
      stdin: "null",
      stdout: "piped",
      stderr: "inherit",
    })
      .spawn();
    const life: Step[] = [];
    this.lives.push(life);
    this.#child = child;
    this.#isWanted = true;
    void child.status.then(() => this.endedByItself ||= this.#isWanted && this.#child === child);
    this.#reading = (async () => {
      const lines = child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(
        new TextLineStream(),
      );
      for await (const line of lines) {
        // The last line of a program that is killed may be half a line.
        try {
          const step: Step = JSON.parse(line);
          life.push(step);
          if (step.step === "seen") this.reached = Math.max(this.reached, numberOf(step.text));
        } catch { /* cut off */ }
      }
    })();
  }

  async kill(): Promise<void> {
    this.#isWanted = false;
    this.#child?.kill("SIGKILL");
    await this.#child?.status;
    await this.#reading;
  }

  texts(step: Step["step"]): string[] {
    return this.lives.flat().flatMap((each) =>
      each.step === step && "text" in each ? [each.text] : []
    );
  }
}

Deno.test("programs of one agent lose nothing and keep order while host and programs are killed", async () => {
  const stack = await shareStack();
  // A minute says more than the free plan allows.
  const sql = stack.backend.sql();
  await sql`UPDATE accounts SET plan = 'enterprise' WHERE id = ${stack.account.id}`;
  await sql.end();
  await using place = await withHosts(stack);
  const options: ConnectOptions = place.options("shared");
  await using alice = await ChannelManager.connect({ ...place.options("alice"), host: "off" });
  const channel = await alice.create(name);
  const joined = await ChannelManager.connect(options);
  const inside = await joined.joinWithToken(name, await alice.invite(name));
  // The command says nothing before its first message: its reader is there before.
  const hook = inside.envelopes({ as: "on-message", ack: "manual" });
  await hook.begun();
  await hook.return?.();
  const shared = joined.client.agentId;
  await joined.close();

  const shell = await commandLine(stack, place.folder, options);
  const programs = kinds.map(([kind, own]) =>
    new Program({ options, channel: name, kind, name: own, to: alice.client.agentId }, shell)
  );
  for (const program of programs) program.start();
  // A new durable reader begins at the oldest message that is not acknowledged: all are there
  // before the first.
  await until(() =>
    programs.every(({ kind, lives }) => kind === "on-message" || (lives[0]?.length ?? 0) > 0)
  );
  const listeners = programs.filter(({ kind }) => listening.includes(kind));
  const heard: string[] = [];
  const stop = new AbortController();
  const hearing = (async () => {
    for await (const envelope of channel.envelopes({ signal: stop.signal })) {
      heard.push(envelope.text());
    }
  })();
  const serving = channel.serve((request) => `yes ${request.text()}`);
  const told: string[] = [];
  const [endMs, giveUpMs] = [Date.now() + runMs, Date.now() + runMs + maxExtraMs];
  let nextKillMs = Date.now() + killMs / 2;
  let kills = 0;
  const asked: Promise<string>[] = [];
  const answeredTo = (): number =>
    programs.filter(({ kind }) => kind === "ask").flatMap((program) => program.texts("sent"))
      .length;
  const isEnough = (): boolean =>
    kills >= 2 && asked.length > 0 && answeredTo() > 0 &&
    programs.filter(sends).every((each) => each.texts("sent").length > 0);
  // A busy machine takes longer until everything has happened at least once.
  while (Date.now() < endMs || (!isEnough() && Date.now() < giveUpMs)) {
    const text = `m ${told.length + 1}`;
    // A reader that is 1,000 messages behind the others would be set forward.
    if (told.length - Math.min(...listeners.map(({ reached }) => reached)) < maxBehind) {
      await channel.send(text);
      told.push(text);
      if (told.length % 20 === 0) asked.push(ask(channel, text, shared));
    }
    if (Date.now() > nextKillMs) {
      if (kills++ % 2 === 0) await killHost(options.dataDir);
      else await restart(programs[Math.floor(Math.random() * programs.length)]);
      nextKillMs = Date.now() + killMs;
    }
    await new Promise((resolve) => setTimeout(resolve, 15)); // wait: a steady pace
  }
  const alive = (): void => {
    const dead = programs.filter(({ endedByItself }) => endedByItself).map((each) =>
      `${each.kind} ${each.name}`
    );
    assertEquals(dead, [], "programs that ended by themselves");
  };
  const last = told.at(-1) ?? "";
  await until(() => {
    alive();
    return listeners.every((program) => program.texts("seen").includes(last));
  });
  const replies = await Promise.all(asked);
  assertEquals(
    replies.filter((reply) => !reply.startsWith("served m ")),
    [],
    "each request is answered by a program",
  );
  alive();
  for (const program of programs) await program.kill();
  const sent = programs.filter(sends).flatMap((program) => program.texts("sent"));
  await until(() => sent.every((text) => heard.includes(text)));
  stop.abort();
  await hearing;
  await serving.stop();

  for (const listener of listeners) audit(listener, told);
  assertEquals(new Set(heard).size, heard.length, "a message was delivered twice");
  for (const { name: own } of programs.filter(sends)) {
    const numbers = heard.filter((text) => text.startsWith(`${own} `)).map((text) =>
      Number(text.split(" ")[1])
    );
    assertEquals(numbers, numbers.toSorted((a, b) => a - b), `order of ${own}`);
  }
  const failed = programs.flatMap((program) => program.texts("failed"));
  assertEquals(failed, [], "sends and requests go on at the next host");
  const answered = answeredTo();
  assert(kills >= 2 && sent.length > 0 && answered > 0 && replies.length > 0);
  console.log(
    `${told.length} messages to ${listeners.length} readers, ${sent.length} sent, ${answered} answered to programs and ` +
      `${replies.length} by them, ${kills} kills`,
  );
  tried(`${told.length} messages to ${listeners.length} programs with ${kills} kills`);
});

function sends({ kind }: Program): boolean {
  return kind === "send" || kind === "burst";
}

/** Of a member outside: any program that serves may answer. */
async function ask(channel: Channel, text: string, to: string): Promise<string> {
  return await channel.request(text, { to, timeoutMs: 60_000 }).then(
    (reply) => reply.text(),
    (error) => String(error),
  );
}

/**
 * Everything in order; what comes again after a kill was seen before, and nothing in between is
 * missing.
 */
function audit({ name: own, lives }: Program, told: readonly string[]): void {
  let next = 1;
  for (const life of lives) {
    let before = 0;
    for (const step of life) {
      if (step.step !== "seen" || !step.text.startsWith("m ")) continue;
      const number = numberOf(step.text);
      assert(number > before, `${own} saw ${number} after ${before} in one life`);
      assert(number <= next, `${own} saw ${number} before ${next}: messages are lost`);
      before = number;
      next = Math.max(next, number + 1);
    }
  }
  assertEquals(next, told.length + 1, `${own} has not seen everything`);
}

function numberOf(text: string): number {
  return text.startsWith("m ") ? Number(text.slice(2)) : 0;
}

async function killHost(dataDir: string): Promise<void> {
  const connection = await openRaw(dataDir);
  const hello = await connection?.hello.catch(() => undefined);
  if (hello === undefined) return;
  const pid = hello.number("pid");
  Deno.kill(pid, "SIGKILL");
  await ended(pid);
}

async function restart(program: Program | undefined): Promise<void> {
  await program?.kill();
  program?.start();
}

async function until(condition: () => boolean): Promise<void> {
  const deadlineMs = Date.now() + 60_000;
  while (!condition()) {
    if (Date.now() > deadlineMs) throw new Error(`Waited in vain: ${condition}`);
    // wait: polls a condition with a deadline
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
