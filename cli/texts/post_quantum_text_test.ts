import { assertEquals } from "@std/assert";
import { parseAgentId } from "../../proto/mod.ts";
import type { PostQuantum } from "../../sdk/mod.ts";
import { postQuantumText } from "./post_quantum_text.ts";

const old = parseAgentId(`${"O".repeat(21)}A`);
const told = (said: PostQuantum): string =>
  postQuantumText(said, (agentId) => agentId === old ? "old-bot" : "alice");
const closed = "stay closed to outsiders, also for a later quantum computer";

Deno.test("what is said of recordings is from which epoch on, and no more than is so", () => {
  assertEquals(
    told({ state: "all", since: 0, required: true }),
    `Recordings of this channel ${closed}, since it was created`,
  );
  assertEquals(
    told({ state: "all", since: 9, required: false }),
    `Recordings of this channel from epoch 9 on ${closed}; older ones may be opened. An agent without post-quantum keys ` +
      "may come in, which ends that",
  );
  const lost = { state: "partly", until: 12, learnedMs: 1_795_000_000_000 } as const;
  const unknown = { because: undefined, by: undefined };
  assertEquals(
    told({ ...lost, since: 0, because: old, by: parseAgentId(`${"A".repeat(22)}`) }),
    "A later quantum computer may open recordings of this channel from epoch 12 on: old-bot without post-quantum keys " +
      `was let in by alice, as this agent learned on 2026-11-18 11:06 UTC; older ones ${closed}`,
  );
  assertEquals(
    told({ ...lost, since: 9, ...unknown }),
    "A later quantum computer may open recordings of this channel from epoch 12 on: an agent without post-quantum keys " +
      `was let in, as this agent learned on 2026-11-18 11:06 UTC; those from epoch 9 up to it ${closed}`,
  );
  assertEquals(
    told({ state: "none" }),
    "A later quantum computer may open recordings of this channel. A new channel requires post-quantum keys of everybody",
  );
});
