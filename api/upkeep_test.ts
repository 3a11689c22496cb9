import { assertEquals } from "@std/assert";
import { createLog } from "../server/mod.ts";
import { startUpkeep } from "./upkeep.ts";

Deno.test("upkeep writes uses, reads keys again and deletes old leases; what fails is logged and tried again", async () => {
  const done: string[] = [];
  const lines: string[] = [];
  const turns = new Set<() => Promise<void>>();
  const state = { away: false };
  const work = (name: string) => (): Promise<void> => {
    done.push(name);
    return state.away ? Promise.reject(new Error(`${name} failed`)) : Promise.resolve();
  };
  const stop = startUpkeep({
    lastUsed: { note: () => {}, flush: work("uses") },
    keyRing: { reload: work("keys") },
    usage: { forgetClosed: work("leases") },
    mail: { pump: work("mail") },
    store: { forgetExpired: work("expired") },
    clock: () => 0,
    log: createLog({ write: (line) => lines.push(line), nowMs: () => 0 }),
    every: (_, run) => {
      turns.add(run);
      return () => turns.delete(run);
    },
  });
  const turn = async (): Promise<string[]> => {
    for (const run of turns) await run();
    return done.splice(0);
  };
  assertEquals([await turn(), lines.length], [["uses", "keys", "leases", "expired", "mail"], 0]);
  state.away = true;
  assertEquals([await turn(), lines.length], [["uses", "keys", "leases", "expired", "mail"], 5]);
  state.away = false;
  assertEquals([await turn(), lines.length], [["uses", "keys", "leases", "expired", "mail"], 5]);
  await stop();
  assertEquals([done, turns.size], [["uses"], 0]);
});
