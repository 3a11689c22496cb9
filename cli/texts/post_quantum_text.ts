/** Sentences about recordings of a channel, for outsiders that have a quantum computer later. */
import type { PostQuantum } from "../../sdk/mod.ts";
import { utc } from "./amounts.ts";

/**
 * For outsiders: it does not hold against somebody who was a member. `nameOf`: of an agent by its
 * id.
 */
export function postQuantumText(
  postQuantum: PostQuantum,
  nameOf: (agentId: string) => string,
): string {
  const open = "A later quantum computer may open recordings of this channel";
  const closed = "stay closed to outsiders, also for a later quantum computer";
  switch (postQuantum.state) {
    case "all": {
      const { since, required } = postQuantum;
      const what = since === 0
        ? `Recordings of this channel ${closed}, since it was created`
        : `Recordings of this channel from epoch ${since} on ${closed}; older ones may be opened`;
      return required
        ? what
        : `${what}. An agent without post-quantum keys may come in, which ends that`;
    }
    case "partly": {
      const { since, until, learnedMs, because, by } = postQuantum;
      const who = because === undefined ? "an agent" : nameOf(because);
      const how = by === undefined ? "" : ` by ${nameOf(by)}`;
      const before = since === 0 ? "older ones" : `those from epoch ${since} up to it`;
      return `${open} from epoch ${until} on: ${who} without post-quantum keys was let in${how}, as this agent learned on ` +
        `${utc(learnedMs)}; ${before} ${closed}`;
    }
    case "none":
      return `${open}. A new channel requires post-quantum keys of everybody`;
  }
}
