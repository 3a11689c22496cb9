/**
 * Attacks of members with a modified client that own nothing: all that their keys and the relay's
 * operations allow, but commits.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import {
  type AgentId,
  leaveStatement,
  rejoinStatement,
  type RequestBody,
} from "../../../proto/mod.ts";
import { type Inside, MlsFault } from "../../../sdk/testing/agents.ts";
import { HostileMember } from "../../../sdk/testing/hostile_member.ts";
import { createKeyPackage, createWelcome, type Random } from "../../support/mod.ts";
import { name } from "../../support/scenario/stage.ts";
import type { MoveKind, MoveTable } from "./moves.ts";
import type { Play } from "./play.ts";
import type { Player } from "./player.ts";

type Act = (
  play: Play,
  random: Random,
  by: Player,
) => Promise<string | undefined> | string | undefined;

/** For a hostile player that is in the channel. */
function hostile(weight: number, act: Act): MoveKind {
  return {
    weight,
    run: async (play, random) => {
      const by = play.pick(random, play.inside({ honest: false }));
      try {
        return by && await act(play, random, by);
      } catch (error) {
        // Its removal may arrive while it makes something.
        if (error instanceof MlsFault) return `${by?.label} has no keys any more`;
        throw error;
      }
    },
  };
}

/** Sends in the background what is made now, one after the other. */
async function send(
  play: Play,
  by: Player,
  make: (member: HostileMember) => Promise<Message[]>,
): Promise<void> {
  const member = await HostileMember.of(by.actor.agent, name);
  const messages = await play.stage.finish("messages are sealed", make(member));
  for (const message of messages) play.background(`${by.label} sends`, member.send(message));
}

type Message = RequestBody<"SendMessage">;

async function leafHashOf(by: Player): Promise<Uint8Array> {
  const { tree, ownLeaf } = (await by.actor.inside()).group.current;
  return sha256(tree.leaf(ownLeaf)?.encoded ?? new Uint8Array(0));
}

/**
 * A Welcome by a member that calls itself the owner; undefined when that one has no keys to make it
 * with.
 */
export async function usurp(
  by: Player,
  victim: AgentId,
  keyPackage: Uint8Array,
): Promise<Uint8Array | undefined> {
  if (!by.isIn) return undefined;
  const member = await HostileMember.of(by.actor.agent, name);
  try {
    return member.usurp(victim, keyPackage);
  } catch {
    return undefined;
  }
}

