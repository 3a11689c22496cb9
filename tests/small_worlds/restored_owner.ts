/**
 * An owner whose store was restored from a backup. It is stopped at a commit that nobody can
 * follow, with a message in front of it that was not read, and a founding of its own is in the log.
 * A newer copy of the store has sent in that generation, so its keys are used. It must not send
 * with them, whatever the order of events, and must come back by a rejoin.
 */
import { foundingEpoch } from "../../proto/mod.ts";
import { newAnchor } from "../../sdk/channel/testing/connection.ts";
import { newDisk } from "./agent_of_letters.ts";
import type { World } from "./explore.ts";
import { afterFounding, groupOf, seal, type Sealed } from "./group_of_letters.ts";
import { badCommit } from "./host_of_letters.ts";
import { append, newRelay, type Relay } from "./relay_of_letters.ts";
import { type Budgets, other, type Setting, type SmallState, smallWorld } from "./small_world.ts";

const owner = "alice";
const blamed = "mallory";
const founding = `founding of ${owner}`;

interface Story {
  /** A newer copy of the store has entered the founding and sent. */
  readonly isRestored: boolean;
  /** The message in front of the stop was read before. */
  readonly isRead?: boolean;
}

export function restoredOwner(
  left: Partial<Budgets>,
  { isRestored = true, isRead = false, ...setting }: Partial<
    Story & Pick<Setting, "guards" | "step" | "isThorough">
  > = {},
): World<SmallState> {
  const relay = newRelay(owner);
  append(relay, {
    kind: "commit",
    sender: owner,
    epoch: 0,
    hash: "commit a",
    added: [other, blamed],
  });
  append(relay, { kind: "message", sender: owner, epoch: 1, hash: "m1", counter: 1, keyNumber: 1 });
  append(relay, { kind: "message", sender: other, epoch: 1, hash: "m2", counter: 1, keyNumber: 1 });
  append(relay, { kind: "commit", sender: blamed, epoch: 1, hash: badCommit });
  append(relay, {
    kind: "founding",
    sender: owner,
    epoch: foundingEpoch(1),
    hash: founding,
    removed: [blamed],
  });
  const sealed: Sealed = {};
  if (isRestored) sendOfNewer(relay, sealed);
  relay.former = {};
  const consumed = isRead ? 3 : 2;
  relay.cursors = Object.freeze({
    ...relay.cursors,
    [owner]: { consumed, acknowledged: consumed },
  });
  const disk = newDisk(groupOf({ epoch: 1, led: "commit a", leaf: owner }), {
    stop: { sequence: 4, epoch: 1, hash: badCommit, sender: blamed },
    founding,
    counter: 1,
    usedKeys: 1,
    position: consumed,
    anchor: newAnchor(0),
  });
  return smallWorld({ relay, name: owner, disk, sealed, left, ...setting });
}

function sendOfNewer(relay: Relay, sealed: Sealed): void {
  const group = afterFounding(1, founding, `${owner} of ${founding}`);
  seal(sealed, group, 1, "m3");
  append(relay, {
    kind: "message",
    sender: owner,
    epoch: group.epoch,
    hash: "m3",
    counter: 2,
    keyNumber: 1,
  });
}
