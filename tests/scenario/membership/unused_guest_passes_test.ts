// Guest passes that nobody has used: an inviter that runs for weeks revokes them without a restart.
import { assertEquals } from "@std/assert";
import { encodeApiKey } from "../../../proto/mod.ts";
import { type Actor, name, Stage, until } from "../../support/scenario/stage.ts";

const dayMs = 24 * 60 * 60 * 1000;

interface Inviter {
  readonly alice: Actor;
  readonly revoked: string[];
  readonly api: { isAway: boolean };
  /** Timers of a day that run. */
  readonly daily: Set<() => void>;
  /** The API is known to the agent from now on, until it is started again. */
  readonly meetApi: () => void;
  /** A day passes by the agent's own clock. */
  readonly passDay: () => Promise<void>;
}

/** Alice has given out a link with a pass. */
async function withLink(stage: Stage): Promise<Inviter> {
  const alice = await stage.actor("alice");
  await alice.manager.create(name);
  const daily = new Set<() => void>();
  const usual = alice.after;
  alice.after = (ms, run) => {
    if (ms !== dayMs) return usual(ms, run);
    daily.add(run);
    return () => void daily.delete(run);
  };
  await alice.restart();
  await until("it has looked for passes", () => daily.size === 1);
  const [revoked, api]: [string[], { isAway: boolean }] = [[], { isAway: false }];
  const apiKey = encodeApiKey({
    environment: "live",
    lookup: "a".repeat(8),
    secret: "a".repeat(32),
  });
  const service = {
    apiUrl: "https://api.example",
    authorities: [],
    describe: () => Promise.resolve({ apiUrl: "https://api.example", relayUrls: [] }),
    createPass: () => Promise.resolve({ id: "pass", apiKey }),
    revokePass: (id: string): Promise<void> => {
      if (api.isAway) return Promise.reject(new Error("away"));
      revoked.push(id);
      return Promise.resolve();
    },
  };
  const meetApi = (): void => void Object.assign(alice.session, { service });
  const passDay = async (): Promise<void> => {
    alice.clockOffsetMs += dayMs;
    const runs = [...daily];
    daily.clear();
    for (const run of runs) run();
    await until("it has looked again", () => daily.size === 1);
  };
  meetApi();
  await alice.manager.inviteLink(name, { guest: true });
  return { alice, revoked, api, daily, meetApi, passDay };
}

Deno.test("a pass that nobody has used is revoked while its inviter runs on, the day after the API was away, too", async () => {
  await using stage = await Stage.open();
  const { alice, revoked, api, daily, passDay } = await withLink(stage);
  await passDay();
  assertEquals(revoked, [], "its link has a day of grace");
  api.isAway = true;
  await passDay();
  await passDay();
  assertEquals(revoked, []);
  api.isAway = false;
  await passDay();
  assertEquals(revoked, ["pass"]);
  await alice.session.close();
  assertEquals(daily.size, 0, "nothing waits for another day when the session is over");
});

Deno.test("a pass is not forgotten by an agent that does not know the API for a while", async () => {
  await using stage = await Stage.open();
  const { alice, revoked, daily, meetApi, passDay } = await withLink(stage);
  await alice.restart();
  await until("it has looked for passes", () => daily.size === 1);
  for (let day = 0; day < 3; day++) await passDay();
  meetApi();
  await passDay();
  assertEquals(revoked, ["pass"]);
});
