/**
 * A relay's attacks with its log as a whole: it is set back, shows a commit that it does not hold,
 * lies about an agent's sends.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import type { NoticeEnvelope, ReplyBody, RequestBody } from "../../../proto/mod.ts";
import { createError } from "../../../sdk/testing/agents.ts";
import type { Random } from "../../support/mod.ts";
import type { MoveTable } from "./moves.ts";
import type { Play } from "./play.ts";
import type { Player } from "./player.ts";

type Commit = RequestBody<"SendCommit">;
type Sent = NonNullable<ReplyBody<"Subscribe">["sent"]>;

export const logMoves: MoveTable = {
  keepDisk: {
    weight: 3,
    run: (play) => {
      play.kept = play.stage.moment;
      return "the relay's disk is copied";
    },
  },
  setBack: {
    weight: 2,
    run: async (play, random) => {
      const { kept } = play;
      if (kept === undefined) return;
      const isBackup = random.chance(0.5);
      play.wasSetBack = true;
      await play.withoutRelay(() => play.stage.setRelayBack(kept, { isBackup }));
      // Those that were removed later have given up their places rightly.
      for (const player of play.players) player.cameIn = undefined;
      return `the relay is set back to epoch ${play.truth.epoch}${isBackup ? ", and says so" : ""}`;
    },
  },
  showSwallowed: {
    weight: 4,
    run: (play, random) => {
      const [sender, reader] = pickTwo(play, random);
      if (sender === undefined || reader === undefined) return;
      const isTaken = random.chance(0.5);
      play.wire.add("relay", sender, {
        uses: 1,
        call: (operation, body, forward) => {
          if (operation !== "SendCommit") return undefined;
          const commit = body as Commit; // cast: of this operation
          // Its sender would know a later version of the owners than anybody else, and stay out.
          if (commit.owners !== undefined) return forward();
          showInstead(play, reader, { commit, sender });
          if (!isTaken) {
            return Promise.reject(createError("not_allowed", "The relay keeps it for itself"));
          }
          const { epoch } = commit;
          return Promise.resolve({
            sequence: 500,
            epoch: epoch + 1,
            commitHash: sha256(commit.commit),
            timeMs: 0,
          });
        },
      });
      return `the relay keeps the next commit of ${sender.label} for itself and shows it to ${reader.label}`;
    },
  },
  lieAboutSent: {
    weight: 4,
    run: (play, random) => {
      const victim = play.pick(random, play.inside({ honest: true }));
      if (victim === undefined) return;
      const uses = 1 + random.below(2);
      const [field, delta, isShown] = [
        random.pick(fields),
        random.pick([-1, 1, 5]),
        random.chance(0.5),
      ];
      play.wire.add("relay", victim, {
        uses,
        call: (operation, _, forward) => {
          if (operation !== "Subscribe") return undefined;
          return forward().then((reply) => {
            const { sent, ...rest } = reply as ReplyBody<"Subscribe">; // cast: of this operation
            return { ...rest, ...otherSent(sent, { field, delta, random }) };
          });
        },
      });
      if (isShown) showOwnCommits(play, victim, uses);
      play.background("connecting", reconnected(victim));
      const shown = isShown ? ", and shows commits of its own" : "";
      return `the relay lies to ${victim.label} in the ${field} of what it sent last${shown}`;
    },
  },
};

const fields = ["sequence", "epoch", "counter", "commitHash", "all"] as const;

interface Lie {
  readonly field: (typeof fields)[number];
  readonly delta: number;
  readonly random: Random;
}

function otherSent(sent: Sent | undefined, { field, delta, random }: Lie): { sent?: Sent } {
  if (field === "all") return {};
  const known = sent ?? { sequence: 1, epoch: 1, counter: 1 };
  if (field === "commitHash") return { sent: { ...known, commitHash: random.bytes(32) } };
  return { sent: { ...known, [field]: Math.max(0, known[field] + delta) } };
}

/** Shows own commits that the victim does not know to be in the log: a proof of nothing. */
function showOwnCommits(play: Play, victim: Player, uses: number): void {
  play.wire.add("relay", victim, {
    uses,
    call: (operation) => {
      if (operation !== "ReadOwn") return undefined;
      const made = play.wire.sent.get(victim)?.at(-1);
      if (made === undefined) return Promise.resolve({});
      const { channelId: _, welcomes: __, answers: ___, ...commit } = made;
      return Promise.resolve({ commit });
    },
  });
}

async function reconnected({ actor: { session } }: Player): Promise<void> {
  session.disconnect();
  await session.connect();
}

/** The reader is given this commit in the place of the log's next one of that epoch. */
function showInstead(
  play: Play,
  reader: Player,
  { commit, sender }: { readonly commit: Commit; readonly sender: Player },
): void {
  const { welcomes: _, answers: __, ...shown } = commit;
  play.wire.add("relay", reader, {
    uses: 1,
    notice: (notice): readonly NoticeEnvelope[] | undefined => {
      if (notice.operation !== "DeliverCommit" || notice.body.epoch !== shown.epoch) {
        return undefined;
      }
      return [{ ...notice, body: { ...notice.body, ...shown, sender: sender.agentId } }];
    },
  });
}

function pickTwo(play: Play, random: Random): readonly [Player | undefined, Player | undefined] {
  const sender = play.pick(random, play.inside());
  return [
    sender,
    play.pick(random, play.inside({ honest: true }).filter((each) => each !== sender)),
  ];
}
