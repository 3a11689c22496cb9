/**
 * The scenario that every runtime plays, against a really running relay and API: two agents of one
 * runtime from the first invite to the last message, and one agent as a guest in a channel with
 * agents of other runtimes.
 */
import {
  type ChannelManager,
  type ConnectOptions,
  RemoteError,
  RemovedError,
} from "../../sdk/mod.ts";
import { check, failsWith, type RuntimeTest } from "../support/runtime/suite.ts";

/** Plain values, so that a page or another process can be given them. */
export interface StoryTarget {
  readonly options: Omit<ConnectOptions, "dataDir" | "identity" | "signal" | "token">;
  /** Folder for the data directories; in a browser part of their names. */
  readonly dataDir: string;
  /** Distinguishes the agents of one run from those of another. */
  readonly label: string;
  /** How many messages go each way. */
  readonly messages: number;
  readonly transport: string;
}

export type Connect = (options: ConnectOptions) => Promise<ChannelManager>;

const decode = (payload: Uint8Array | undefined): string => new TextDecoder().decode(payload);
const timeoutMs = 60_000;

export function createStory(connect: Connect, target: StoryTarget): readonly RuntimeTest[] {
  const name = `acme/story/${target.label}`;
  const start = (identity: string): Promise<ChannelManager> =>
    connect({
      ...target.options,
      dataDir: `${target.dataDir}/${target.label}-${identity}`,
      identity: `${target.label} ${identity}`,
      cover: { mode: "off" },
    });
  return [
    {
      name: `${target.label}: create, invite, join, talk both ways`,
      run: () => talk(start, name, target),
    },
    { name: `${target.label}: both agents start again and go on`, run: () => goOn(start, name) },
    {
      name: `${target.label}: values, addresses and acknowledgement by hand`,
      run: () => exchangeValues(start, name),
    },
    { name: `${target.label}: requests and replies`, run: () => ask(start, name) },
    { name: `${target.label}: bad input is refused with its code`, run: () => refuse(start, name) },
    { name: `${target.label}: a member is removed`, run: () => remove(start, name) },
  ];
}

type Start = (identity: string) => Promise<ChannelManager>;

async function talk(
  start: Start,
  name: string,
  { messages, transport }: StoryTarget,
): Promise<void> {
  const alice = await start("alice");
  const bob = await start("bob");
  check(alice.client.transport === transport, `it chose ${alice.client.transport}`);
  await alice.create(name);
  await bob.joinWithToken(name, await alice.invite(name, { expiresInMs: 60_000, uses: 1 }));
  await Promise.all([exchange(alice, bob, name, messages), exchange(bob, alice, name, messages)]);
  const large = new Uint8Array(1024 * 1024).map((_, i) => i * 7);
  await alice.send(name, large);
  const received = await bob.receive(name, { timeoutMs });
  check(
    received?.length === large.length && received.every((byte, i) => byte === large[i]),
    "a mebibyte arrives whole",
  );
  const [one, other] = [await alice.channel(name), await bob.channel(name)];
  check(one.fingerprint() === other.fingerprint(), "the fingerprints are the same");
  check(
    other.health().state === "ok" && other.health().missing.length === 0,
    JSON.stringify(other.health()),
  );
  await alice.close();
  await bob.close();
}

/** All of one's messages reach the other once and in order. */
async function exchange(
  from: ChannelManager,
  to: ChannelManager,
  name: string,
  messages: number,
): Promise<void> {
  const texts = Array.from({ length: messages }, (_, i) => `${i} ${"x".repeat(i % 700)}`);
  const sent = sendAll(from, name, texts);
  for (const text of texts) {
    const got = decode(await to.receive(name, { timeoutMs }));
    check(got === text, `expected ${text.slice(0, 20)}, got ${got.slice(0, 20)}`);
  }
  await sent;
}

/** Many at once, but not more than may wait. */
async function sendAll(
  from: ChannelManager,
  name: string,
  texts: readonly string[],
): Promise<void> {
  const atOnce = 1_000;
  for (let first = 0; first < texts.length; first += atOnce) {
    await Promise.all(texts.slice(first, first + atOnce).map((text) => from.send(name, text)));
  }
}

async function goOn(start: Start, name: string): Promise<void> {
  const alice = await start("alice");
  const bob = await start("bob");
  await bob.send(name, "I am back");
  check(
    decode(await alice.receive(name, { timeoutMs })) === "I am back",
    "the first message after a restart",
  );
  await alice.send(name, "so am I");
  check(decode(await bob.receive(name, { timeoutMs })) === "so am I", "and its answer");
  check(await bob.receive(name, { timeoutMs: 200 }) === undefined, "nothing comes twice");
  await failsWith("store_locked", () => start("alice"));
  await alice.close();
  await bob.close();
}

