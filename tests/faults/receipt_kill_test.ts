/**
 * kill -9 of those that owe receipts and of those that ask for them: over QUIC, in a process of its
 * own. A campaign has every write to the disk; `tests/scenario/delivery/receipts_test.ts` has them
 * without processes.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { grantedToken, openTestRelay } from "../../relay/testing/open_relay.ts";
import type { Channel } from "../../sdk/mod.ts";
import { inCampaign, tried } from "../support/campaign.ts";
import { createCertificate } from "../support/mod.ts";
import { TextLineStream } from "../support/lines.ts";
import { name, until } from "../support/scenario/stage.ts";
import { account, connect, type Member } from "./doomed_process.ts";
import type { Moment, ReceiptSettings, Said } from "./receipt_agent.ts";

const program = new URL("receipt_agent.ts", import.meta.url).pathname;

class Life {
  readonly said: Said[] = [];
  readonly #child: Deno.ChildProcess;
  readonly #reading: Promise<void>;

  constructor(settings: ReceiptSettings) {
    this.#child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", "--unstable-net", program, JSON.stringify(settings)],
      stdout: "piped",
    }).spawn();
    this.#reading = this.#read();
  }

  async #read(): Promise<void> {
    const { stdout } = this.#child;
    const lines = stdout.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream());
    for await (const line of lines) this.said.push(JSON.parse(line));
  }

  ids(what: "read" | "done" | "told"): string[] {
    return this.said.flatMap((each) => each.said === what ? [each.id] : []);
  }

  /** It has killed itself, and everything that it said is here; false when it came through. */
  async dies(isThrough: () => boolean | Promise<boolean>): Promise<boolean> {
    let hasEnded = false;
    const ended = this.#child.status.then(() => hasEnded = true);
    await until("it dies, or comes through", async () => hasEnded || await isThrough());
    if (!hasEnded) return false;
    await ended;
    await this.#reading;
    assertEquals((await this.#child.status).signal, "SIGKILL");
    return true;
  }

  async kill(): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended by itself.
    }
    await this.#child.status;
    await this.#reading;
  }
}

/** Alice asks and bob owes; one of them is a process, which the other one waits for. */
class Pair implements AsyncDisposable {
  readonly #closing: AsyncDisposableStack;
  readonly other: Member;
  readonly channel: Channel;
  readonly #settings: ReceiptSettings;

  private constructor(parts: {
    closing: AsyncDisposableStack;
    other: Member;
    channel: Channel;
    settings: ReceiptSettings;
  }) {
    this.#closing = parts.closing;
    this.other = parts.other;
    this.channel = parts.channel;
    this.#settings = parts.settings;
  }

  static async open(victim: "asker" | "addressee"): Promise<Pair> {
    await using closing = new AsyncDisposableStack();
    const folder = await Deno.makeTempDir();
    closing.defer(() => Deno.remove(folder, { recursive: true }));
    const { cert, key } = await createCertificate();
    const relay = await openTestRelay({ certificate: { cert, key } });
    closing.defer(() => relay.close());
    const alice = await connect("alice", folder, relay, cert);
    const bob = await connect("bob", folder, relay, cert);
    const [doomed, other] = victim === "asker" ? [alice, bob] : [bob, alice];
    closing.defer(() => other.manager.close());
    await alice.manager.create(name);
    await bob.manager.joinWithToken(name, await alice.manager.invite(name));
    const channel = await other.manager.channel(name);
    await until("both are in", () => channel.members().length === 2);
    await doomed.manager.close();
    const settings = {
      options: doomed.options,
      token: grantedToken(account),
      channel: name,
      ...(victim === "asker" && { to: bob.manager.client.agentId }),
    };
    return new Pair({ closing: closing.move(), other, channel, settings });
  }

