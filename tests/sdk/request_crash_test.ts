// kill -9 of requester, handler and relay at every step of a request: nothing is lost, and no handler runs after its reply was
// accepted. All three are real processes; times are those of one machine's clock.
import { assert, assertEquals } from "@std/assert";
import { type ConnectOptions, StaticClient } from "../../sdk/mod.ts";
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
    const lines = this.#child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream());
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

interface Case {
  readonly victim: "requester" | "handler" | "relay";
  readonly at: "asked" | "running" | "returning" | "reply";
  readonly laterMs: number;
}

const cases: readonly Case[] = [
  { victim: "requester", at: "asked", laterMs: 0 },
  { victim: "requester", at: "asked", laterMs: 8 },
  { victim: "requester", at: "running", laterMs: 0 },
  { victim: "requester", at: "returning", laterMs: 4 },
  { victim: "requester", at: "reply", laterMs: 0 },
  { victim: "handler", at: "asked", laterMs: 0 },
  { victim: "handler", at: "running", laterMs: 0 },
  { victim: "handler", at: "returning", laterMs: 0 },
  { victim: "handler", at: "returning", laterMs: 4 },
  { victim: "handler", at: "reply", laterMs: 0 },
  { victim: "relay", at: "asked", laterMs: 0 },
  { victim: "relay", at: "running", laterMs: 0 },
  { victim: "relay", at: "returning", laterMs: 0 },
  { victim: "relay", at: "returning", laterMs: 4 },
  { victim: "relay", at: "reply", laterMs: 0 },
];

async function createPair(stack: Stack, folder: string): Promise<{ requester: Role; handler: Role }> {
  const optionsOf = (identity: string): ConnectOptions => ({
    endpoint: stack.grpcUrl,
    apiKey: stack.account.apiKey,
    apiUrl: stack.api.url,
    tls: { caFile: stack.caFile },
    cover: { mode: "off" },
    dataDir: `${folder}/${identity}`,
    identity,
  });
  const [alice, bob] = [await StaticClient.connect(optionsOf("alice")), await StaticClient.connect(optionsOf("bob"))];
  const channel = await alice.createChannel(name);
  await bob.joinChannel(name, await channel.addMember(await bob.generateKeyPackage()));
  const to = bob.agentId;
  await alice.close();
  await bob.close();
  return {
    requester: { options: optionsOf("alice"), channel: name, to, workMs },
    handler: { options: optionsOf("bob"), channel: name, workMs },
  };
}

Deno.test("kill -9 of requester, handler and relay at every step of a request", async (t) => {
  await using stack = await startStack();
  const folder = await Deno.makeTempDir({ prefix: "static-requests-" });
  const roles = await createPair(stack, folder);
  let [requester, handler] = [new Life(roles.requester), new Life(roles.handler)];
  const all: Step[] = [];
  const restart = async (victim: Case["victim"]): Promise<void> => {
    if (victim === "relay") {
      await stack.killRelay();
      return await stack.startRelay();
    }
    const dead = victim === "requester" ? requester : handler;
    await dead.kill();
    all.push(...dead.steps);
    if (victim === "requester") requester = new Life(roles.requester);
    else handler = new Life(roles.handler);
  };
  try {
    for (const [i, { victim, at, laterMs }] of cases.entries()) {
      await t.step(`${victim}, ${laterMs} ms after "${at}"`, async () => {
        const key = `order-${i}`;
        await Promise.all([requester.until("ready"), handler.until("ready")]);
        await requester.ask(key);
        await (at === "asked" || at === "reply" ? requester : handler).until(at, key);
        await new Promise((resolve) => setTimeout(resolve, laterMs)); // wait: a moment of the request, to hit another step
        await restart(victim);
        // Whether the life before had the reply or not, asking again gets it.
        if (victim === "requester") {
          await requester.until("ready");
          await requester.ask(key);
        }
        await requester.until("reply", key);
        const steps = [...all, ...requester.steps, ...handler.steps].filter((each) =>
          "key" in each && each.key === key
        );
        assertEquals(steps.filter(({ step }) => step === "failed"), []);
        const replies = steps.filter((each) => each.step === "reply").map(({ text }) => text);
        assertEquals(new Set(replies), new Set([`done ${key}`]));
      });
    }
    // What a life after the reply might still run, it would have run by now: it has served a later request.
    await requester.until("ready");
    await handler.until("ready");
    await requester.ask("the last");
    await requester.until("reply", "the last");
  } finally {
    await requester.kill();
    await handler.kill();
  }
  all.push(...requester.steps, ...handler.steps);
  await t.step("every request was run at least once, and none after its reply was accepted", () => {
    for (const reply of all.filter((each) => each.step === "reply")) {
      const runs = all.filter((each) => each.step === "running").filter(({ key }) => key === reply.key);
      assert(runs.length > 0, reply.key);
      for (const { atMs, attempt } of runs) {
        assert(atMs <= reply.acceptedMs, `${reply.key} was run (attempt ${attempt}) after its reply was accepted`);
      }
    }
    const runs = all.filter((each) => each.step === "running").map(({ key, attempt }) => `${key}/${attempt}`);
    assertEquals(new Set(runs).size, runs.length, "an attempt is counted once");
    console.log(`${cases.length} kills: ${runs.length} runs of ${cases.length + 1} requests`);
  });
  await Deno.remove(folder, { recursive: true });
});
