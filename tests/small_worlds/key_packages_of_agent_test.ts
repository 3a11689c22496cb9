/**
 * KeyPackages of an agent, every order of events: the relay has those whose keys are here, enough
 * of them, and never too many.
 */
import { assertEquals } from "@std/assert";
import { stepKeyPackages } from "../../sdk/channel/testing/key_packages.ts";
import { inCampaign, tried } from "../support/campaign.ts";
import { checkAll, explore } from "./explore.ts";
import { type KeyPackageBudgets, keyPackagesOfAgent } from "./key_packages_of_agent.ts";

const times = inCampaign ? 2 : 1;

function world(name: string, left: Partial<KeyPackageBudgets>): void {
  Deno.test(`KeyPackages: ${name}`, () => {
    const { states, transitions } = checkAll(name, keyPackagesOfAgent({ left }), 5_000_000);
    tried(`${states} states and ${transitions} transitions of: ${name}`);
  });
}

world("claims, and connections that break", { claim: 2 * times, broken: 1 });
world("claims of the last resort", { claim: 4 });
world("a relay that begins anew", { claim: times, restart: times, crash: 1 });
world("a relay that lies", { lie: 2 * times, claim: 1, broken: 1 });
world("a process that dies, and an older directory", {
  crash: times,
  setBack: 1,
  claim: 1,
  broken: 1,
});
world("keys that grow old", { week: times, month: 1, claim: times, broken: 1 });
world("a program that replaces all", { program: 1, claim: 2, broken: 1 });

type Step = typeof stepKeyPackages;

function finds(what: string, promise: string, left: Partial<KeyPackageBudgets>, step: Step): void {
  Deno.test(`the world of KeyPackages finds ${what}`, () => {
    const { faults, stuck } = explore(keyPackagesOfAgent({ left, step }), 100_000);
    const whys = faults.map(({ why }) => why);
    assertEquals(
      promise === "stuck" ? stuck > 0 : whys.some((why) => why.startsWith(promise)),
      true,
      `${whys}`,
    );
  });
}

finds(
  "KeyPackages that leave before their keys are on disk",
  "upload: what is not",
  {},
  (state, event, facts) => {
    const { effects } = stepKeyPackages(state, event, facts);
    const { refill } = state;
    if (refill.at !== "writing" || refill.upload === undefined) return { effects };
    state.refill = { ...refill, at: "uploading", upload: refill.upload };
    return { effects: [...effects, { type: "upload", job: refill.job, upload: refill.upload }] };
  },
);
finds("two refills at once", "refills: two at once", { claim: 1 }, (state, event, facts) => {
  if (event.type === "asked") state.refill = { at: "resting" };
  return stepKeyPackages(state, event, facts);
});
finds(
  "a reminder that counts what came behind it",
  "refills: more",
  { claim: 2 },
  (state, event, facts) => {
    const { waiting } = state;
    const step = stepKeyPackages(state, event, facts);
    if (event.type === "uploaded") state.waiting = waiting;
    return step;
  },
);
finds(
  "a call of the program that nobody answers",
  "stuck",
  { program: 1 },
  (state, event, facts) => {
    const step = stepKeyPackages(state, event, facts);
    state.waiting = [];
    return step;
  },
);
finds(
  "a last resort that is handed out behind its use",
  "stuck",
  { claim: 3 },
  (state, event, facts) => {
    const isUse = event.type === "asked" && event.cause.of === "use";
    return isUse ? { effects: [] } : stepKeyPackages(state, event, facts);
  },
);
finds(
  "a last resort that is uploaded again behind its use",
  "upload: a last",
  { claim: 3 },
  (state, event, facts) => {
    if (event.type !== "looked") return stepKeyPackages(state, event, facts);
    const step = stepKeyPackages(state, event, facts);
    const used = event.known.find(({ isUsed }) => isUsed);
    const { refill } = state;
    if (
      used === undefined || refill.at !== "writing" || refill.upload?.lastResort === undefined
    ) return step;
    const upload = { ...refill.upload, pool: 0, lastResort: { is: "known", id: used.id } as const };
    state.refill = { ...refill, at: "uploading", upload };
    return { effects: [{ type: "upload", job: refill.job, upload }] };
  },
);
finds(
  "KeyPackages at the relay whose keys are gone",
  "stuck",
  { setBack: 1 },
  (state, event, facts) => {
    const isConnection = event.type === "asked" && event.cause.of === "connection" &&
      event.cause.held > 0;
    return isConnection ? { effects: [] } : stepKeyPackages(state, event, facts);
  },
);
finds(
  "keys that go while a Welcome is on its way",
  "keys: good ones",
  { program: 1 },
  (state, event, facts) => {
    const step = stepKeyPackages(state, event, facts);
    if (event.type !== "looked") return step;
    const forget = event.known.map(({ id }) => id);
    return {
      effects: step.effects.map((effect) =>
        effect.type === "write" ? { ...effect, forget } : effect
      ),
    };
  },
);
finds("a refill that fails and is never over", "stuck", { broken: 2 }, (state, event, facts) => {
  return event.type === "failed" ? { effects: [] } : stepKeyPackages(state, event, facts);
});
finds("a refill that goes to another connection than the one that asked", "refills: more", {
  claim: 2,
  broken: 1,
}, (
  state,
  event,
  facts,
) => {
  const waiting = state.waiting.filter(({ of }) => of === "connection");
  const isHeld = event.type === "written" || event.type === "looked";
  if (isHeld) state.waiting = state.waiting.filter(({ of }) => of !== "connection");
  const step = stepKeyPackages(state, event, { ...facts, isOnline: true });
  if (isHeld) state.waiting = [...state.waiting, ...waiting];
  return step;
});
finds(
  "an upload that failed and counts as taken",
  "stuck",
  { setBack: 1, broken: 1 },
  (state, event, facts) => {
    if (event.type !== "looked") return stepKeyPackages(state, event, facts);
    return stepKeyPackages(state, {
      ...event,
      known: event.known.map((each) => ({ ...each, isThere: true })),
    }, facts);
  },
);
