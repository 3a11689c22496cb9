/**
 * An agent in a process of its own that asks for receipts, or owes them, and kills itself with
 * SIGKILL at one moment. It says what it does, line by line, before it does anything else.
 */
import { ChannelManager, type ConnectOptions } from "../../sdk/mod.ts";
import { platform } from "../../sdk/platform/deno.ts";
import { connectAgent } from "../../sdk/testing/agents.ts";

/** A number: with the answer to so many writes to its disk. */
export type Moment =
  | number
  /** A program has the message, and has not acknowledged it. */
  | "read"
  /** The acknowledgement is on disk. */
  | "acknowledged"
  /** The relay is about to be asked to take a message of it, or has taken it. */
  | "asked"
  | "taken"
  /** With `writesDebtsLater`: before them. */
  | "parted";

export interface ReceiptSettings {
  readonly options: Omit<ConnectOptions, "token">;
  readonly token: string;
  readonly channel: string;
  /** Sends a message to this agent, and asks for receipts; without it, gives them. */
  readonly to?: string;
  readonly text?: string;
  readonly dies?: Moment | undefined;
  /** The control: what is owed is written behind what it is written with, which may be too late. */
  readonly writesDebtsLater?: boolean;
  /** Messages of a life before, of which it says what has become. */
  readonly about?: readonly string[];
}

export type Said =
  /** `paid`: a debt has gone from the disk. */
  | { readonly said: "written"; readonly paid: boolean }
  | { readonly said: "read" | "done"; readonly id: string; readonly text: string }
  | { readonly said: "told"; readonly id: string; readonly state: string };

const [turnMs, least, most] = [5, 1000, 6000];

function say(said: Said): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(said)}\n`));
}

/** A receipt that is owed. */
function isDebt({ id }: { readonly id: string }): boolean {
  return id.startsWith("owed/");
}

function die(): Promise<never> {
  Deno.kill(Deno.pid, "SIGKILL");
  return new Promise(() => {});
}

async function live(settings: ReceiptSettings): Promise<void> {
  const { dies, to, about = [] } = settings;
  let [writes, isArmed] = [typeof dies === "number" ? dies : Infinity, false];
  const agent = await connectAgent({
    ...settings.options,
    token: () => Promise.resolve(settings.token),
  }, {
    ...platform,
    openStore: async (folder, options) => {
      const store = await platform.openStore(folder, options);
      const batch = store.batch.bind(store);
      const write = async (changes: Parameters<typeof batch>[0]): Promise<void> => {
        await batch(changes);
        if (!isArmed) return;
        const paid = changes.some((each) => isDebt(each) && each.type === "delete");
        say({ said: "written", paid });
        if (--writes === 0) await die();
      };
      return Object.assign(store, {
        batch: async (changes: Parameters<typeof batch>[0]): Promise<void> => {
          if (settings.writesDebtsLater !== true) return await write(changes);
          const owed = changes.filter(isDebt);
          const others = changes.filter((each) => !owed.includes(each));
          if (others.length > 0) await write(others);
          if (isArmed && others.length > 0 && owed.length > 0 && dies === "parted") await die();
          if (owed.length > 0) await write(owed);
        },
      });
    },
  });
  const { runtime, session } = agent.parts;
  // Receipts wait for seconds; here for a hundredth of that. Those of the session stay.
  const after = runtime.after.bind(runtime);
  Object.assign(runtime, {
    after: (ms: number, run: () => void) => after(ms >= least && ms <= most ? ms / 100 : ms, run),
  });
  const manager = await ChannelManager.over(agent);
  const channel = await manager.channel(settings.channel);
  // wait: polls what the channel says of itself
  const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, turnMs));
  while (channel.health().state !== "ok") await turn();
  const call = session.call.bind(session);
  const doomed: typeof call = async (operation, ...rest) => {
    if (operation === "SendMessage" && dies === "asked") await die();
    const answer = await call(operation, ...rest);
    if (operation === "SendMessage" && dies === "taken") await die();
    return answer;
  };
  Object.assign(session, { call: doomed });
  isArmed = true;
  if (writes === 0) await die();
  if (to === undefined) {
    for await (const envelope of channel.envelopes({ ack: "manual" })) {
      const of = { id: envelope.id, text: envelope.text() };
      say({ said: "read", ...of });
      if (dies === "read") await die();
      await envelope.ack();
      if (dies === "acknowledged") await die();
      await envelope.done();
      say({ said: "done", ...of });
    }
    return;
  }
  const { id } = await channel.send(settings.text ?? "one", { to, receipt: "done" });
  const open = new Set([...about, id]);
  while (open.size > 0) {
    for (const each of open) {
      const [{ state } = {}] = await channel.receiptsOf(each);
      if (state !== "done") continue;
      open.delete(each);
      say({ said: "told", id: each, state });
    }
    await turn();
  }
}

if (import.meta.main) {
  const [settings = ""] = Deno.args;
  await live(JSON.parse(settings));
}
