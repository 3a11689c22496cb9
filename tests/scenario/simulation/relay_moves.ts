/**
 * Attacks of a relay that lies, alone or for a hostile member: it changes one player's deliveries,
 * or the replies to its calls.
 */
import {
  binaryIdFromBytes,
  type CallName,
  type JoinRequestId,
  type NoticeEnvelope,
  type NoticeName,
  type RequestBody,
} from "../../../proto/mod.ts";
import { createError, errorFromRelay } from "../../../sdk/testing/agents.ts";
import type { Random } from "../../support/mod.ts";
import { usurp } from "./member_moves.ts";
import type { MoveKind, MoveTable } from "./moves.ts";
import type { Play } from "./play.ts";
import type { Forward, Player } from "./player.ts";

const entries: readonly NoticeName[] = [
  "DeliverMessage",
  "DeliverCommit",
  "DeliverLeave",
  "DeliverLapse",
];
const requests: readonly NoticeName[] = [
  "DeliverWelcome",
  "DeliverRejoinRequest",
  "DeliverJoinRequest",
  "DeliverLeaf",
  "DeliverStart",
];

type Act = (play: Play, random: Random, victim: Player) => string | undefined;

function against(weight: number, act: Act): MoveKind {
  return {
    weight,
    run: (play, random) => {
      const victim = play.pick(random, play.inside({ honest: true }));
      const what = victim && act(play, random, victim);
      return what && `to ${victim?.label} the relay ${what}`;
    },
  };
}

/** The next notices of some kind become something else. */
function changing(
  weight: number,
  what: string,
  kinds: readonly NoticeName[],
  change: (
    play: Play,
    random: Random,
    victim: Player,
  ) => (notice: NoticeEnvelope) => readonly NoticeEnvelope[],
): MoveKind {
  return against(weight, (play, random, victim) => {
    const kind = random.pick(kinds);
    const uses = 1 + random.below(3);
    const make = change(play, random, victim);
    play.wire.add("relay", victim, {
      uses,
      notice: (notice) => notice.operation === kind ? make(notice) : undefined,
    });
    return `${what} the next ${uses} ${kind}`;
  });
}

/** The next calls of some kind are answered otherwise. */
function answering(
  weight: number,
  what: string,
  operations: readonly CallName[],
  answer: (
    random: Random,
    operation: CallName,
  ) => (forward: Forward, body: unknown) => Promise<unknown>,
): MoveKind {
  return against(weight, (play, random, victim) => {
    const wanted = random.pick(operations);
    const uses = 1 + random.below(3);
    const make = answer(random, wanted);
    play.wire.add("relay", victim, {
      uses,
      call: (operation, body, forward) => operation === wanted ? make(forward, body) : undefined,
    });
    return `${what} the next ${uses} ${wanted}`;
  });
}

/** The same notice, or reply, with other fields. */
function altered<T>(given: T, fields: Record<string, unknown>): T {
  return { ...given, ...fields };
}

function alteredNotice(notice: NoticeEnvelope, fields: Record<string, unknown>): NoticeEnvelope {
  // cast: the fields are of its kind
  return { ...notice, body: altered<unknown>(notice.body, fields) } as NoticeEnvelope;
}

function flipped(bytes: Uint8Array, random: Random): Uint8Array {
  const changed = bytes.slice();
  const at = random.below(bytes.length);
  changed[at] = (changed[at] ?? 0) ^ (1 << random.below(8));
  return changed;
}

function numberNear(random: Random, value: unknown): number {
  const base = typeof value === "number" ? value : 0;
  return Math.max(0, base + random.pick([-2, -1, 1, 2, 50]));
}

function fieldsFor(notice: NoticeEnvelope, play: Play, random: Random): Record<string, unknown> {
  const agentId = random.pick(play.players).agentId;
  const some = play.players.filter(() => random.chance(0.3)).map((player) => player.agentId);
  // cast: those that have them
  const { sequence, epoch } = notice.body as { sequence?: number; epoch?: number };
  const common = [
    { sequence: numberNear(random, sequence) },
    { epoch: numberNear(random, epoch) },
    {
      sender: agentId,
    },
  ];
  switch (notice.operation) {
    case "DeliverMessage":
      return random.pick([...common, { ciphertext: flipped(notice.body.ciphertext, random) }]);
    case "DeliverCommit":
      return random.pick([
        ...common,
        { commit: flipped(notice.body.commit, random) },
        { added: some },
        { removed: some },
        { owners: { agentIds: some } },
        { owners: undefined },
        { signature: undefined },
        { signature: random.bytes(64) },
      ]);
    case "DeliverWelcome":
      return random.pick([...common, { welcome: flipped(notice.body.welcome, random) }, {
        joinedSequence: numberNear(random, notice.body.joinedSequence),
      }]);
    case "DeliverLeave":
      return random.pick([...common, { signature: random.bytes(64) }, {
        leafHash: random.bytes(32),
      }]);
    case "DeliverRejoinRequest":
      return random.pick([{ agentId }, { signature: random.bytes(64) }, {
        leafHash: random.bytes(32),
      }]);
    default:
      return random.pick(common);
  }
}

