// A log that does not answer: every order of events, in small worlds, and the times of the real
// one.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { inCampaign, tried } from "../../../tests/support/campaign.ts";
import {
  createSilence,
  type Silence,
  type SilenceEffect,
  type SilenceEvent,
  type SilenceLimits,
  step,
  wordsOf,
} from "./silence.ts";

const what = "The shared log";

/** A world in which a look is a unit of time, and everything is due after one to three of them. */
const small: SilenceLimits = {
  clientMs: 1,
  firstPauseMs: 1,
  longestPauseMs: 2,
  readyMs: 2,
  awayMs: 3,
  endMs: 3,
  probePauseMs: 1,
  longestStepMs: 1,
};

/** Looks that a relay still has when the log answers others. */
const spreadMs = 2;

type Happening =
  | "silent"
  | "frozen"
  | "answered"
  | "refused"
  | "client"
  | "worked"
  | "worked later"
  | "failed";
const happenings: readonly Happening[] = [
  "silent",
  "frozen",
  "answered",
  "refused",
  "client",
  "worked",
  "worked later",
  "failed",
];

/** Known without the machine. */
interface World {
  readonly nowMs: number;
  /** Looks in a row that saw no answer, and those of them that could have seen one. */
  readonly waitingMs: number;
  readonly silentLooks: number;
  readonly isRefused: boolean;
  readonly clients: number;
  readonly probes: number;
  /**
   * A probe has worked in this silence, after it was asked for: the silent looks after which the
   * relay may end.
   */
  readonly endsAt: number | undefined;
  readonly wasSentAway: boolean;
  readonly hasEnded: boolean;
}

const beginning: World = {
  nowMs: 0,
  waitingMs: 0,
  silentLooks: 0,
  isRefused: false,
  clients: 0,
  probes: 0,
  endsAt: undefined,
  wasSentAway: false,
  hasEnded: false,
};

function eventOf(happening: Happening, { nowMs, waitingMs }: World): SilenceEvent {
  switch (happening) {
    case "silent":
      return { type: "look", nowMs, waitingMs, isRefused: false };
    case "frozen":
      return { type: "look", nowMs, waitingMs, isRefused: false };
    case "answered":
      return { type: "look", nowMs, waitingMs: 0, isRefused: false };
    case "refused":
      return { type: "look", nowMs, waitingMs, isRefused: true };
    case "client":
      return { type: "client_tried", nowMs };
    case "worked":
      return { type: "probe_worked", spreadMs: 0 };
    case "worked later":
      return { type: "probe_worked", spreadMs };
    case "failed":
      return { type: "probe_failed", nowMs, why: "its nodes have no leader for it" };
  }
}

/** Time passes with each look; a process that was frozen finds that much time has passed. */
function passTime(world: World, happening: Happening): World {
  const steps: Partial<Record<Happening, number>> = {
    silent: 1,
    refused: 1,
    answered: 1,
    frozen: 100,
  };
  const passed = steps[happening];
  if (passed === undefined) return world;
  const isAnswered = happening === "answered";
  return {
    ...world,
    nowMs: world.nowMs + passed,
    waitingMs: isAnswered ? 0 : world.waitingMs + passed,
    silentLooks: isAnswered ? 0 : world.silentLooks + 1,
    isRefused: happening === "refused",
  };
}

function judge(
  before: World,
  happening: Happening,
  effects: readonly SilenceEffect[],
  after: Silence,
): World {
  const { silentLooks, isRefused, hasEnded } = before;
  const wasAsked = before.probes > 0;
  let { clients, probes, endsAt, wasSentAway } = before;
  if (happening === "client") clients = 0;
  if (happening.startsWith("worked") || happening === "failed") probes = 0;
  const mayEnd = silentLooks >= small.endMs && !isRefused;
  if (!mayEnd) endsAt = undefined;
  else if (happening === "worked" && wasAsked) endsAt = silentLooks;
  else if (happening === "worked later" && wasAsked) endsAt = silentLooks + spreadMs;
  if (hasEnded) assertEquals(effects, [], "nothing is done after the end");
  for (const effect of effects) {
    if (effect === "open_client") assert(++clients === 1, "two clients are under way");
    if (effect === "probe") {
      assert(++probes === 1 && mayEnd, "two probes are under way, or one is too early");
    }
    if (effect === "send_agents_away") {
      assert(!wasSentAway && silentLooks >= small.awayMs, "agents are sent away again");
    }
    if (effect === "end") {
      assert(
        mayEnd && endsAt !== undefined,
        "ends although nothing shows that a new process helps",
      );
      assert(silentLooks >= endsAt, "ends before it has looked as often as it should");
    }
  }
  if (!hasEnded) {
    assertEquals(
      wordsOf(after, what, small) === undefined,
      silentLooks < small.readyMs,
      "/ready is wrong",
    );
  }
  wasSentAway = silentLooks >= small.awayMs &&
    (wasSentAway || effects.includes("send_agents_away"));
  return {
    ...before,
    clients,
    probes,
    endsAt,
    wasSentAway,
    hasEnded: hasEnded || effects.includes("end"),
  };
}

