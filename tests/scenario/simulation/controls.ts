/**
 * Faults that are planted in honest agents and in an honest relay, to see that the ledger finds
 * them: each of them is one that the service has had, or that an attack would come down to.
 */
import { equalBytes, type NoticeBody, type NoticeEnvelope } from "../../../proto/mod.ts";
import { decodeKeyPackageMessage, type Signatures } from "../../../sdk/testing/agents.ts";
import type { SignedBytes } from "../../../wasm/mod.ts";
import { badgesEveryMs, type Play } from "./play.ts";
import type { Player } from "./player.ts";

export interface Control {
  /** The moves under which the fault shows. */
  readonly moves: readonly string[];
  readonly guests?: readonly string[];
  readonly badges?: boolean;
  /** The beginning of the ledger's story. */
  readonly story: RegExp;
  readonly plant: (play: Play) => Promise<void> | void;
}

export const controls: Readonly<Record<string, Control>> = {
  "lapses remove": {
    moves: ["lapse"],
    story: /^alice removes (bob|carol) in epoch \d+, and nobody asked for that$/,
    plant: (play) =>
      hear(play, play.founder, "DeliverLapse", ({ agentId }) => void removeUnasked(play, agentId)),
  },
  "a removal that nobody asked for": {
    moves: ["say", "say", "wait"],
    story: /^alice removes (bob|carol) in epoch \d+, and nobody asked for that$/,
    plant: (play) =>
      hear(play, play.founder, "DeliverMessage", ({ sender }) => void removeUnasked(play, sender)),
  },
  "one reader sees two messages in another order": {
    moves: ["say", "say", "say", "say", "say", "say"],
    story: /^carol was shown "message \d+" at place \d+, and the log has it at \d+$/,
    plant: (play) => swapMessages(play, play.players.filter(({ label }) => label === "carol")),
  },
  "a thief's copy speaks unnoticed": {
    moves: ["stranger thief"],
    story: /^a thief has spoken as (alice|bob|carol), and nobody is told$/,
    plant: async (play) => {
      for (const { actor } of play.inside({ honest: true })) {
        (await actor.inside()).hideIssues((kind) => tellsOfTheft.has(kind));
      }
    },
  },
  "a guest adds members": {
    moves: ["wait", "wait"],
    guests: ["gina"],
    story: /^gina is a guest, and adds sybil-1 in epoch \d+$/,
    plant: async (play) => {
      for (const { actor, agentId } of play.players.filter(({ comesAsGuest }) => comesAsGuest)) {
        await play.stage.finish(
          "the guest has connected",
          actor.useKey({ account: actor.key.account }),
        );
        const sybil = await play.invent();
        const keyPackage = await play.stage.finish(
          "a KeyPackage",
          sybil.actor.client.generateKeyPackage(),
        );
        play.wills.invites(agentId, sybil.agentId);
        // Its program does not ask whether it may.
        const inside = await actor.inside();
        const change = { add: [decodeKeyPackageMessage(keyPackage)] };
        play.background("a guest adds somebody", inside.commit(() => change));
      }
    },
  },
  "a member judges the times of badges in commits": {
    moves: ["wait"],
    badges: true,
    story: /^bob is blocked: /,
    plant: async (play) => {
      const [bob, carol] = ["bob", "carol"].map((label) =>
        play.players.find((each) => each.label === label)
      );
      if (bob === undefined || carol?.channel === undefined) return;
      const { stage, truth, issuing } = play;
      bob.actor.judging = (signatures) => judgingTimes(signatures, () => play.nowMs);
      await stage.finish("bob is back", bob.restart(truth, "stop"));
      // Nobody else minds that carol's badge is over.
      issuing?.give("carol", carol.agentId, { life: "over", both: false });
      await stage.world.time.advance(badgesEveryMs);
      play.background("carol rotates", carol.channel.rotate());
    },
  },
  "a guest is released, and nobody asked for that": {
    moves: ["wait", "wait"],
    guests: ["gina"],
    story: /^(alice|bob|carol|gina) sees gina as no guest in epoch \d+$/,
    plant: async (play) => {
      const released = play.players.filter(({ comesAsGuest }) => comesAsGuest).map(({ agentId }) =>
        agentId
      );
      const inside = await play.founder.actor.inside();
      play.background("a guest is released", inside.commit(() => ({ released })));
    },
  },
};

/** Kinds of trouble that tell of two copies of one directory. */
export const tellsOfTheft: ReadonlySet<string> = new Set([
  "store_rolled_back",
  "store_unproven",
  "repeated_counter",
]);

/**
 * From now on the player's agent does this with each notice of that kind, beside what it does with
 * it anyway.
 */
function hear<Name extends NoticeEnvelope["operation"]>(
  play: Play,
  player: Player,
  operation: Name,
  act: (body: NoticeBody<Name>) => void,
): void {
  play.wire.add("client", player, {
    uses: Infinity,
    notice: (notice) => {
      // cast: of this operation
      if (notice.operation === operation) act(notice.body as NoticeBody<Name>);
      return undefined;
    },
  });
}

/** A badge counts for this member only while it lasts. */
function judgingTimes(signatures: Signatures, nowMs: () => number): Signatures {
  const label = new TextEncoder().encode("static relay v1 badge");
  const isOver = ({ message }: SignedBytes): boolean => {
    if (!equalBytes(message.subarray(2, 2 + label.length), label)) return false;
    const { buffer, byteOffset, byteLength } = message;
    // The last field, behind the time at which the badge ends, has no attributes here.
    const notAfter = new DataView(buffer, byteOffset).getBigUint64(byteLength - 10);
    return Number(notAfter) * 1000 < nowMs();
  };
  return {
    ...signatures,
    verifyHandshakes: (items) => !items.some(isOver) && signatures.verifyHandshakes(items),
  };
}

async function removeUnasked(
  play: Play,
  agentId: NoticeBody<"DeliverLapse">["agentId"],
): Promise<void> {
  const inside = await play.founder.actor.inside();
  const plan = () => inside.isMember(agentId) ? { remove: [agentId] } : undefined;
  play.background("a removal that nobody asked for", inside.commit(plan));
}

/** Two messages of one epoch that follow each other, of different senders, change their places. */
function swapMessages(play: Play, readers: readonly Player[]): void {
  for (const reader of readers) {
    let held: Extract<NoticeEnvelope, { operation: "DeliverMessage" }> | undefined;
    play.wire.add("client", reader, {
      uses: Infinity,
      notice: (notice) => {
        const first = held;
        held = undefined;
        if (notice.operation !== "DeliverMessage") return first && [first, notice];
        if (first === undefined) {
          held = notice;
          return [];
        }
        const isSwapped = first.body.sender !== notice.body.sender &&
          first.body.epoch === notice.body.epoch;
        if (!isSwapped) return [first, notice];
        const [a, b] = [first.body.sequence, notice.body.sequence];
        return [
          { ...notice, body: { ...notice.body, sequence: a } },
          { ...first, body: { ...first.body, sequence: b } },
        ];
      },
    });
  }
}