export const memberMoves: MoveTable = {
  garbage: hostile(6, async (play, random, by) => {
    const count = 1 + random.below(6);
    const first = random.below(40);
    await send(play, by, async (member) => {
      const messages: Message[] = [];
      for (let made = 0; made < count; made++) messages.push(await member.garbage(first + made));
      return messages;
    });
    return `${by.label} sends ${count} messages that nobody can open`;
  }),
  forge: hostile(4, async (play, random, by) => {
    const claims = Array.from({ length: 1 + random.below(4) }, () => ({
      leafIndex: random.below(6),
      generation: random.pick([0, 1, 5, 900, 5000, 2 ** 31]),
    }));
    await send(play, by, (member) => Promise.resolve(claims.map((claim) => member.forged(claim))));
    return `${by.label} forges ${JSON.stringify(claims)}`;
  }),
  jump: hostile(4, async (play, random, by) => {
    const counters = Array.from(
      { length: 1 + random.below(3) },
      () => random.pick([1, 2, 3, 50, 10_000]),
    );
    await send(
      play,
      by,
      (member) =>
        Promise.all(
          counters.map((counter) => member.counted(counter, play.truth.seal(by.agentId, false))),
        ),
    );
    return `${by.label} counts ${counters}`;
  }),
  speak: hostile(3, (play, _, by) => {
    const text = play.truth.seal(by.agentId, false);
    play.background(`${by.label} says "${text}"`, by.actor.manager.send(name, text));
    return `${by.label} says "${text}"`;
  }),
  stash: hostile(4, async (play, random, by) => {
    const member = await HostileMember.of(by.actor.agent, name);
    const text = play.truth.seal(by.agentId, false);
    const counter = random.pick([1, 2, 3, 10]);
    const body = await play.stage.finish("it is sealed", member.counted(counter, text));
    play.stash.push({ sender: by, text, body });
    return `${by.label} keeps "${text}" with counter ${counter} for later`;
  }),
  voidLeave: hostile(3, async (play, random, by) => {
    const leafHash = random.chance(0.5) ? random.bytes(32) : await leafHashOf(by);
    const { channelId } = await by.actor.inside();
    const signature = by.actor.sign(leaveStatement({ channelId, agentId: by.agentId, leafHash }));
    const { session } = by.actor;
    play.background(
      `${by.label} leaves`,
      session.call("LeaveChannel", { channelId, leafHash, signature }),
    );
    return `${by.label} says that it leaves, and stays`;
  }),
  ownRejoin: hostile(3, async (play, random, by) => {
    const { channelId, epoch } = await by.actor.inside();
    const leafHash = random.chance(0.5) ? random.bytes(32) : await leafHashOf(by);
    const keyPackage = await play.stage.finish(
      "a KeyPackage is made",
      by.actor.client.generateKeyPackage(),
    );
    const { agentId } = by;
    const statement = rejoinStatement({
      channelId,
      agentId,
      leafHash,
      keyPackageHash: sha256(keyPackage),
    });
    const body = {
      channelId,
      keyPackage,
      leafHash,
      epoch,
      signature: by.actor.sign(statement),
      generation: 0,
    };
    play.background(`${by.label} asks to rejoin`, by.actor.session.call("RequestRejoin", body));
    return `${by.label} asks to rejoin without need`;
  }),
  badWelcomes: hostile(3, (play, random, by) => {
    const uses = 1 + random.below(4);
    const garbage = random.bytes(200);
    play.wire.add("client", by, {
      uses,
      call: (operation, body, forward) => {
        if (operation !== "SendCommit") return undefined;
        const commit = body as RequestBody<"SendCommit">; // cast: of this operation
        if (commit.welcomes.length === 0) return undefined;
        const welcomes = commit.welcomes.map((each) => ({
          ...each,
          welcome: spoiled(each.welcome, garbage),
        }));
        return forward({ ...commit, welcomes });
      },
    });
    return `${by.label} spoils the next ${uses} Welcomes that it makes`;
  }),
  otherWelcome: hostile(3, async (play, random, by) => {
    const inside = await by.actor.inside();
    const uses = 1 + random.below(3);
    const isRejoin = random.chance(0.7);
    const other = answerByOther(inside, isRejoin, uses);
    play.wire.add("client", by, {
      uses: Infinity,
      call: (operation, body, forward) => {
        const welcome = operation === "SendCommit" ? other.take() : undefined;
        if (welcome === undefined) return undefined;
        // Its receivers are in another group than the log's until they find out.
        play.hasLostState = true;
        const commit = body as RequestBody<"SendCommit">; // cast: of this operation
        return forward({
          ...commit,
          welcomes: commit.welcomes.map(({ recipients }) => ({ recipients, welcome })),
        });
      },
    });
    return `${by.label} answers ${uses} ${
      isRejoin ? "that come back" : "that join"
    } with the Welcome of another commit`;
  }),
  usurp: hostile(3, (play, _, by) => {
    const asked = new Map<AgentId, Uint8Array>();
    play.wire.add("client", by, {
      uses: Infinity,
      notice: ({ operation, body }) => {
        if (operation === "DeliverRejoinRequest") asked.set(body.agentId, body.keyPackage);
        return undefined;
      },
      call: (operation, body, forward) => {
        if (operation !== "SendCommit") return undefined;
        const commit = body as RequestBody<"SendCommit">; // cast: of this operation
        const victim = commit.removed.find((agentId) => commit.added.includes(agentId));
        const keyPackage = victim && asked.get(victim);
        if (victim === undefined || keyPackage === undefined) return undefined;
        return usurp(by, victim, keyPackage).then((welcome) =>
          forward(welcome && { ...commit, welcomes: [{ recipients: [victim], welcome }] })
        );
      },
    });
    return `${by.label} calls itself an owner to all that come back by it`;
  }),
  refuse: hostile(2, (play, _, by) => {
    const ignored = ["DeliverRejoinRequest", "DeliverJoinRequest", "DeliverLeave"];
    play.wire.add("client", by, {
      uses: Infinity,
      notice: ({ operation }) => ignored.includes(operation) ? [] : undefined,
    });
    return `${by.label} answers nobody any more`;
  }),
  falseLeaf: hostile(2, (play, random, by) => {
    const garbage = random.bytes(300);
    play.wire.add("client", by, {
      uses: 5,
      notice: (notice) => {
        if (notice.operation !== "DeliverRejoinRequest") return undefined;
        const { channelId, requestId } = notice.body;
        const body = { channelId, requestId, leafIndex: random.below(6), leafNode: garbage };
        play.background(`${by.label} sends a leaf`, by.actor.session.call("SendLeaf", body));
        return [];
      },
    });
    return `${by.label} tells askers another leaf than theirs`;
  }),
  keepLeaves: hostile(3, async (play, _, by) => {
    const { tree } = (await by.actor.inside()).group.current;
    for (const [leafIndex, { agentId, encoded: leafNode }] of tree.leaves()) {
      play.oldLeaves.push({ agentId, leafIndex, leafNode });
    }
    return `${by.label} keeps everybody's leaves for later`;
  }),
  oldLeaf: hostile(3, (play, _, by) => {
    let told = 0;
    play.wire.add("client", by, {
      uses: 20,
      notice: (notice) => {
        if (notice.operation !== "DeliverRejoinRequest") return undefined;
        const { channelId, requestId, agentId } = notice.body;
        const known = play.oldLeaves.filter((leaf) => leaf.agentId === agentId);
        const leaf = known[told++ % Math.max(1, known.length)];
        if (leaf === undefined) return [];
        const { leafIndex, leafNode } = leaf;
        const body = { channelId, requestId, leafIndex, leafNode };
        play.background(`${by.label} sends an old leaf`, by.actor.session.call("SendLeaf", body));
        return [];
      },
    });
    return `${by.label} tells askers leaves that they had before`;
  }),
  badRequest: hostile(2, async (play, random, by) => {
    const { channelId, epoch, group: { current: { tree } } } = await by.actor.inside();
    const leafKey = tree.leaf(0)?.node.hpkePublicKey ?? new Uint8Array(32);
    const [notBeforeMs, notAfterMs] = [
      play.nowMs - 1000,
      play.nowMs + random.pick([1_000, 600_000]),
    ];
    const identity = new TextEncoder().encode(by.label);
    const keyPackage = createKeyPackage({
      secretKey: by.actor.secretKey,
      identity,
      notBeforeMs,
      notAfterMs,
      leafKey,
    });
    const [leafHash, { agentId }] = [await leafHashOf(by), by];
    const statement = rejoinStatement({
      channelId,
      agentId,
      leafHash,
      keyPackageHash: sha256(keyPackage),
    });
    const body = {
      channelId,
      keyPackage,
      leafHash,
      epoch,
      generation: 0,
      signature: by.actor.sign(statement),
    };
    play.background(`${by.label} asks to rejoin`, by.actor.session.call("RequestRejoin", body));
    return `${by.label} asks to rejoin with another's encryption key`;
  }),
  strayWelcome: hostile(2, async (play, random, by) => {
    const { channelId, epoch } = await by.actor.inside();
    const target = random.pick(play.players);
    const body = { channelId, epoch, recipients: [target.agentId], welcome: createWelcome(1, 200) };
    play.background(`${by.label} sends a Welcome`, by.actor.session.call("SendWelcome", body));
    return `${by.label} sends ${target.label} a Welcome that is none`;
  }),
  invite: hostile(3, (play, random, by) => {
    const isGuest = ({ isIn, joining }: Player): boolean => !isIn && !joining;
    const guest = play.pick(random, play.players.filter(isGuest));
    if (guest === undefined) return;
    play.background(`${guest.label} joins`, guest.joins(play.truth, play.join(guest, by)));
    return `${guest.label} joins by ${by.label}`;
  }),
};

/**
 * Each of the next commits that let somebody in is made twice, and the other one's Welcome kept.
 */
function answerByOther(
  inside: Inside,
  isRejoin: boolean,
  uses: number,
): { readonly take: () => Uint8Array | undefined } {
  let [other, left]: [Uint8Array | undefined, number] = [undefined, uses];
  inside.replacePrepare((change, prepare) => {
    const { add = [], rejoins = [] } = change;
    const isWanted = left > 0 && add.length > 0 && (rejoins.length > 0) === isRejoin;
    if (isWanted) left--;
    other = isWanted ? prepare(change).welcome : undefined;
    return prepare(change);
  });
  const take = (): Uint8Array | undefined => {
    const taken = other;
    other = undefined;
    return taken;
  };
  return { take };
}

/**
 * Of use to nobody, and yet a Welcome for the same recipient to all that only look at its outside.
 */
function spoiled(welcome: Uint8Array, garbage: Uint8Array): Uint8Array {
  const changed = welcome.slice();
  for (let at = Math.floor(welcome.length / 2); at < welcome.length; at++) {
    changed[at] = (changed[at] ?? 0) ^ (garbage[at % garbage.length] ?? 0);
  }
  return changed;
}
