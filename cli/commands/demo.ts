/** `demo`: two agents in one terminal, and beside what they see what the relay sees. */
import type { Channel, ConnectOptions, Envelope, StaticClient } from "../../sdk/mod.ts";
import { explained } from "../agent.ts";
import { createAccount, isLoopback, shown } from "../../proto/mod.ts";
import { loadSdk } from "../lazy_sdk.ts";
import { openApi } from "../service/api.ts";
import { findRelay } from "../service/discovery.ts";
import { encodeHex, payloadLines } from "../texts/channel_texts.ts";
import type { Command, Context } from "../command.ts";
import { Failure } from "../failure.ts";
import { width } from "../wrapping.ts";
import { type ObservedRequest, RelayView } from "./demo_relay_view.ts";
import {
  readSettings,
  requireKey,
  requireRelay,
  type Settings,
  trustOf,
} from "../service/settings.ts";
import { waitUntil } from "../wait_until.ts";

/** Together they fit a terminal of 80 columns. */
const [leftWidth, rightWidth] = [44, 36];
const arriveMs = 15_000;

export const demo: Command = {
  path: "demo",
  summary: "show two agents talking, beside what the relay sees",
  details: [
    "Creates two agents and a channel, and removes them at the end. Without an account it creates one, if the service runs",
    "on this machine. Its messages count against the quota.",
  ],
  examples: [{ command: "demo", what: "" }],
  run: async (context) => {
    const { platform } = context;
    const given = await readSettings(context);
    const apiKey = await keyFor(context, given);
    const settings = await findRelay(context, given);
    const folder = await platform.files.makeTemporaryFolder();
    try {
      await perform(context, { settings, apiKey, folder });
    } finally {
      await platform.files.remove(folder);
    }
  },
};

interface DemoSetup {
  readonly settings: Settings;
  readonly apiKey: string;
  readonly folder: string;
}

async function perform(context: Context, { settings, apiKey, folder }: DemoSetup): Promise<void> {
  const { StaticClient } = await loadSdk();
  const { platform, output } = context;
  const view = [new RelayView(), new RelayView()] as const;
  const options = (name: string, { tap }: RelayView): ConnectOptions => ({
    endpoint: requireRelay(settings),
    apiKey,
    apiUrl: settings.apiUrl,
    tls: trustOf(settings),
    dataDir: platform.files.join(folder, name),
    identity: name,
    signal: platform.interrupted,
    tap,
  });
  const connect = both(
    StaticClient.connect(options("alice", view[0])),
    StaticClient.connect(options("bob", view[1])),
  );
  const [alice, bob] = await output.progress("connecting alice and bob", connect).catch((error) => {
    throw explained(error, context);
  });
  await using _alice = alice;
  await using _bob = bob;
  const stage = new DemoScreen(context, view);
  await stage.open();
  const name = `demo/${encodeHex(platform.randomBytes(4))}/talk`;
  try {
    await act(stage, { alice, bob, name });
  } finally {
    await alice.closeChannel(name).catch(() => {});
  }
  await stage.close();
}

/**
 * When one fails the other is closed before that is told: their folders are about to be removed.
 */
async function both(
  ...connecting: readonly [Promise<StaticClient>, Promise<StaticClient>]
): Promise<readonly [StaticClient, StaticClient]> {
  const ended = await Promise.allSettled(connecting);
  const failed = ended.find((each) => each.status === "rejected");
  if (failed !== undefined) {
    for (const each of ended) if (each.status === "fulfilled") await each.value.close();
    throw failed.reason;
  }
  return await Promise.all(connecting);
}

interface DemoCast {
  readonly alice: StaticClient;
  readonly bob: StaticClient;
  readonly name: string;
}

async function act(stage: DemoScreen, { alice, bob, name }: DemoCast): Promise<void> {
  const channel = await alice.createChannel(name);
  await stage.show("alice creates a channel");
  const welcome = await channel.addMember(await bob.generateKeyPackage());
  const joined = await bob.joinChannel(name, welcome);
  await stage.show("alice adds bob, who joins");
  await stage.caughtUp(channel, joined);
  await stage.compare({ alice: channel, bob: joined });
  await stage.say(channel, joined, "hello bob");
  await stage.say(joined, channel, "the password is swordfish");
  await stage.say(channel, joined, "ok");
  await stage.say(
    joined,
    channel,
    "a much longer message, which is nobody's business but theirs".repeat(20),
  );
  await channel.removeMember(bob.agentId);
  await stage.show("alice removes bob");
  await channel.send("bob cannot read this");
  await stage.show("alice: bob cannot read this", "epoch 2: bob has no key for it");
}

