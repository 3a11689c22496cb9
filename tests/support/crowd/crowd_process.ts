/**
 * Many agents in one process, in channels of a few each, with the SDK as any user has it. They talk
 * until a line on the input says `hush`, go on at `talk`, and the process ends at `close`. Each
 * event is one line of output, with the agent's name.
 */
import { TextLineStream } from "../lines.ts";
import {
  type Channel,
  ChannelManager,
  type ConnectOptions,
  StaticError,
} from "../../../sdk/mod.ts";
import type { Event } from "./journal.ts";

export interface CrowdSettings {
  /** Begins the names of its channels. */
  readonly name: string;
  /** Names of the members of each channel. The first makes it. */
  readonly groups: readonly (readonly string[])[];
  readonly options: Omit<ConnectOptions, "identity" | "dataDir">;
  /** Where agents keep what they know. */
  readonly folder: string;
  readonly everyMs: number;
}

function write(line: object): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(line)}\n`));
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  // wait: the pace of the talk
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    resolve();
  });
  return promise;
}

class CrowdAgent {
  readonly #name: string;
  readonly #manager: ChannelManager;
  #stop = new AbortController();
  #channel: Channel | undefined;
  #talking: Promise<void> = Promise.resolve();
  #texts = 0;

  constructor(name: string, manager: ChannelManager) {
    this.#name = name;
    this.#manager = manager;
  }

  get manager(): ChannelManager {
    return this.#manager;
  }

  enter(channel: Channel): void {
    this.#channel = channel;
    void this.#listen(channel);
    void this.#follow(channel);
  }

  talk(everyMs: number): void {
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const run = async (): Promise<void> => {
      while (!signal.aborted) {
        await this.#say();
        await pause(everyMs * (0.5 + Math.random()), signal);
      }
    };
    this.#talking = run();
  }

  async hush(): Promise<void> {
    this.#stop.abort();
    await this.#talking;
    const { state, missing } = this.#channel?.health() ?? { state: "none", missing: [] };
    write({
      agent: this.#name,
      state,
      missing: missing.reduce((sum, { messages }) => sum + messages, 0),
    });
  }

  async close(): Promise<void> {
    await this.#manager.close();
    this.#tell({ event: "closed" });
  }

  async #listen(channel: Channel): Promise<void> {
    try {
      for await (const { payload, sender, id } of channel.envelopes()) {
        this.#tell({
          event: "heard",
          text: new TextDecoder().decode(payload),
          id,
          from: sender.identity,
        });
      }
    } catch (error) {
      write({ agent: this.#name, stopped: String(error) });
    }
  }

  /** Says how its connection fares, for who wants to know why it was silent. */
  async #follow(channel: Channel): Promise<void> {
    for await (const event of channel.events()) {
      const code = "error" in event && event.error instanceof StaticError
        ? event.error.code
        : undefined;
      if (/connect|ready/.test(event.type)) {
        write({ agent: this.#name, connection: event.type, code, atMs: Date.now() });
      }
    }
  }

  async #say(): Promise<void> {
    const text = `${this.#name} ${++this.#texts}`;
    this.#tell({ event: "sending", text, atMs: Date.now() });
    try {
      const { id } = await this.#channel?.send(text, { timeoutMs: 120_000 }) ?? { id: "" };
      this.#tell({ event: "accepted", text, id, atMs: Date.now() });
    } catch (error) {
      const code = error instanceof StaticError ? error.code : "unknown";
      this.#tell({ event: "failed", text, code, words: String(error) });
    }
  }

  #tell(event: Event): void {
    write({ agent: this.#name, event });
  }
}

async function assemble(
  names: readonly string[],
  number: number,
  { name: crowd, options, folder }: CrowdSettings,
): Promise<CrowdAgent[]> {
  const connect = async (name: string): Promise<CrowdAgent> =>
    new CrowdAgent(
      name,
      await ChannelManager.connect({ ...options, identity: name, dataDir: `${folder}/${name}` }),
    );
  const agents: CrowdAgent[] = [];
  for (const name of names) agents.push(await connect(name));
  const [owner, ...others] = agents;
  if (owner === undefined) return [];
  const channel = `acme/${crowd}/c${number}`;
  owner.enter(await owner.manager.create(channel));
  const token = await owner.manager.invite(channel, { uses: names.length });
  for (const agent of others) agent.enter(await agent.manager.joinWithToken(channel, token));
  return agents;
}

async function main(settings: CrowdSettings): Promise<void> {
  const agents: CrowdAgent[] = [];
  for (const [number, names] of settings.groups.entries()) {
    agents.push(...await assemble(names, number, settings));
  }
  for (const agent of agents) agent.talk(settings.everyMs);
  write({ ready: true });
  const lines = Deno.stdin.readable.pipeThrough(new TextDecoderStream()).pipeThrough(
    new TextLineStream(),
  );
  for await (const line of lines) {
    if (line === "hush") await Promise.all(agents.map((agent) => agent.hush()));
    if (line === "hush") write({ hushed: true });
    if (line === "talk") { for (const agent of agents) agent.talk(settings.everyMs); }
    if (line === "close") break;
  }
  await Promise.all(agents.map((agent) => agent.close()));
  Deno.exit(0);
}

if (import.meta.main) await main(JSON.parse(Deno.args[0] ?? ""));
