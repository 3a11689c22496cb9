/**
 * The directory of letters and the relay's core answer the same 200 calls of an agent about its
 * channels alike.
 */
import { assertEquals } from "@std/assert";
import { type ChannelId, type ChannelName, leaveStatement } from "../../proto/mod.ts";
import { Actor } from "../../relay/core/testing/actors.ts";
import { CallRefused } from "../../relay/core/testing/client.ts";
import { worldTest } from "../../relay/core/testing/scene.ts";
import {
  addAgent,
  addChannel,
  callDirectory,
  closeChannel,
  isMember,
  newDirectory,
  removeAgent,
  type Reply,
  type Request,
} from "./directory_of_letters.ts";

const calls = 200;
const names = ["acme/ops/a", "acme/ops/b"];

/** The same numbers each time. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

/**
 * Alice's calls; bob, of another account, is a second owner of all channels, and lets alice in and
 * out.
 */
class Core {
  readonly #alice: Actor;
  readonly #bob: Actor;
  /** By their letters. */
  readonly #ids = new Map<string, ChannelId>();
  readonly #epochs = new Map<string, number>();
  /** Where alice's memberships began, by channel and seat. */
  readonly #joined = new Map<string, number>();

  constructor(alice: Actor, bob: Actor) {
    this.#alice = alice;
    this.#bob = bob;
  }

  async call(request: Request): Promise<unknown> {
    try {
      return await this.#call(request);
    } catch (error) {
      if (!(error instanceof CallRefused)) throw error;
      return { refused: error.body.code };
    }
  }

