// An agent's newest session is the one it asked for last, although the log may have an older
// question behind it.
import { assertEquals } from "@std/assert";
import { openReplicaStore } from "../../engine/mod.ts";
import { sampleAgent } from "../../engine/testing/sample.ts";
import { ReplicaSessions } from "./sessions.ts";

const agentId = sampleAgent(1);
const at = (relay: string): { writer: string; relay: string; timeMs: number } => ({
  writer: `writer of ${relay}`,
  relay,
  timeMs: 1,
});

async function withSessions(run: (sessions: ReplicaSessions) => void): Promise<void> {
  const { database, engine } = await openReplicaStore({ path: ":memory:" });
  run(new ReplicaSessions(database));
  await engine.close();
}

Deno.test("a session that was asked for before its agent went to another relay does not replace the one there", async () => {
  await withSessions((sessions) => {
    const there = sessions.begin(agentId, { ...at("b"), position: 20, behind: 15 });
    // Asked for first, and in the log last: its relay had no answer for long.
    assertEquals(sessions.begin(agentId, { ...at("a"), position: 21, behind: 10 }), undefined);
    assertEquals(sessions.placeOf(agentId)?.relay, "b");
    assertEquals(sessions.isReplaced(agentId, there ?? 0), false);
    // It has read of that one now.
    const next = sessions.begin(agentId, { ...at("a"), position: 22, behind: 20 }) ?? 0;
    assertEquals([sessions.placeOf(agentId)?.relay, sessions.isReplaced(agentId, there ?? 0)], [
      "a",
      true,
    ]);
    sessions.end(agentId, next);
    assertEquals(typeof sessions.begin(agentId, { ...at("c"), position: 23, behind: 5 }), "number");
  });
});

Deno.test("sessions of one relay begin in the order in which they were asked for, and so do those of older relays", async () => {
  await withSessions((sessions) => {
    const first = sessions.begin(agentId, { ...at("a"), position: 20, behind: 15 }) ?? 0;
    const second = sessions.begin(agentId, { ...at("a"), position: 20, behind: 15 }) ?? 0;
    assertEquals([second - first, sessions.isReplaced(agentId, first)], [1, true]);
    assertEquals(
      typeof sessions.begin(agentId, { ...at("b"), position: 21, behind: 20 }),
      "number",
    );
  });
});

Deno.test("that an agent was moved is known at its next relays, also when its next session was faster", async () => {
  const { database, engine } = await openReplicaStore({ path: ":memory:" });
  const sessions = new ReplicaSessions(database);
  sessions.moved(agentId, 5);
  assertEquals(sessions.movedMs(agentId), undefined);
  const first = sessions.begin(agentId, { ...at("a"), position: 20, behind: 15 }) ?? 0;
  sessions.begin(agentId, { ...at("b"), position: 21, behind: 20 });
  sessions.moved(agentId, 7);
  sessions.end(agentId, first);
  sessions.begin(agentId, { ...at("c"), position: 22, behind: 21 });
  assertEquals([sessions.movedMs(agentId), sessions.placeOf(agentId)?.relay], [7, "c"]);
  sessions.write(sessions.takeChanged());
  assertEquals(new ReplicaSessions(database).movedMs(agentId), 7);
  await engine.close();
});