const refusals = [
  "not_found",
  "not_allowed",
  "epoch_conflict",
  "rate_limited",
  "internal",
  "cursor_invalid",
  "membership_lapsed",
  "invalid_request",
] as const;

export const relayMoves: MoveTable = {
  drop: changing(6, "keeps back", [...entries, ...requests], () => () => []),
  delay: changing(6, "delays", [...entries, ...requests], (play, random, victim) => {
    const ms = random.pick([10, 500, 5_000, 30_000]);
    const { session } = victim.actor;
    return (notice) => {
      play.stage.runtime.after(ms, () => play.wire.show(session, victim, notice));
      return [];
    };
  }),
  reorder: changing(4, "swaps", entries, () => {
    let held: NoticeEnvelope | undefined;
    return (notice) => {
      const told = held === undefined ? [] : [notice, held];
      held = held === undefined ? notice : undefined;
      return told;
    };
  }),
  duplicate: changing(4, "repeats", [...entries, ...requests], () => (notice) => [notice, notice]),
  alter: changing(
    10,
    "alters",
    [
      "DeliverMessage",
      "DeliverCommit",
      "DeliverCommit",
      "DeliverLeave",
      "DeliverWelcome",
      "DeliverRejoinRequest",
    ],
    (play, random) => (notice) => [alteredNotice(notice, fieldsFor(notice, play, random))],
  ),
  replay: against(6, (play, random, victim) => {
    const { notice } = play.pick(random, play.wire.history) ?? {};
    if (notice === undefined) return;
    const fields = random.chance(0.5) ? fieldsFor(notice, play, random) : {};
    play.wire.inject(victim, alteredNotice(notice, fields));
    return `replays ${notice.operation} with ${Object.keys(fields).join() || "nothing"} changed`;
  }),
  withhold: against(5, (play, random, victim) => {
    const ms = random.pick([1_000, 20_000, 120_000]);
    play.wire.add("relay", victim, {
      uses: Infinity,
      untilMs: play.nowMs + ms,
      notice: ({ operation }) => operation === "DeliverCommit" ? [] : undefined,
    });
    return `keeps back all commits for ${ms} ms`;
  }),
  falseLapse: against(3, (play, random, victim) => {
    const { channelId } = play;
    const agentId = random.pick(play.players).agentId;
    const sequence = sequenceNear(play, random, victim);
    const body = { channelId, sequence, epoch: play.truth.epoch, agentId, timeMs: play.nowMs };
    play.wire.inject(victim, { kind: "notice", operation: "DeliverLapse", body });
    return `says that ${agentId} has lapsed`;
  }),
  falseEnd: against(2, (play, random, victim) => {
    const { channelId } = play;
    const reason = random.pick(["closed", "removed", "left", "lapsed"] as const);
    const body = {
      channelId,
      sequence: sequenceNear(play, random, victim),
      timeMs: play.nowMs,
      reason,
    };
    play.wire.inject(victim, { kind: "notice", operation: "DeliverChannelEnd", body });
    return `says that the channel is over: ${reason}`;
  }),
  falseGap: against(2, (play, random, victim) => {
    const { channelId } = play;
    const firstSequence = sequenceNear(play, random, victim);
    const body = {
      channelId,
      firstSequence,
      lastSequence: firstSequence + 3,
      messages: 2,
      reason: "age" as const,
    };
    play.wire.inject(victim, { kind: "notice", operation: "DeliverGap", body });
    return "says that it gave up messages";
  }),
  ghost: against(8, (play, random, victim) => {
    const stashed = play.pick(random, play.stash);
    if (stashed === undefined || victim.channel === undefined) return;
    const { sender, text, body } = stashed;
    const knows = victim.channel.members().some(({ agentId }) => agentId === sender.agentId);
    const sequence = sequenceNear(play, random, victim);
    const isOver = !knows && play.wire.hasReadRemoval(victim, sender.agentId, sequence);
    if (isOver && !victim.given.has(text)) victim.forbidden.add(text);
    else victim.given.add(text);
    const epoch = random.pick([body.epoch, play.truth.epoch]);
    play.wire.inject(victim, {
      kind: "notice",
      operation: "DeliverMessage",
      body: { ...body, sequence, epoch, sender: sender.agentId, timeMs: play.nowMs },
    });
    return `inserts "${text}" of ${sender.label}${knows ? "" : ", who is out"}`;
  }),
  usurp: against(4, (play, random, victim) => {
    const liar = play.pick(random, play.inside({ honest: false }));
    if (liar === undefined) return;
    play.wire.add("relay", victim, {
      uses: 1 + random.below(3),
      call: (operation, body, forward) =>
        operation === "RequestRejoin" ? showUsurper(liar, body, forward) : undefined,
    });
    // So that it has to come back soon.
    const untilMs = play.nowMs + 20_000;
    const notice = ({ operation }: NoticeEnvelope): [] | undefined =>
      operation === "DeliverCommit" ? [] : undefined;
    play.wire.add("relay", victim, { uses: Infinity, untilMs, notice });
    return `keeps back all commits for 20 s, and gives its requests to come back to ${liar.label} alone`;

    async function showUsurper(by: Player, body: unknown, forward: Forward): Promise<unknown> {
      // cast: of this operation
      const { keyPackage, channelId } = body as RequestBody<"RequestRejoin">;
      const welcome = await usurp(by, victim.agentId, keyPackage);
      if (welcome === undefined) return await forward();
      const { epoch, name } = await by.actor.inside();
      const sequence = sequenceNear(play, random, victim);
      const common = {
        channelId,
        sequence,
        joinedSequence: sequence,
        epoch: epoch + 1,
        generation: 0,
      };
      const delivered = { ...common, sender: by.agentId, timeMs: play.nowMs, welcome, name };
      const told: NoticeEnvelope = { kind: "notice", operation: "DeliverWelcome", body: delivered };
      play.stage.runtime.after(1, () => play.wire.inject(victim, told));
      const requestId = binaryIdFromBytes<JoinRequestId>(random.bytes(16));
      return { requestId, expiresAtMs: play.nowMs + 60_000 };
    }
  }),
  claim: answering(
    5,
    "lies in its answer to",
    ["Subscribe", "FindCommit", "ListMembers"],
    (random, operation) => async (forward) => {
      const reply = await forward();
      // cast: of one of these operations
      const told = reply as Record<string, unknown>;
      if (operation === "ListMembers") return altered(told, { members: [] });
      const field = random.pick(
        Object.keys(told).filter((key) => typeof told[key] === "number" || key === "commit"),
      );
      if (field !== "commit") return altered(told, { [field]: numberNear(random, told[field]) });
      return altered(told, { commit: undefined });
    },
  ),
  swallow: answering(
    3,
    "takes and forgets",
    ["SendCommit", "SendMessage"],
    (random) => (forward, body) => {
      // cast: one of the two has them
      const { epoch, owners } = body as { epoch: number; owners?: unknown };
      // Its sender would know a later version of the owners than anybody else, and stay out.
      if (owners !== undefined) return forward();
      return Promise.resolve({
        sequence: random.pick([1, 20, 500]),
        epoch: epoch + 1,
        commitHash: random.bytes(32),
        timeMs: 0,
        duplicate: false,
      });
    },
  ),
  deny: answering(
    3,
    "denies having taken",
    ["SendCommit", "SendMessage"],
    (random) => async (forward) => {
      await forward();
      if (random.chance(0.5)) throw createError("transport_error", "The connection was lost");
      throw errorFromRelay({ code: "epoch_conflict", message: "no", epoch: random.below(20) });
    },
  ),
  refuse: answering(
    4,
    "refuses",
    [
      "Subscribe",
      "SendCommit",
      "SendMessage",
      "FindCommit",
      "RequestRejoin",
      "RequestJoin",
      "ListMembers",
    ],
    (random) => {
      const code = random.pick(refusals);
      return () => Promise.reject(errorFromRelay({ code, message: "The relay does not want to" }));
    },
  ),
};

/** Around the end of the log, as far as the victim was told, or far beyond it. */
function sequenceNear(play: Play, random: Random, victim: Player): number {
  const last = play.wire.history.findLast(({ player, notice }) =>
    player === victim && "sequence" in notice.body
  );
  const at = last !== undefined && "sequence" in last.notice.body ? last.notice.body.sequence : 0;
  return Math.max(1, at + random.pick([-1, 0, 1, 1, 2, 5, 1000]));
}
