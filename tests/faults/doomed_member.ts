/**
 * A member of a channel in a process of its own that kills itself with SIGKILL once a number of
 * writes to its store are acknowledged, before anything else happens. It opens what is on its disk,
 * begins the channel anew when that is offered to it, and once it is in the new generation reads
 * one message and sends one. Or it leaves, and its next process says how it finds the channel.
 */
import { Agent, connectAgent } from "../../sdk/testing/agents.ts";
import { type Channel, ChannelManager, type ConnectOptions } from "../../sdk/mod.ts";
import { platform } from "../../sdk/platform/deno.ts";

export interface DoomedSettings {
  readonly options: Omit<ConnectOptions, "token">;
  readonly token: string;
  readonly channel: string;
  /** It lives if there are none. */
  readonly writes?: number;
  /** `leave`: with this successor, if one is given. `look`: how the channel is. */
  readonly does?: {
    readonly leave: string | undefined;
    readonly diesAt: "asked" | "taken" | undefined;
  } | "look";
}

const turnMs = 5;

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

/** From `arm` on, the process dies with the last of these writes. */
class Doom {
  #writes = Infinity;

  arm(writes: number): void {
    this.#writes = writes;
    this.#look();
  }

  written(): void {
    this.#writes--;
    this.#look();
  }

  #look(): void {
    if (this.#writes === 0) Deno.kill(Deno.pid, "SIGKILL");
  }
}

async function turn(): Promise<void> {
  // wait: polls what the channel says of itself
  await new Promise((resolve) => setTimeout(resolve, turnMs));
}

async function recovered(channel: Channel): Promise<void> {
  for (;;) {
    const { state, recoverable, epoch } = channel.health();
    if (state === "stopped" && recoverable === true) await channel.recover().catch(() => {});
    if (state === "ok" && epoch >= 2 ** 32) return;
    await turn();
  }
}

/** The process dies when the relay is asked, or when it has answered. */
function dieAtCall({ parts: { session } }: Agent, at: "asked" | "taken"): void {
  const call = session.call.bind(session);
  const doomed: typeof call = async (operation, ...rest) => {
    if (operation !== "LeaveChannel") return await call(operation, ...rest);
    if (at === "taken") await call(operation, ...rest);
    Deno.kill(Deno.pid, "SIGKILL");
    return await new Promise(() => {});
  };
  Object.assign(session, { call: doomed });
}

async function look(manager: ChannelManager, name: string): Promise<string> {
  const channel = await manager.channel(name).catch(({ code }) => String(code));
  if (typeof channel === "string") return channel;
  for (;;) {
    const { state } = channel.health();
    if (state === "ended" || state === "ok") return state;
    await turn();
  }
}

async function live(settings: DoomedSettings): Promise<void> {
  const doom = new Doom();
  // An owner waits a minute for others that could follow: its clock is ahead from the moment that
  // it is stopped.
  let aheadMs = 0;
  const agent: Agent = await connectAgent({
    ...settings.options,
    token: () => Promise.resolve(settings.token),
  }, {
    ...platform,
    nowMs: () => platform.nowMs() + aheadMs,
    openStore: async (folder, options) => {
      const store = await platform.openStore(folder, options);
      const batch = store.batch.bind(store);
      return Object.assign(store, {
        batch: async (changes: Parameters<typeof batch>[0]): Promise<void> => {
          await batch(changes);
          doom.written();
        },
      });
    },
  });
  const manager = await ChannelManager.over(agent);
  const { does } = settings;
  if (does === "look") {
    say(await look(manager, settings.channel));
    return await manager.close();
  }
  const channel = await manager.channel(settings.channel);
  if (does !== undefined) {
    while (channel.health().state !== "ok") await turn();
    if (does.diesAt !== undefined) dieAtCall(agent, does.diesAt);
    if (settings.writes !== undefined) doom.arm(settings.writes);
    await channel.leave(does.leave === undefined ? {} : { successor: does.leave });
    say("left");
    return await manager.close();
  }
  while (channel.health().unread === 0) await turn();
  if (settings.writes !== undefined) doom.arm(settings.writes);
  say("ready");
  while (channel.health().state !== "stopped" && channel.health().epoch < 2 ** 32) await turn();
  aheadMs = 61_000;
  await recovered(channel);
  doom.arm(Infinity);
  const read = await channel.receiveEnvelope({ timeoutMs: 30_000 });
  await channel.receiveEnvelope({ timeoutMs: 1 });
  await channel.send("from the doomed");
  const blamed = channel.health().issues.some(({ kind }) =>
    kind === "relay_lied" || kind === "rejoined"
  );
  say(`in ${read?.text()} ${blamed}`);
  await manager.close();
}

if (import.meta.main) {
  const [settings = ""] = Deno.args;
  await live(JSON.parse(settings));
  Deno.exit(0);
}
