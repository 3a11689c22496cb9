/**
 * The scenario that every runtime plays, against a really running relay and API: two agents of one runtime from the first
 * invite to the last message, and one agent as a guest in a channel with agents of other runtimes.
 */
import type { ChannelManager, ConnectOptions } from "../../sdk/mod.ts";
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
    { name: `${target.label}: create, invite, join, talk both ways`, run: () => talk(start, name, target) },
    { name: `${target.label}: both agents start again and go on`, run: () => goOn(start, name) },
    { name: `${target.label}: bad input is refused with its code`, run: () => refuse(start, name) },
    { name: `${target.label}: a member is removed`, run: () => remove(start, name) },
  ];
}

type Start = (identity: string) => Promise<ChannelManager>;

async function talk(start: Start, name: string, { messages, transport }: StoryTarget): Promise<void> {
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
  check(other.health().state === "ok" && other.health().missing.length === 0, JSON.stringify(other.health()));
  await alice.close();
  await bob.close();
}

/** All of one's messages reach the other once and in order. */
async function exchange(from: ChannelManager, to: ChannelManager, name: string, messages: number): Promise<void> {
  const texts = Array.from({ length: messages }, (_, i) => `${i} ${"x".repeat(i % 700)}`);
  const sent = Promise.all(texts.map((text) => from.send(name, text)));
  for (const text of texts) {
    const got = decode(await to.receive(name, { timeoutMs }));
    check(got === text, `expected ${text.slice(0, 20)}, got ${got.slice(0, 20)}`);
  }
  await sent;
}

async function goOn(start: Start, name: string): Promise<void> {
  const alice = await start("alice");
  const bob = await start("bob");
  await bob.send(name, "I am back");
  check(decode(await alice.receive(name, { timeoutMs })) === "I am back", "the first message after a restart");
  await alice.send(name, "so am I");
  check(decode(await bob.receive(name, { timeoutMs })) === "so am I", "and its answer");
  check(await bob.receive(name, { timeoutMs: 200 }) === undefined, "nothing comes twice");
  await failsWith("store_locked", () => start("alice"));
  await alice.close();
  await bob.close();
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
  await failsWith("mls_error", () => alice.client.joinChannel("acme/story/other", new Uint8Array(100)));
  await failsWith("invalid_request", () => alice.joinWithToken("acme/story/other", "inv_nonsense"));
  await alice.close();
}

async function remove(start: Start, name: string): Promise<void> {
  const alice = await start("alice");
  const bob = await start("bob");
  const channel = await alice.channel(name);
  const removed = failsWith("not_found", () => bob.receive(name, { timeoutMs }));
  await channel.removeMember(bob.client.agentId);
  await removed;
  check(channel.members().length === 1, "alice is alone");
  await alice.close();
  await bob.close();
}

/** Joins a channel, says hello, and answers every message with an echo until it is told to go. */
export async function beGuest(connect: Connect, target: StoryTarget, token: string, name: string): Promise<string> {
  const guest = await connect({
    ...target.options,
    dataDir: `${target.dataDir}/${target.label}`,
    identity: target.label,
    cover: { mode: "off" },
  });
  await guest.joinWithToken(name, token);
  await guest.send(name, `hello from ${target.label}`);
  const heard: string[] = [];
  for (;;) {
    const text = decode(await guest.receive(name, { timeoutMs }));
    heard.push(text);
    if (text.startsWith("ask ")) await guest.send(name, `${target.label} heard: ${text.slice(4)}`);
    if (text === "" || text === "go") break;
  }
  const { state } = await guest.health(name);
  await guest.close();
  return `${state} ${heard.length}`;
}
