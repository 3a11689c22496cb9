/**
 * An agent's process as the fault script holds it: orders, answers, signals, death and the next
 * life on the same directory.
 */
import type { AgentState, Order, Settings } from "./agent_process.ts";
import type { Event, Journal } from "../support/crowd/journal.ts";
import { TextLineStream } from "../support/lines.ts";
import type { Link } from "./network.ts";

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface Life {
  readonly child: Deno.ChildProcess;
  readonly input: WritableStreamDefaultWriter<Uint8Array>;
  readonly orders: Map<number, Waiting>;
  readonly ended: Promise<void>;
  exited: boolean;
}

const script = new URL("agent_process.ts", import.meta.url).pathname;

/** An order that failed: `code` is the SDK's. */
export class OrderFailed extends Error {
  constructor(readonly agent: string, readonly code: string, words: string) {
    super(`${agent}: ${words}`);
  }
}

export class Actor {
  readonly name: string;
  readonly link: Link;
  readonly #settings: Omit<Settings, "life">;
  readonly #lives: Event[][] = [];
  #life: Life | undefined;
  #numbers = 0;
  /** Lines that it wrote outside of the journal. */
  readonly remarks: string[] = [];

  constructor(settings: Omit<Settings, "life">, link: Link) {
    this.name = settings.name;
    this.link = link;
    this.#settings = settings;
  }

  get journal(): Journal {
    return { agent: this.name, lives: this.#lives };
  }

  get running(): boolean {
    return this.#life !== undefined;
  }

  /** Of its last life. */
  get events(): readonly Event[] {
    return this.#lives.at(-1) ?? [];
  }

  /** The highest epoch that it has told of. */
  get epoch(): number {
    return Math.max(
      -1,
      ...this.events.flatMap((event) => event.event === "epoch" ? [event.epoch] : []),
    );
  }

  async start(): Promise<this> {
    const settings: Settings = { ...this.#settings, life: this.#lives.length };
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", "--quiet", script, JSON.stringify(settings)],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const orders = new Map<number, Waiting>();
    const journal: Event[] = [];
    this.#lives.push(journal);
    const ready = Promise.withResolvers<void>();
    const reading = this.#read(child, { journal, orders, onReady: ready.resolve });
    const ended = Promise.all([reading, this.#complaints(child), child.status]).then(() => {
      const gone = new OrderFailed(
        this.name,
        "gone",
        `the process ended; it said: ${this.remarks.slice(-3).join(" | ")}`,
      );
      ready.reject(gone);
      for (const { reject } of orders.values()) reject(gone);
      if (this.#life === life) this.#life = undefined;
    });
    const life: Life = { child, input: child.stdin.getWriter(), orders, ended, exited: false };
    void child.status.then(() => life.exited = true);
    this.#life = life;
    await ready.promise;
    return this;
  }

  async ask(order: Order): Promise<unknown> {
    if (this.#life === undefined) throw new OrderFailed(this.name, "gone", "it is not running");
    const { input, orders } = this.#life;
    const number = ++this.#numbers;
    const answer = new Promise<unknown>((resolve, reject) =>
      orders.set(number, { resolve, reject })
    );
    await input.write(new TextEncoder().encode(`${JSON.stringify({ number, order })}\n`)).catch(
      () => {},
    );
    return await answer;
  }

  async text(order: Order): Promise<string> {
    return String(await this.ask(order));
  }

  async state(): Promise<AgentState> {
    return await this.ask({ do: "state" }) as AgentState;
  }

  signal(name: Deno.Signal): void {
    if (this.#life?.exited === false) this.#life.child.kill(name);
  }

  /** Nobody says goodbye. */
  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.#life?.ended;
  }

  async close(): Promise<void> {
    const life = this.#life;
    await this.ask({ do: "close" });
    await life?.ended;
  }

  async #read(
    child: Deno.ChildProcess,
    { journal, orders, onReady }: {
      journal: Event[];
      orders: Map<number, Waiting>;
      onReady: () => void;
    },
  ): Promise<void> {
    const lines = child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(
      new TextLineStream(),
    );
    for await (const line of lines) {
      const told = JSON.parse(line);
      if ("event" in told) journal.push(told);
      else if ("ready" in told) onReady();
      else if ("number" in told) {
        const waiting = orders.get(told.number);
        orders.delete(told.number);
        if ("error" in told) waiting?.reject(new OrderFailed(this.name, told.code, told.error));
        else waiting?.resolve(told.value);
      } else this.remarks.push(line);
    }
  }

  async #complaints({ stderr }: Deno.ChildProcess): Promise<void> {
    for await (const text of stderr.pipeThrough(new TextDecoderStream())) this.remarks.push(text);
  }
}