  live(more: Partial<ReceiptSettings> = {}): Life {
    const life = new Life({ ...this.#settings, ...more });
    this.#closing.defer(() => life.kill());
    return life;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#closing.disposeAsync();
  }
}

async function stateAt(channel: Channel, id: string): Promise<string | undefined> {
  return (await channel.receiptsOf(id))[0]?.state;
}

/** Returns false when it came through. */
async function addressee(
  dies: Moment,
  options: { readonly writesDebtsLater?: boolean } = {},
): Promise<boolean> {
  await using pair = await Pair.open("addressee");
  const { channel } = pair;
  const states: string[] = [];
  void (async () => {
    for await (const event of channel.events()) {
      if (event.type === "receipt") states.push(`${event.id} ${event.state}`);
    }
  })();
  const to = channel.members().find(({ self }) => !self)?.agentId ?? "";
  const { id } = await channel.send("one", { to, receipt: "done" });
  const first = pair.live({ ...options, dies });
  const heard = async (each: string): Promise<boolean> => await stateAt(channel, each) === "done";
  // Behind its acknowledgement the debt is deleted.
  const isPaid = async (): Promise<boolean> =>
    await heard(id) && first.said.some((each) => each.said === "written" && each.paid);
  if (!await first.dies(isPaid)) return false;
  if (dies === "read") assertEquals(await stateAt(channel, id), undefined);
  const second = pair.live();
  const last = await channel.send("last", { to, receipt: "done" });
  await until("the last one is done", () => heard(last.id));
  // A message that comes again is worked on again; one that does not was acknowledged.
  const isSaid = [...first.ids("done"), ...second.ids("done")].includes(id);
  const state = await stateAt(channel, id);
  assert(isSaid ? state === "done" : state !== undefined, `of one that is owed: ${state}`);
  assert(first.ids("read").length > 0 || second.ids("read").includes(id), "nobody has read it");
  const order = states.filter((each) => each.startsWith(id)).map((each) => each.slice(23)).join();
  assert(["delivered", "delivered,done", "done"].includes(order), order);
  assertEquals(channel.health().issues, []);
  return true;
}

/** The same of an asker. */
async function asker(dies: Moment): Promise<boolean> {
  await using pair = await Pair.open("asker");
  const ids = new Map<string, string>();
  void (async () => {
    for await (const envelope of pair.channel.envelopes()) {
      ids.set(envelope.text(), envelope.id);
      await envelope.done();
    }
  })().catch(() => {});
  const first = pair.live({ dies });
  if (!await first.dies(() => first.ids("told").length > 0)) return false;
  if (dies === "taken") await until("the message came", () => ids.has("one"));
  else {
    // Whether the relay has it is known behind the next message of this sender.
    const second = pair.live({ text: "two" });
    await until("it was told of the next", () => second.ids("told").length > 0);
    await second.kill();
  }
  const one = ids.get("one");
  if (one === undefined) return true;
  const last = pair.live({ text: "three", about: [one] });
  await until("it was told", () => last.ids("told").includes(one));
  assertEquals(pair.channel.health().issues, []);
  return true;
}

/** Returns at how many it died: at each of these, and at every write until it comes through. */
async function atEach(
  victim: (dies: Moment) => Promise<boolean>,
  moments: readonly Moment[],
): Promise<number> {
  for (const moment of moments) assert(await victim(moment), `it lived at ${moment}`);
  let writes = 0;
  while (inCampaign && await victim(writes)) assert(++writes < 60);
  return moments.length + writes;
}

Deno.test("kill -9 of an addressee: what it acknowledged is told, and what it did not comes again", async () => {
  const every = ["read", "acknowledged", "asked", "taken"] as const;
  const died = await atEach(addressee, inCampaign ? every : ["acknowledged"]);
  tried(`${died} addressees that were killed`);
});

Deno.test("control: a debt that is written behind the acknowledgement is lost", async () => {
  const lost = (): Promise<boolean> => addressee("parted", { writesDebtsLater: true });
  await assertRejects(lost, Error, "of one that is owed: undefined");
});

Deno.test("kill -9 of an asker: it hears what became of every message that the relay has", async () => {
  const died = await atEach(asker, inCampaign ? ["asked", "taken"] : ["taken"]);
  tried(`${died} askers that were killed`);
});