Deno.test("in every order of events a relay ends only when a new process helps, and says what is wrong", () => {
  const depth = inCampaign ? 8 : 6;
  const found = { orders: 0, ends: 0, clients: 0 };
  const walk = (state: Silence, world: World, left: number): void => {
    found.orders++;
    if (left === 0) return;
    for (const happening of happenings) {
      const passed = passTime(world, happening);
      const next = step(state, eventOf(happening, passed), small);
      if (next.effects.includes("end")) found.ends++;
      if (next.effects.includes("open_client")) found.clients++;
      walk(next.state, judge(passed, happening, next.effects, next.state), left - 1);
    }
  };
  walk(createSilence(0), beginning, depth);
  assert(found.ends > 10 && found.clients > 10, JSON.stringify(found));
  tried(`${found.orders.toLocaleString("en")} orders of events around a silent log`);
});

interface Told {
  readonly second: number;
  readonly effect: SilenceEffect;
}

/**
 * Looks every second at a log that says nothing; clients and probes are answered after a second.
 */
function watch(
  seconds: number,
  probe: (nowMs: number) => SilenceEvent,
): { told: Told[]; state: Silence } {
  const told: Told[] = [];
  let state = createSilence(0);
  const due: SilenceEvent[] = [];
  const take = (event: SilenceEvent, second: number): void => {
    const next = step(state, event);
    state = next.state;
    for (const effect of next.effects) {
      told.push({ second, effect });
      if (effect === "open_client") due.push({ type: "client_tried", nowMs: (second + 1) * 1_000 });
      if (effect === "probe") due.push(probe((second + 1) * 1_000));
    }
  };
  for (let second = 1; second <= seconds; second++) {
    for (const event of due.splice(0)) take(event, second);
    take(
      { type: "look", nowMs: second * 1_000, waitingMs: second * 1_000, isRefused: false },
      second,
    );
  }
  return { told, state };
}

Deno.test("a log that is silent to this relay alone: a client after 3 s, words after 10 s, the end after 30 s and a random time", () => {
  const { told, state } = watch(60, () => ({ type: "probe_worked", spreadMs: 4_000 }));
  assertEquals(told, [
    { second: 3, effect: "open_client" },
    { second: 9, effect: "open_client" },
    { second: 20, effect: "open_client" },
    { second: 30, effect: "send_agents_away" },
    { second: 30, effect: "probe" },
    { second: 34, effect: "end" },
  ]);
  assertStringIncludes(wordsOf(state, what) ?? "", "This relay ends");
});

Deno.test("without a leader a relay stays, says so, and asks again", () => {
  const why = "its nodes have no leader for it";
  const { told, state } = watch(300, (nowMs) => ({ type: "probe_failed", nowMs, why }));
  assertEquals(told.filter(({ effect }) => effect === "end"), []);
  assert(told.filter(({ effect }) => effect === "probe").length > 40);
  assertEquals(
    wordsOf(state, what),
    "The shared log has not answered this relay for 300 s: its nodes have no leader for it. " +
      "It goes on when the nodes answer. Look at them",
  );
});

Deno.test("time in which the process did not run is not the log's silence", () => {
  const first = step(createSilence(0), {
    type: "look",
    nowMs: 1_000,
    waitingMs: 500,
    isRefused: false,
  });
  const woken = step(first.state, {
    type: "look",
    nowMs: 90_000,
    waitingMs: 89_500,
    isRefused: false,
  });
  assertEquals(woken.effects, []);
  assertEquals(wordsOf(woken.state, what), undefined);
});

Deno.test("nodes that refuse are not silent: the relay says so, and stays", () => {
  let state = createSilence(0);
  const effects = new Set<SilenceEffect>();
  for (let second = 1; second <= 120; second++) {
    const next = step(state, {
      type: "look",
      nowMs: second * 1_000,
      waitingMs: second * 1_000,
      isRefused: true,
    });
    state = next.state;
    for (const effect of next.effects) effects.add(effect);
  }
  assertEquals([...effects], ["send_agents_away"]);
  assertStringIncludes(
    wordsOf(state, what) ?? "",
    "The shared log has refused every write for 120 s.",
  );
});