async function exchangeValues(start: Start, name: string): Promise<void> {
  const alice = await start("alice");
  const bob = await start("bob");
  const [from, to] = [await alice.client.openChannel(name), await bob.channel(name)];
  await from.send({ json: { n: 1 } }, {
    to: bob.client.agentId,
    conversation: "c",
    headers: { a: "b" },
  });
  await from.send("not for bob", { to: alice.client.agentId });
  const tagged = Uint8Array.of(0xda, 0x53, 0x54, 0x41, 0x54, 1);
  await from.send(tagged);
  const first = await to.receiveEnvelope({ timeoutMs });
  check(JSON.stringify(first?.json()) === '{"n":1}', "JSON arrives");
  check(
    first?.contentType === "application/json" && first.conversation === "c" &&
      first.headers.a === "b",
    "its fields",
  );
  check(
    first?.sender.identity.endsWith("alice") === true && first.sender.keyUnchanged,
    "its sender",
  );
  const second = await to.receive({ timeoutMs });
  check(
    second?.join() === tagged.join(),
    "bytes stay bytes, whatever they begin with; what is for others is not shown",
  );
  await bob.close();
  await from.send("too late", { expiresInMs: 1 });
  for (const text of ["one", "two", "three"]) await from.send(text);
  const again = await start("bob");
  const reopened = await again.channel(name);
  const reader = reopened.envelopes({ ack: "manual" });
  const [one, two, three] = [
    (await reader.next()).value,
    (await reader.next()).value,
    (await reader.next()).value,
  ];
  check(
    [one, two, three].map((each) => each?.text()).join() === "one,two,three",
    "all three are given at once",
  );
  check(reopened.health().expired === 1, "what came too late is counted and not shown");
  await three?.ack();
  await one?.ack();
  await again.close();
  const last = await start("bob");
  const left = await last.receive(name, { timeoutMs });
  check(decode(left) === "two", `only what was not acknowledged comes again, not ${decode(left)}`);
  check(await last.receive(name, { timeoutMs: 200 }) === undefined, "and nothing else");
  await last.close();
  await alice.close();
}

async function ask(start: Start, name: string): Promise<void> {
  const alice = await start("alice");
  const bob = await start("bob");
  const channel = await alice.channel(name);
  const serving = (await bob.channel(name)).serve((request) => {
    if (request.text() === "fail") throw new RemoteError("as asked", { remoteCode: "asked" });
    return { json: { echo: request.text(), attempt: request.attempt } };
  });
  const to = bob.client.agentId;
  const reply = await channel.request("hello", { to, timeoutMs });
  check(
    JSON.stringify(reply.json()) === '{"echo":"hello","attempt":1}',
    JSON.stringify(reply.json()),
  );
  await failsWith("remote_error", () => channel.request("fail", { to, timeoutMs }));
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, i) => channel.request(`${i}`, { to, timeoutMs })),
  );
  check(replies.every((each, i) => each.text().includes(`"${i}"`)), "twenty at once, each its own");
  for await (const answer of channel.requestAll("all of you", { to: [to], timeoutMs })) {
    check(answer.ok && answer.reply.text().includes("all of you"), "one answer for each member");
  }
  await serving.stop();
  const waiting = channel.request("while bob is away", { to, timeoutMs });
  await bob.close();
  const again = await start("bob");
  (await again.channel(name)).serve((request) => request.text());
  check((await waiting).text() === "while bob is away", "a request waits for its handler");
  await failsWith("invalid_request", () => channel.request("?", { to: alice.client.agentId }));
  check(channel.health().issues.length === 0, JSON.stringify(channel.health().issues));
  await again.close();
  await alice.close();
}

async function refuse(start: Start, name: string): Promise<void> {
  const alice = await start("alice");
  const channel = await alice.channel(name);
  await failsWith("channel_error", () => alice.create("Not A Name"));
  await failsWith("name_taken", () => alice.create(name));
  await failsWith("not_found", () => alice.channel("acme/story/nowhere"));
  await failsWith("invalid_request", () => channel.send(""));
  await failsWith("payload_too_large", () => channel.send(new Uint8Array(1024 * 1024 + 1)));
  await failsWith("key_package_invalid", () => channel.addMember(new Uint8Array(100)));
  await failsWith(
    "mls_error",
    () => alice.client.joinChannel("acme/story/other", new Uint8Array(100)),
  );
  await failsWith("invalid_request", () => alice.joinWithToken("acme/story/other", "inv_nonsense"));
  await alice.close();
}

async function remove(start: Start, name: string): Promise<void> {
  const alice = await start("alice");
  const bob = await start("bob");
  const channel = await alice.channel(name);
  const events = (await bob.channel(name)).events();
  const removed = failsWith("removed", () => bob.receive(name, { timeoutMs }));
  await channel.removeMember(bob.client.agentId);
  await removed;
  for await (const event of events) {
    if (event.type !== "ended") continue;
    const by = event.error instanceof RemovedError ? event.error.by : undefined;
    check(by === alice.client.agentId, `it is told by whom: ${by}`);
  }
  check(channel.members().length === 1, "alice is alone");
  await alice.close();
  await bob.close();
}

/** Joins a channel, says hello, and answers every message with an echo until it is told to go. */
export async function beGuest(
  connect: Connect,
  target: GuestTarget,
  link: string,
  name: string,
): Promise<string> {
  const startedMs = performance.now();
  const guest = await connect({
    link,
    dataDir: `${target.dataDir}/${target.label}`,
    identity: target.label,
    cover: { mode: "off" },
  });
  await guest.join(link);
  await guest.send(name, `hello from ${target.label}`);
  const tookMs = Math.round(performance.now() - startedMs);
  const heard: string[] = [];
  for (;;) {
    const text = decode(await guest.receive(name, { timeoutMs }));
    heard.push(text);
    if (text.startsWith("ask ")) await guest.send(name, `${target.label} heard: ${text.slice(4)}`);
    if (text === "" || text === "go") break;
  }
  const { transport } = guest.client;
  const { state } = await guest.health(name);
  await guest.close();
  return `${state} ${heard.length}, over ${transport}, from link to first message: ${tookMs} ms, 3 calls`;
}

/** A guest has a place for its keys and a name; the link says the rest. */
export type GuestTarget = Pick<StoryTarget, "dataDir" | "label">;
