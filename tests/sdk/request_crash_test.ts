// kill -9 of requester, handler and relay during a request to two members: nothing is lost, and no
// handler runs after its reply was accepted. All four are real processes; times are those of one
// machine's clock. Each dies once, over gRPC. A campaign has every step of a request, over QUIC and
// over gRPC.
import { assert, assertEquals } from "@std/assert";
import { type ConnectOptions, StaticClient } from "../../sdk/mod.ts";
import { inCampaign, tried } from "../support/campaign.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { TextLineStream } from "../support/lines.ts";
import type { Role, Step } from "./request_agent.ts";

const name = "acme/crash/requests";
const program = new URL("request_agent.ts", import.meta.url).pathname;
const workMs = 30;

/** A process that writes down its steps; what an earlier life of it wrote is kept by the test. */
class Life {
  readonly steps: Step[] = [];
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reading: Promise<void>;
  #wake = Promise.withResolvers<void>();

  constructor(role: Role) {
    this.#child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", program, JSON.stringify(role)],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#reading = this.#read();
  }

  async #read(): Promise<void> {
    const lines = this.#child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(
      new TextLineStream(),
    );
    for await (const line of lines) {
      this.steps.push(JSON.parse(line));
      this.#wake.resolve();
      this.#wake = Promise.withResolvers();
    }
    this.#wake.resolve();
  }

  async ask(key: string): Promise<void> {
    await this.#input.write(new TextEncoder().encode(`${key}\n`));
  }

  async until(step: Step["step"], key?: string): Promise<Step> {
    for (;;) {
      const found = this.steps.find((each) =>
        each.step === step && (key === undefined || ("key" in each && each.key === key))
      );
      if (found !== undefined) return found;
      await this.#wake.promise;
    }
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.status;
    await this.#reading;
    await this.#input.abort().catch(() => {});
  }
}

/** Bob is the handler that is killed; carol is asked with him and goes on. */
type Victim = "requester" | "handler" | "relay";

interface Case {
  readonly victim: Victim;
  readonly at: "asked" | "running" | "returning" | "reply";
  readonly laterMs: number;
}

/** By default each dies where most is under way for it. */
const cases: readonly Case[] = [
  { victim: "requester", at: "running", laterMs: 0 },
  { victim: "handler", at: "returning", laterMs: 0 },
  { victim: "relay", at: "returning", laterMs: 0 },
];

const everyCase = (["requester", "handler", "relay"] as const).flatMap((victim) =>
  (["asked", "running", "returning", "reply"] as const).flatMap((at) =>
    [0, 1, 2, 3, 4, 6, 8, 12, 25].map((laterMs): Case => ({ victim, at, laterMs }))
  )
);

interface Transports {
  readonly alice: "quic" | "grpc";
  readonly bob: "quic" | "grpc";
  readonly carol: "quic" | "grpc";
}

const mixed: Transports = { alice: "quic", bob: "grpc", carol: "quic" };
const quic: Transports = { alice: "quic", bob: "quic", carol: "quic" };
const grpc: Transports = { alice: "grpc", bob: "grpc", carol: "grpc" };
/** Over QUIC it takes 12 seconds to notice that a relay was killed: that is for the long run. */
const phases: readonly { readonly transports: Transports; readonly cases: readonly Case[] }[] =
  inCampaign
    ? [mixed, quic, grpc].map((transports) => ({ transports, cases: everyCase }))
    : [{ transports: grpc, cases }];

interface Roles {
  readonly requester: Role;
  readonly handlers: readonly [Role, Role];
}

/** A channel with three members, who take part over any transport. */
async function createRoles(
  stack: Stack,
  folder: string,
): Promise<(transports: Transports) => Roles> {
  const optionsOf = (identity: keyof Transports, transport: "quic" | "grpc"): ConnectOptions => ({
    endpoint: transport === "quic" ? stack.quicUrl : stack.grpcUrl,
    transport,
    apiKey: stack.account.apiKey,
    apiUrl: stack.api.url,
    tls: { caFile: stack.caFile },
    cover: { mode: "off" },
    dataDir: `${folder}/${identity}`,
    identity,
  });
  const owner = await StaticClient.connect(optionsOf("alice", "grpc"));
  const channel = await owner.createChannel(name);
  const to: string[] = [];
  for (const identity of ["bob", "carol"] as const) {
    const guest = await StaticClient.connect(optionsOf(identity, "grpc"));
    await guest.joinChannel(name, await channel.addMember(await guest.generateKeyPackage()));
    to.push(guest.agentId);
    await guest.close();
  }
  await owner.close();
  return ({ alice, bob, carol }) => ({
    requester: { options: optionsOf("alice", alice), channel: name, to, workMs },
    handlers: [
      { options: optionsOf("bob", bob), channel: name, workMs },
      { options: optionsOf("carol", carol), channel: name, workMs },
    ],
  });
}

