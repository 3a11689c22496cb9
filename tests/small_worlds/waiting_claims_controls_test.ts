/** Each false rule about statements that wait is found. */
import { checkFound } from "./explore.ts";
import {
  type ClaimRules,
  type ClaimSetting,
  signedByLetter,
  stepConfirmations,
  waitingClaims,
} from "./waiting_claims.ts";

function control(
  name: string,
  rules: Partial<ClaimRules>,
  { why, ...setting }: ClaimSetting & { readonly why: string },
): void {
  Deno.test(`the world finds ${name}`, () => {
    checkFound(waitingClaims({ ...setting, rules }), why);
  });
}

const [by, isForged] = ["bob", true] as const;
const made = { by, epoch: 7, isForged } as const;
const again = { by, epoch: 7, times: 2 } as const;

control("an answer by a claim that nobody verified", {
  isSigned: (claim) => claim.waited || signedByLetter(claim),
}, { words: [made], why: "a member is shown with an epoch that it has not signed" });

control("a statement that differs and waits", {
  step: (state, event, facts) => {
    if (event.type !== "told") return stepConfirmations(state, event, facts);
    for (const word of event.by) {
      const claim = { ...word, ...event.said, atMs: facts.nowMs, begunMs: 0, waited: true };
      state.claims.set(word.agentId, claim);
    }
    return { effects: [] };
  },
}, {
  words: [{ by, epoch: 7, state: 99 }],
  why: "a member is shown with an epoch that it has not signed",
});

control("a made-up claim that displaces a true one", {
  step: (state, event, facts) => {
    const step = stepConfirmations(state, event, facts);
    for (const [agentId, claim] of state.claims) {
      state.claims.set(agentId, { ...claim, earlier: undefined });
    }
    return step;
  },
}, {
  words: [{ by, epoch: 7 }, { by, epoch: 8, isForged }, { by, epoch: 7, state: 99 }],
  left: { enter: 1 },
  why: "the two differ",
});

control("a made-up claim of a later epoch that hides an earlier one", {
  step: (state, event, facts) => {
    if (event.type !== "told") return stepConfirmations(state, event, facts);
    const news = event.by.filter(({ agentId }) =>
      (state.claims.get(agentId)?.epoch ?? -1) <= event.said.epoch
    );
    return stepConfirmations(state, { ...event, by: news }, facts);
  },
}, {
  words: [{ by, epoch: 8, isForged }, { by, epoch: 7, state: 99 }],
  left: { enter: 1 },
  why: "a member that differs is not reported",
});

control("a statement that differs, looked at before a claim that came earlier", {
  step: (state, event, facts) => {
    if (event.type !== "told") return stepConfirmations(state, event, facts);
    const waiting = [...state.claims];
    state.claims.clear();
    const step = stepConfirmations(state, event, facts);
    for (const [agentId, claim] of waiting) {
      if (!state.claims.has(agentId)) state.claims.set(agentId, claim);
    }
    return step;
  },
}, { words: [{ by, epoch: 7 }, { by, epoch: 7, state: 99 }], why: "the two differ" });

control("a restart that makes what is repeated look new", {
  restored: (records) => ({ ...records, begun: undefined }),
}, {
  words: [again],
  left: { days: 1, crash: 1 },
  why: "a member looks present that is not",
});

control("claims that wait for ever", {
  step: (state, event, facts) => {
    if (event.type !== "told") return stepConfirmations(state, event, facts);
    const { heardMs } = state.forks;
    const before = new Map(heardMs);
    for (const { agentId } of event.by) heardMs.set(agentId, facts.nowMs);
    const step = stepConfirmations(state, event, facts);
    for (const [agentId, atMs] of before) heardMs.set(agentId, atMs);
    return step;
  },
}, {
  words: [{ by, epoch: 8 }],
  left: { days: 1, enter: 1, minute: 1, crash: 1 },
  why: "a member looks gone that is not",
});

control("a lie that is judged before what others said last is known", {
  step: (state, event, facts) => {
    if (event.type !== "verified") return stepConfirmations(state, event, facts);
    const waiting = [...state.claims];
    state.claims.clear();
    const step = stepConfirmations(state, event, facts);
    for (const [agentId, claim] of waiting) state.claims.set(agentId, claim);
    return step;
  },
}, {
  words: [
    { by, epoch: 3, state: 99 },
    { by: "carol", epoch: 3, state: 99 },
    { by: "dave", epoch: 3, state: 98 },
    { by: "carol", epoch: 7 },
    { by, epoch: 3, state: 97 },
  ],
  why: "the two differ",
});
