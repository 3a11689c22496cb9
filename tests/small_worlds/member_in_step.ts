/**
 * A member that is in step, with a commit of its own that is open. It sends and commits, another
 * member does too, its log is fetched again, its connection breaks, its process is killed, and an
 * older copy of its directory is put back.
 */
import { newAnchor } from "../../sdk/channel/testing/connection.ts";
import { newDisk } from "./agent_of_letters.ts";
import type { World } from "./explore.ts";
import { bytesOf, groupOf } from "./group_of_letters.ts";
import { append, newRelay } from "./relay_of_letters.ts";
import { type Budgets, other, type Setting, type SmallState, smallWorld } from "./small_world.ts";

const member = "alice";
const open = `commit open of ${member}`;

interface Story {
  /** The relay has taken the open commit, and its answer was lost. */
  readonly isTaken: boolean;
}

export function memberInStep(
  left: Partial<Budgets>,
  { isTaken = false, ...setting }: Partial<
    Story & Pick<Setting, "guards" | "step" | "isThorough">
  > = {},
): World<SmallState> {
  const relay = newRelay(member);
  append(relay, { kind: "commit", sender: member, epoch: 0, hash: "commit a", added: [other] });
  append(relay, { kind: "message", sender: other, epoch: 1, hash: "m1", counter: 1, keyNumber: 1 });
  if (isTaken) append(relay, { kind: "commit", sender: member, epoch: 1, hash: open });
  relay.cursors = Object.freeze({ ...relay.cursors, [member]: { consumed: 1, acknowledged: 1 } });
  const disk = newDisk(groupOf({ epoch: 1, led: "commit a", leaf: member }), {
    candidate: { epoch: 1, hash: open },
    position: 1,
    own: Object.freeze({ sequence: 1, epoch: 0, hash: bytesOf("commit a") }),
    anchor: newAnchor(0),
  });
  return smallWorld({ relay, name: member, disk, left, ...setting });
}
