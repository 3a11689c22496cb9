/**
 * A relay whose log is set back to a backup. Two commits are lost, one of them ours; each member
 * puts back what it keeps, and the relay may be busy meanwhile.
 */
import { newAnchor } from "../../sdk/channel/testing/connection.ts";
import { newDisk } from "./agent_of_letters.ts";
import type { World } from "./explore.ts";
import { bytesOf, groupOf } from "./group_of_letters.ts";
import { copyOf } from "./plain_state.ts";
import { append, newRelay } from "./relay_of_letters.ts";
import { type Budgets, other, type Setting, type SmallState, smallWorld } from "./small_world.ts";

const member = "alice";

export function setBackLog(
  left: Partial<Budgets>,
  setting: Partial<Pick<Setting, "guards" | "step" | "isThorough">> = {},
): World<SmallState> {
  const relay = newRelay(member);
  append(relay, { kind: "commit", sender: member, epoch: 0, hash: "commit a", added: [other] });
  const backup = copyOf(relay);
  const theirs = `commit of ${other} in 1`;
  append(relay, { kind: "commit", sender: other, epoch: 1, hash: theirs });
  append(relay, { kind: "message", sender: other, epoch: 2, hash: "m1", counter: 1, keyNumber: 1 });
  append(relay, { kind: "commit", sender: member, epoch: 2, hash: "commit b" });
  relay.cursors = Object.freeze({ ...relay.cursors, [member]: { consumed: 3, acknowledged: 3 } });
  const nobody = { added: [], removed: [] };
  const disk = newDisk(groupOf({ epoch: 3, led: "commit b", leaf: member }), {
    position: 3,
    own: Object.freeze({ sequence: 4, epoch: 2, hash: bytesOf("commit b") }),
    anchor: newAnchor(0),
    kept: Object.freeze({
      0: Object.freeze({ author: member, hash: "commit a", added: [other], removed: [] }),
      1: Object.freeze({ author: other, hash: theirs, ...nobody }),
      2: Object.freeze({ author: member, hash: "commit b", ...nobody }),
    }),
  });
  return smallWorld({ relay, name: member, disk, backup, left, ...setting });
}
