/**
 * An agent in a process of its own, with the SDK as any user has it. It does what the lines on its
 * input say and writes down on its output what happened, each line before anything else happens, so
 * that a kill -9 leaves a true journal behind.
 */
import { TextLineStream } from "../support/lines.ts";
import { type Channel, ChannelManager, type ConnectOptions, StaticError } from "../../sdk/mod.ts";
import type { Event } from "../support/crowd/journal.ts";

/** Orders for an agent. */
export type Order =
  | { readonly do: "create"; readonly channel: string }
  | { readonly do: "open"; readonly channel: string }
  | { readonly do: "invite" }
  | { readonly do: "join"; readonly channel: string; readonly token: string }
  | { readonly do: "key_package" }
  | { readonly do: "add"; readonly keyPackage: string }
  /** Joins by the Welcome that the relay delivers. */
  | { readonly do: "enter"; readonly channel: string }
  | { readonly do: "talk"; readonly everyMs: number }
  /** Replies when the last send has ended. */
  | { readonly do: "hush" }
  | { readonly do: "send_at_once"; readonly count: number }
  | { readonly do: "state" }
  | { readonly do: "leave" }
  | { readonly do: "close" };

export interface AgentState {
  readonly agentId: string;
  readonly health: ReturnType<Channel["health"]>;
  readonly members: number;
}

export interface Settings {
  readonly name: string;
  /** Tells the texts of this life from those of earlier ones. */
  readonly life: number;
  readonly options: Omit<ConnectOptions, "identity">;
  /** A machine whose clock is wrong. */
  readonly clockAheadMs: number;
}

const watchMs = 20;
const enterMs = 60_000;

function write(line: object): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(line)}\n`));
}

function tell(event: Event): void {
  write(event);
}

class AgentProcess {
  readonly #settings: Settings;
  readonly #manager: ChannelManager;
  readonly #reading = new AbortController();
  #channel: Channel | undefined;
  #epoch = -1;
  #texts = 0;
  #talking: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;

  private constructor(settings: Settings, manager: ChannelManager) {
    this.#settings = settings;
    this.#manager = manager;
  }

  static async start(settings: Settings): Promise<AgentProcess> {
    const { name, options } = settings;
    const untilMs = performance.now() + enterMs;
    for (;;) {
      try {
        const manager = await ChannelManager.connect({ ...options, identity: name });
        return new AgentProcess(settings, manager);
      } catch (error) {
        // The relay is there: it is this machine that is slow.
        const isLate = error instanceof StaticError && error.code === "connection_error";
        if (!isLate || performance.now() > untilMs) throw error;
      }
    }
  }

  async obey(order: Order): Promise<unknown> {
    switch (order.do) {
      case "create":
        return this.#use(await this.#manager.create(order.channel));
      case "open":
        return this.#use(await this.#manager.channel(order.channel));
      case "invite":
        return await this.#manager.invite(this.#open.name, { uses: 100 });
      case "join":
        tell({ event: "joining", atMs: Date.now() });
        return this.#enter(await this.#manager.joinWithToken(order.channel, order.token));
      case "key_package":
        // A holder of it can add this agent from now on.
        tell({ event: "joining", atMs: Date.now() });
        return (await this.#manager.client.generateKeyPackage()).toBase64();
      case "add":
        return void await this.#open.addMember(Uint8Array.fromBase64(order.keyPackage));
      case "enter":
        return await this.#enterByWelcome(order.channel);
      case "talk":
        return this.#talk(order.everyMs);
      case "hush":
        this.#talking?.stop.abort();
        return await this.#talking?.ended;
      case "send_at_once":
        return void await Promise.all(Array.from({ length: order.count }, () => this.#say()));
      case "state":
        return this.#state();
      case "leave":
        tell({ event: "leaving", atMs: Date.now() });
        return await this.#open.leave();
      case "close":
        return await this.#manager.close();
    }
  }

  get #open(): Channel {
    if (this.#channel === undefined) throw new Error("No channel is open");
    return this.#channel;
  }

  #state(): AgentState {
    const { agentId } = this.#manager.client;
    return { agentId, health: this.#open.health(), members: this.#open.members().length };
  }

  async #enterByWelcome(name: string): Promise<void> {
    const deadlineMs = Date.now() + enterMs;
    while (!this.#manager.client.welcomes.includes(name)) {
      if (Date.now() > deadlineMs) throw new Error("No Welcome has come");
      // wait: until the relay has delivered it
      await new Promise((resolve) => setTimeout(resolve, watchMs));
    }
    this.#enter(await this.#manager.client.joinChannel(name));
  }

  #enter(channel: Channel): void {
    tell({ event: "joined", atMs: Date.now() });
    this.#use(channel);
  }

  #use(channel: Channel): void {
    this.#channel = channel;
    this.#watch();
    setInterval(() => this.#watch(), watchMs);
    void this.#listen(channel);
  }

  /** Epoch and digits are read in one turn, so they belong together. */
  #watch(): void {
    const { epoch, state } = this.#open.health();
    if (epoch === this.#epoch || state === "ended") return;
    this.#epoch = epoch;
    tell({ event: "epoch", epoch, fingerprint: this.#open.fingerprint() });
  }

  async #listen(channel: Channel): Promise<void> {
    try {
      for await (
        const { payload, sender, id } of channel.envelopes({ signal: this.#reading.signal })
      ) {
        const from = sender.identity;
        tell({ event: "heard", text: new TextDecoder().decode(payload), id, from });
      }
    } catch (error) {
      write({ stopped: String(error) });
    }
  }

  #talk(everyMs: number): void {
    const stop = new AbortController();
    const run = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        await this.#say();
        await new Promise((resolve) => setTimeout(resolve, everyMs)); // wait: the pace of the talk
      }
    };
    this.#talking = { stop, ended: run() };
  }

  async #say(): Promise<void> {
    const text = `${this.#settings.name} ${this.#settings.life}.${++this.#texts}`;
    tell({ event: "sending", text, atMs: Date.now() });
    try {
      const { id } = await this.#open.send(text, { timeoutMs: 60_000 });
      tell({ event: "accepted", text, id, atMs: Date.now() });
    } catch (error) {
      const code = error instanceof StaticError ? error.code : "unknown";
      tell({ event: "failed", text, code, words: String(error) });
    }
  }
}

async function main(settings: Settings): Promise<void> {
  const now = Date.now;
  Date.now = () => now() + settings.clockAheadMs;
  const agent = await AgentProcess.start(settings);
  write({ ready: true });
  const lines = Deno.stdin.readable.pipeThrough(new TextDecoderStream()).pipeThrough(
    new TextLineStream(),
  );
  for await (const line of lines) {
    const { number, order } = JSON.parse(line) as {
      readonly number: number;
      readonly order: Order;
    };
    void agent.obey(order).then(
      (value) => {
        write({ number, value });
        if (order.do !== "close") return;
        tell({ event: "closed" });
        Deno.exit(0);
      },
      (error: unknown) => {
        const code = error instanceof StaticError ? error.code : "unknown";
        write({ number, code, error: String(error) });
      },
    );
  }
  // The process that gave the orders is gone.
  Deno.exit(1);
}

if (import.meta.main) await main(JSON.parse(Deno.args[0] ?? ""));