/** Two columns, step by step. */
class DemoScreen {
  readonly #context: Context;
  readonly #views: readonly RelayView[];
  readonly #steps: { readonly members: string; readonly relay: readonly ObservedRequest[] }[] = [];

  constructor(context: Context, views: readonly RelayView[]) {
    this.#context = context;
    this.#views = views;
  }

  async open(): Promise<void> {
    await this.#line(this.#bold("What the members see"), this.#bold("What the relay sees"));
    await this.#line("─".repeat(leftWidth - 2), "─".repeat(rightWidth));
  }

  /** A message from one to the other, shown as the other reads it. */
  async say(from: Channel, to: Channel, text: string): Promise<void> {
    await from.send(text);
    const arrived = await this.#next(to);
    const line = `${shown(arrived.sender.identity)}: ${payloadLines(arrived.payload)}`;
    await this.show(line.length > leftWidth - 2 ? `${line.slice(0, leftWidth - 3)}…` : line);
  }

  /** The members' side, beside what the relay got meanwhile, or beside a remark. */
  async show(members: string, remark?: string): Promise<void> {
    const relay = this.#views.flatMap((view) => view.take());
    this.#steps.push({ members, relay });
    const right = relay.flatMap(({ text, bytes }) =>
      bytes === undefined ? [text] : [text, this.#dim(`  … ${bytes}`)]
    );
    if (remark !== undefined) right.push(this.#dim(remark));
    const rows = Math.max(1, right.length);
    for (let row = 0; row < rows; row++) {
      await this.#line(row === 0 ? members : "", right[row] ?? "");
    }
  }

  /** Each member's fingerprint, which is too long for one line of the column. */
  async compare(members: Readonly<Record<string, Channel>>): Promise<void> {
    let remark: string | undefined = "both see the same; nobody else can";
    for (const [who, channel] of Object.entries(members)) {
      const groups = channel.fingerprint().split(" ");
      const half = groups.length / 2;
      await this.show(`${who.padStart(5)}: ${groups.slice(0, half).join(" ")}`, remark);
      await this.show(`${" ".repeat(7)}${groups.slice(half).join(" ")}`);
      remark = undefined;
    }
  }

  async caughtUp(...channels: readonly Channel[]): Promise<void> {
    const ready = (): boolean => channels.every((channel) => channel.health().state === "ok");
    if (await waitUntil(this.#context.platform, arriveMs, channels, ready)) return;
    throw new Failure("transport_error", "The two agents do not catch up with their channel");
  }

  async close(): Promise<void> {
    const { output } = this.#context;
    const cells = this.#views.reduce((sum, view) => sum + view.cells, 0);
    const cover = this.#views.reduce((sum, view) => sum + view.coverCells, 0);
    if (output.json) {
      return await output.result({ steps: this.#steps, cells, cover_cells: cover }, []);
    }
    await output.result({}, [
      "",
      `On the wire all of it was ${cells} cells of one size, ${cover} of them cover, inside TLS 1.3.`,
      "Short and long messages look alike; the relay orders and stores them, and",
      "cannot read them.",
    ]);
  }

  async #next(channel: Channel): Promise<Envelope> {
    const reader = channel.envelopes({ signal: AbortSignal.timeout(arriveMs) });
    const { done, value } = await reader.next();
    await reader.finish();
    if (done !== true) return value;
    throw new Failure("transport_error", "A message of the demo did not arrive");
  }

  async #line(left: string, right: string): Promise<void> {
    const { output } = this.#context;
    if (output.json) return;
    await output.result({}, [
      `${left}${" ".repeat(Math.max(2, leftWidth - width(left)))}${right}`.trimEnd(),
    ]);
  }

  #bold(text: string): string {
    return this.#context.output.paint("bold", text);
  }

  #dim(text: string): string {
    return this.#context.output.paint("dim", text);
  }
}

/** The user's own key, or that of an account made for this on a local stack. */
async function keyFor(context: Context, settings: Settings): Promise<string> {
  const { platform, output } = context;
  if (settings.key !== undefined || !isLoopback(settings.apiUrl)) return requireKey(settings);
  const secret = encodeHex(platform.randomBytes(16));
  const email = `demo-${secret.slice(0, 8)}@example.org`;
  const created = openApi(platform, settings)((api) =>
    createAccount(api, { email, password: secret })
  );
  const { key } = await output.progress("creating an account for the demo", created);
  await output.note(`You are not signed in; account ${email} was created for this demo`);
  return key.apiKey;
}