/** The agents of a run, each in its present life, and what all lives have written. */
class Cast {
  readonly #stack: Stack;
  readonly #roles: Roles;
  readonly #past: Step[] = [];
  readonly #other: Life;
  requester: Life;
  handler: Life;

  constructor(stack: Stack, roles: Roles) {
    this.#stack = stack;
    this.#roles = roles;
    this.requester = new Life(roles.requester);
    this.handler = new Life(roles.handlers[0]);
    this.#other = new Life(roles.handlers[1]);
  }

  get steps(): Step[] {
    return [...this.#past, ...this.requester.steps, ...this.handler.steps, ...this.#other.steps];
  }

  async ready(): Promise<void> {
    await Promise.all(
      [this.requester, this.handler, this.#other].map((life) => life.until("ready")),
    );
  }

  async restart(victim: Victim): Promise<void> {
    if (victim === "relay") {
      await this.#stack.killRelay();
      return await this.#stack.startRelay();
    }
    await this[victim].kill();
    this.#past.push(...this[victim].steps);
    this[victim] = new Life(
      victim === "requester" ? this.#roles.requester : this.#roles.handlers[0],
    );
  }

  async end(): Promise<void> {
    for (const life of [this.requester, this.handler, this.#other]) await life.kill();
  }
}

/** The request is under way, somebody dies, and both replies arrive all the same. */
async function survive(cast: Cast, key: string, { victim, at, laterMs }: Case): Promise<void> {
  await cast.ready();
  await cast.requester.ask(key);
  await (at === "asked" || at === "reply" ? cast.requester : cast.handler).until(at, key);
  // wait: a moment of the request, to hit another step
  await new Promise((resolve) => setTimeout(resolve, laterMs));
  await cast.restart(victim);
  // Whether the life before had the replies or not, asking again gets them.
  if (victim === "requester") {
    await cast.requester.until("ready");
    await cast.requester.ask(key);
  }
  await cast.requester.until("answered", key);
  const steps = cast.steps.filter((each) => "key" in each && each.key === key);
  assertEquals(steps.filter(({ step }) => step === "failed"), []);
  const replies = steps.filter((each) => each.step === "reply");
  for (const { from, text } of replies) assertEquals(text, `${from} has done ${key}`);
  assertEquals(new Set(replies.map(({ from }) => from)).size, 2, "both have replied");
}

Deno.test("kill -9 of requester, handler and relay during a request to two members", async (t) => {
  await using stack = await startStack();
  const folder = await Deno.makeTempDir({ prefix: "static-requests-" });
  const rolesOver = await createRoles(stack, folder);
  const steps: Step[] = [];
  let requests = 0;
  for (const { transports, cases } of phases) {
    const cast = new Cast(stack, rolesOver(transports));
    const over = [...new Set(Object.values(transports))].join(" and ");
    try {
      for (const each of cases) {
        const { victim, at, laterMs } = each;
        const key = `order-${requests++}`;
        await t.step(
          `over ${over}: ${victim}, ${laterMs} ms after "${at}"`,
          () => survive(cast, key, each),
        );
      }
      // A process after the reply would have run its handlers by now: it has served a later
      // request.
      const last = `order-${requests++}`;
      await cast.ready();
      await cast.requester.ask(last);
      await cast.requester.until("answered", last);
    } finally {
      await cast.end();
    }
    steps.push(...cast.steps);
  }
  await t.step(
    "every request was run at least once by each, and by none after its reply was accepted",
    () => {
      judge(steps, requests);
      tried(`${requests} requests with a kill`);
    },
  );
  await Deno.remove(folder, { recursive: true });
});

function judge(steps: readonly Step[], requests: number): void {
  const running = steps.filter((each) => each.step === "running");
  for (const reply of steps.filter((each) => each.step === "reply")) {
    const runs = running.filter(({ key, by }) => key === reply.key && by === reply.from);
    assert(runs.length > 0, `${reply.key} by ${reply.from}`);
    for (const { atMs, attempt } of runs) {
      assert(
        atMs <= reply.acceptedMs,
        `${reply.key} was run (attempt ${attempt}) after its reply was accepted`,
      );
    }
  }
  const attempts = running.map(({ key, by, attempt }) => `${key}/${by}/${attempt}`);
  assertEquals(new Set(attempts).size, attempts.length, "an attempt is counted once");
  console.log(`${requests} requests to two members: ${attempts.length} runs`);
}