  async #call(request: Request): Promise<unknown> {
    const { client, agent, agentId } = this.#alice;
    const { of } = request;
    switch (of) {
      case "ListMembers":
        // Bob was added before anything else.
        return {
          of,
          isNew: (await client.call(of, { channelId: this.#id(request.channelId) })).epoch === 1,
        };
      case "CreateChannel": {
        const nonce = new Uint8Array(16).fill(Number(request.nonce));
        const { channelId, duplicate } = await client.call(of, {
          name: request.name as ChannelName,
          nonce,
        }); // cast: a name
        return { of, channelId: this.#letterOf(channelId), isRepeated: duplicate };
      }
      case "ListChannels": {
        const { channels } = await client.call(of, { limit: 100 });
        const found = channels.find(({ name, owned }) => name === request.name && owned);
        return { of, channelId: found && this.#letterOf(found.channelId) };
      }
      case "LeaveChannel": {
        const channelId = this.#id(request.channelId);
        const leafHash = new Uint8Array(32).fill(request.seat);
        const signature = agent.sign(leaveStatement({ channelId, agentId, leafHash }));
        const joinedSequence = this.#joined.get(`${request.channelId} ${request.seat}`) ?? 999;
        await client.call(of, { channelId, leafHash, signature, joinedSequence });
        // The others remove it when they hear of it.
        await this.letOut(request.channelId);
        return { of };
      }
      case "CloseChannel":
        await client.call(of, { channelId: this.#id(request.channelId) });
        return { of };
    }
  }

  #id(letter: string): ChannelId {
    const id = this.#ids.get(letter);
    if (id === undefined) throw new Error(`there is no channel ${letter}`);
    return id;
  }

  #letterOf(channelId: ChannelId): string {
    const known = [...this.#ids].find(([, id]) => id === channelId)?.[0];
    return known ?? `new ${channelId}`;
  }

  /** Alice has made it, and adds bob as another owner. */
  async made(letter: string, reply: unknown, seat: number): Promise<string> {
    const { channelId } = reply as { channelId: string }; // cast: an answer to CreateChannel
    if (!channelId.startsWith("new ")) return channelId;
    const id = channelId.slice("new ".length) as ChannelId; // cast: it was one
    this.#ids.set(letter, id);
    const agentIds = [this.#alice.agentId, this.#bob.agentId];
    await this.#alice.commit(id, 0, { added: [this.#bob.agentId], owners: { agentIds } });
    this.#epochs.set(letter, 1);
    await this.#note(letter, seat);
    return letter;
  }

  async addOther(letter: string, name: string, nonce: number): Promise<void> {
    // cast: a name
    this.#ids.set(letter, await this.#bob.createChannel(nonce, name as ChannelName));
    this.#epochs.set(letter, 0);
  }

  async letIn(letter: string, seat: number, isIn: boolean): Promise<void> {
    const { agentId } = this.#alice;
    await this.#commit(letter, { added: [agentId], removed: isIn ? [agentId] : [] });
    await this.#note(letter, seat);
  }

  async letOut(letter: string): Promise<void> {
    await this.#commit(letter, { removed: [this.#alice.agentId] });
  }

  async close(letter: string): Promise<void> {
    await this.#bob.client.call("CloseChannel", { channelId: this.#id(letter) });
  }

  async #commit(letter: string, change: Parameters<Actor["commit"]>[2]): Promise<void> {
    const epoch = this.#epochs.get(letter) ?? 0;
    await this.#bob.commit(this.#id(letter), epoch, { salt: epoch, ...change });
    this.#epochs.set(letter, epoch + 1);
  }

  async #note(letter: string, seat: number): Promise<void> {
    const { members } = await this.#bob.client.call("ListMembers", { channelId: this.#id(letter) });
    const own = members.find(({ agentId }) => agentId === this.#alice.agentId);
    if (own !== undefined) this.#joined.set(`${letter} ${seat}`, own.joinedSequence);
  }
}

worldTest("the directory of letters answers 200 calls as the relay's core does", async (world) => {
  const [alice, bob] = [await Actor.connect(world, 1), await Actor.connect(world, 2)];
  const core = new Core(alice, bob);
  const directory = newDirectory();
  const below = random(48);
  const letters = (): string[] => Object.keys(directory.channels);
  const answers = new Map<string, number>();
  for (const [at, name] of names.entries()) {
    await core.addOther(addChannel(directory, name, false), name, at + 1);
  }
  for (let at = 0; at < calls; at++) {
    const name = names[below(names.length)] ?? "";
    // Most calls are about the latest ones: many others are closed.
    const channelId = (below(3) === 0
      ? letters()[below(2)]
      : letters().at(-1 - below(Math.min(6, letters().length)))) ?? "";
    const { isClosed = true } = directory.channels[channelId] ?? {};
    const isIn = isMember(directory, channelId);
    const all: readonly Request[] = [
      { of: "CreateChannel", name, nonce: String(10 + below(1 + at / 4)) },
      { of: "ListMembers", channelId },
      { of: "ListChannels", name },
      {
        of: "LeaveChannel",
        channelId,
        seat: (directory.channels[channelId]?.seat ?? 1) - (below(4) === 0 ? 1 : 0),
      },
      { of: "CloseChannel", channelId },
    ];
    const request = all[below(all.length)] ?? all[0];
    if (request === undefined) {
      continue;
    }
    const expected = await core.call(request);
    const found: Reply = callDirectory(directory, request);
    const isMade = "of" in found && found.of === "CreateChannel" && !found.isRepeated;
    const said = isMade
      ? { ...found, channelId: await core.made(found.channelId, expected, directory.seats) }
      : found;
    const told = isMade
      ? { of: "CreateChannel", channelId: found.channelId, isRepeated: false }
      : expected;
    assertEquals(said, told, JSON.stringify(request));
    const kind = `${request.of} ${"refused" in found ? found.refused : "done"}`;
    answers.set(kind, (answers.get(kind) ?? 0) + 1);
    if (isClosed || directory.channels[channelId]?.isClosed === true) {
      continue;
    }
    const isStillIn = isMember(directory, channelId);
    const chance = below(6);
    if (chance === 0) {
      await core.letIn(channelId, addAgent(directory, channelId), isStillIn);
    }
    if (chance === 1 && isIn && isStillIn) {
      await core.letOut(channelId);
      removeAgent(directory, channelId);
    }
    if (chance === 2 && below(3) === 0) {
      await core.close(channelId);
      closeChannel(directory, channelId);
    }
  }
  assertEquals([...answers.keys()].sort(), [
    "CloseChannel done",
    "CloseChannel not_allowed",
    "CloseChannel not_found",
    "CreateChannel done",
    "CreateChannel invalid_request",
    "CreateChannel name_taken",
    "LeaveChannel done",
    "LeaveChannel not_found",
    "LeaveChannel state_conflict",
    "ListChannels done",
    "ListMembers done",
    "ListMembers not_found",
  ], "each answer was compared");
});
