/**
 * The relay of letters and the relay's core answer the same 200 calls alike, and deliver the same
 * entries in the same order.
 */
import { assertEquals } from "@std/assert";
import {
  binaryIdToBytes,
  type ChannelId,
  encodeMessageAad,
  foundingEpoch,
  generationOf,
  type NoticeEnvelope,
} from "../../proto/mod.ts";
import { Actor, commitRequest, messageRequest } from "../../relay/core/testing/actors.ts";
import { CallRefused } from "../../relay/core/testing/client.ts";
import { worldTest } from "../../relay/core/testing/scene.ts";
import { settle } from "../../relay/core/testing/simulated_time.ts";
import { foundingRequest } from "../support/founding.ts";
import { createPrivateMessage } from "../support/mod.ts";
import {
  callRelay,
  connect,
  newRelay,
  type Note,
  type Reply,
  type Request,
} from "./relay_of_letters.ts";

type Name = "alice" | "bob" | "carol";
const names: readonly Name[] = ["alice", "bob", "carol"];
const calls = 200;

/** The same numbers each time. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

class Core {
  readonly #actors: Readonly<Record<Name, Actor>>;
  readonly #channelId: ChannelId;
  /** Commits as they were sent, by their letters. */
  readonly #commits = new Map<string, ReturnType<typeof commitRequest>>();

  constructor(actors: Readonly<Record<Name, Actor>>, channelId: ChannelId) {
    this.#actors = actors;
    this.#channelId = channelId;
  }

  /** Returns the answer, as far as letters have it. */
  async call(name: Name, request: Request): Promise<unknown> {
    try {
      return await this.#call(name, request);
    } catch (error) {
      if (!(error instanceof CallRefused)) throw error;
      return { refused: error.body.code };
    }
  }

  async #call(name: Name, request: Request): Promise<unknown> {
    const { client, agent } = this.#actors[name];
    const channelId = this.#channelId;
    switch (request.op) {
      case "Subscribe": {
        const { tag, after } = request;
        const at = after === undefined ? {} : { after };
        const { log: _, ...reply } = await client.call("Subscribe", {
          channelId,
          windowBytes: 1 << 20,
          tag,
          ...at,
        });
        const { sent, ...rest } = reply;
        return {
          ...rest,
          ...(sent && { sent: { ...sent, commitHash: sent.commitHash !== undefined } }),
        };
      }
      case "Acknowledge": {
        const { consumed } = request;
        return await client.call("Acknowledge", { channelId, consumed, received: consumed });
      }
      case "FindCommit": {
        const { epoch, commit } = await client.call("FindCommit", {
          channelId,
          epoch: request.epoch,
          generation: generationOf(request.epoch),
        });
        return { epoch, ...(commit && { commit: commit.sequence }) };
      }
      case "ReadOwn": {
        const { message, commit } = await client.call("ReadOwn", {
          channelId,
          sequence: request.sequence,
        });
        return { epoch: (message ?? commit)?.epoch };
      }
      case "SendMessage": {
        const { epoch, counter, keyNumber, id } = request;
        const body = messageRequest(channelId, epoch, Number(id));
        const authenticatedData = encodeMessageAad({
          messageId: body.messageId,
          counter,
          keyNumber,
        });
        const groupId = binaryIdToBytes(channelId);
        const content = {
          contentType: 1,
          authenticatedData,
          ciphertext: new Uint8Array(40).fill(Number(id)),
        };
        const ciphertext = createPrivateMessage({ groupId, epoch, ...content });
        const { sequence, duplicate } = await client.call("SendMessage", { ...body, ciphertext });
        return { sequence, duplicate };
      }
      case "SendCommit": {
        const { epoch, hash, added = [], removed = [], author = name } = request;
        // cast: a name of this test
        const { agent: sender } = this.#actors[author as Name];
        const change = {
          added: added.map((each) => this.#id(each)),
          removed: removed.map((each) => this.#id(each)),
        };
        const body = this.#commits.get(hash) ??
          commitRequest(channelId, epoch, { sender, salt: this.#commits.size }, change);
        this.#commits.set(hash, body);
        const isOwn = author === name;
        const { sequence, epoch: next, duplicate } = await client.call("SendCommit", {
          ...body,
          ...(!isOwn && { author: { signatureKey: sender.publicKey, identity: sender.identity } }),
        });
        return { sequence, epoch: next, duplicate };
      }
      case "RequestRejoin":
        await client.call("RequestRejoin", this.#actors[name].rejoin(channelId));
        return { isAsked: true };
      case "FoundGeneration": {
        const bad = this.#commits.get(request.bad);
        if (bad === undefined) return { refused: "invalid_request" };
        const members = request.members.map((each) => this.#id(each));
        // cast: a name of this test
        const blamed = this.#actors[request.blamed as Name].agent;
        const body = foundingRequest({ channelId, founder: agent, bad, blamed, members });
        const { sequence, epoch, duplicate } = await client.call("FoundGeneration", body);
        return { sequence, epoch, duplicate };
      }
    }
  }

  #id(name: string): Actor["agentId"] {
    // cast: a name of this test
    return this.#actors[name as Name].agentId;
  }

  /** The log as it was delivered. */
  delivered(name: Name): unknown[] {
    return this.#actors[name].client.notices.flatMap(deliveredOf);
  }
}

function deliveredOf({ operation, body }: NoticeEnvelope): unknown[] {
  switch (operation) {
    case "DeliverStart":
      return [["start", body.tag, body.after]];
    case "DeliverMessage":
    case "DeliverCommit":
    case "DeliverFounding":
      return [[operation.slice("Deliver".length).toLowerCase(), body.sequence]];
    case "DeliverChannelEnd":
      return [["end", body.reason]];
    default:
      return [];
  }
}

function notesOf(note: Note): unknown[] {
  switch (note.type) {
    case "start":
      return [["start", note.tag, note.after]];
    case "entry":
      return [[note.entry.kind, note.entry.sequence]];
    case "end":
      return [["end", note.reason]];
    default:
      return [];
  }
}

/** An answer of letters in the words of the core's. */
function plain(request: Request, reply: Reply | { readonly refused: string }): unknown {
  if ("refused" in reply) return { refused: reply.refused };
  if ("log" in reply) {
    const { log: _, sent, ...rest } = reply;
    return {
      ...rest,
      ...(sent && { sent: { ...sent, commitHash: sent.commitHash !== undefined } }),
    };
  }
  if (request.op === "FindCommit" && "epoch" in reply && "commit" in reply) {
    return { epoch: reply.epoch, ...(reply.commit && { commit: reply.commit.sequence }) };
  }
  return request.op === "ReadOwn"
    ? { epoch: "entry" in reply ? reply.entry?.epoch : undefined }
    : reply;
}

worldTest("the relay of letters answers 200 calls as the relay's core does", async (world) => {
  const [alice, bob, carol] = [
    await Actor.connect(world, 1),
    await Actor.connect(world, 2),
    await Actor.connect(world, 3),
  ];
  const core = new Core({ alice, bob, carol }, await alice.createChannel());
  const relay = newRelay("alice");
  for (const name of names) connect(relay, name, 1);
  const below = random(47);
  const sent: string[] = [];
  const both = async (name: Name, request: Request): Promise<void> => {
    const expected = await core.call(name, request);
    await settle();
    const found = plain(request, callRelay(relay, name, request));
    assertEquals(found, expected, `${name}: ${JSON.stringify(request)}`);
  };
  await both("alice", { op: "SendCommit", epoch: 0, hash: "first", added: ["bob"] });
  await both("bob", { op: "Acknowledge", consumed: 1 });
  for (let at = 2; at < calls; at++) {
    const name = names[below(names.length)] ?? "alice";
    const head = relay.entries.length;
    const epoch = relay.epoch - (below(6) === 0 ? 1 : 0);
    switch (below(7)) {
      case 0:
        await both(name, {
          op: "Subscribe",
          tag: at,
          ...(below(2) === 0 && { after: below(head + 2) }),
        });
        break;
      case 1:
        await both(name, { op: "Acknowledge", consumed: below(head + 2) });
        break;
      case 2:
        await both(name, { op: "FindCommit", epoch: below(relay.epoch + 1) });
        break;
      case 3:
        await both(name, { op: "ReadOwn", sequence: 1 + below(head + 1) });
        break;
      case 4:
        await both(name, {
          op: "SendMessage",
          epoch,
          id: String(at),
          counter: at,
          keyNumber: 1 + below(9),
        });
        break;
      case 5: {
        const isIn = relay.members.carol !== undefined;
        const hash = below(4) === 0 ? sent[below(sent.length)] : undefined;
        const change = isIn ? { removed: ["carol"] } : { added: ["carol"] };
        const isChange = name !== "carol" && below(2) === 0 && hash === undefined;
        const made = hash ?? `commit ${at}`;
        if (hash === undefined) sent.push(made);
        if (hash === undefined) {
          await both(name, { op: "SendCommit", epoch, hash: made, ...(isChange && change) });
        }
        break;
      }
      case 6:
        await both(name, { op: "FindCommit", epoch: relay.epoch + below(2) });
    }
  }
  await both("bob", { op: "RequestRejoin", generation: 0, leaf: "" });
  const putBack = {
    op: "SendCommit",
    epoch: relay.epoch,
    hash: "put back",
    author: "alice",
  } as const;
  for (const name of ["bob", "carol", "bob"] as const) await both(name, putBack);
  await both("bob", { op: "SendCommit", epoch: relay.epoch, hash: "bad" });
  const baseEpoch = relay.epoch - 1;
  const members = Object.keys(relay.members).filter((member) => member !== "bob");
  const founding = { generation: 1, baseEpoch, bad: "bad", blamed: "bob", members };
  await both("bob", { op: "FoundGeneration", hash: "founding", ...founding, blamed: "alice" });
  await both("alice", { op: "FoundGeneration", hash: "founding", ...founding });
  await both("alice", { op: "FoundGeneration", hash: "founding", ...founding });
  await both("alice", { op: "FindCommit", epoch: foundingEpoch(1) });
  // When a former member is forgotten that was told is for the core to say.
  await both("alice", { op: "Subscribe", tag: calls });
  await both("carol", { op: "Subscribe", tag: calls });
  await both("bob", { op: "SendCommit", epoch: relay.epoch, hash: "late" });
  for (const name of names) {
    assertEquals(
      relay.sessions[name]?.pipe.flatMap(notesOf),
      core.delivered(name),
      `delivered to ${name}`,
    );
  }
});
