/** Each rule of the names, taken out: the worlds find it, with a story. */
import { checkFound, isStuck } from "./explore.ts";
import * as controls from "./names_controls.ts";
import { namesOfAgent, type NamesSetting } from "./names_of_agent.ts";

function finds(name: string, why: string, setting: NamesSetting): void {
  Deno.test(`the world of names finds: ${name}`, () => checkFound(namesOfAgent(setting), why));
}

const begins = "open";

finds("two creations at once ask the relay beside each other", "S4", {
  begins: "free",
  left: { calls: 2 },
  kinds: ["create"],
  step: controls.asksWithoutTurn,
});
finds("a membership is written beside an erasure in its place", "S4", {
  begins,
  left: { calls: 1, let: 1, removed: 1, stuck: 1 },
  kinds: ["join"],
  step: controls.entersBesideErasure,
});
finds("a slot is not looked at again when an answer comes", "S4", {
  begins,
  left: { calls: 2, lie: 1, let: 2, stuck: 1 },
  kinds: ["join", "open"],
  step: controls.looksOnce,
});
finds("a machine comes back while it is retired", "S4", {
  begins,
  left: { calls: 1, stuck: 1, let: 2 },
  kinds: ["join"],
  step: controls.retiresBlindly,
});
finds("a membership that works is given up by the relay's word", "S4", {
  begins,
  left: { calls: 1, lie: 1, let: 1 },
  hasOther: true,
  kinds: ["invite"],
  step: controls.runningIsFree,
});
for (const kind of ["close", "leave"] as const) {
  finds(
    `a channel that the pass hides is taken for one that is over: ${kind}`,
    kind === "close" ? "S4" : "S3",
    {
      begins,
      left: { calls: 1 },
      isHidden: true,
      kinds: [kind],
      step: controls.hiddenIsOver,
    },
  );
}
finds("closeChannel erases a channel by its name", "S4", {
  begins,
  left: { calls: 3, closed: 1 },
  kinds: ["create", "close"],
  step: controls.closesByName,
});
finds("an erasure that failed is opened", "S7", {
  begins,
  left: { calls: 1, removed: 1, fail: 1 },
  kinds: ["open"],
  step: controls.failedRests,
});
finds("a call behind an erasure is not told that it failed", isStuck, {
  begins,
  left: { calls: 1, removed: 1, fail: 1 },
  kinds: ["open"],
  step: controls.failureTellsFew,
});
finds("a membership is opened while it is left", isStuck, {
  begins,
  left: { calls: 2, closed: 1 },
  kinds: ["open", "leave"],
  step: controls.opensBesideLeave,
});
finds("a leave ends with its machine", isStuck, {
  begins,
  left: { calls: 1, closed: 1 },
  kinds: ["leave"],
  step: controls.leavesEndWithMachine,
});
finds("an answer to a leave is taken by the next membership of that channel", "S3", {
  begins,
  left: { calls: 3, removed: 1, let: 1 },
  kinds: ["leave", "join"],
  guards: { takesOthersAnswers: true },
});
finds("a creation goes into the channel of an earlier one that was closed", "S4", {
  begins: "free",
  left: { calls: 3, lost: 1 },
  kinds: ["create", "close"],
  step: controls.believesNonces,
});
finds("the nonce of a creation outlives its membership", "S4", {
  begins: "free",
  left: { calls: 3, kill: 1 },
  kinds: ["create", "leave"],
  step: controls.keepsNonce,
});
finds("two names enter one channel", "S4", {
  begins,
  left: { calls: 1, stuck: 1, let: 1 },
  names: ["a", "b"],
  kinds: ["join"],
  step: controls.entersTwice,
});
finds("a call begins beside an erasure of an earlier process", "S4", {
  begins,
  left: { calls: 1, removed: 1, kill: 1, let: 1 },
  kinds: ["join"],
  step: controls.beginsBesideLeftovers,
});
finds("a membership is read, or erased, before its machine has made its last write", "S4", {
  begins,
  left: { calls: 1, closed: 1 },
  kinds: ["leave"],
  guards: { waitsForRest: false },
});
finds("a machine writes behind the note of its erasure", "S4", {
  begins,
  left: { calls: 1, removed: 1 },
  kinds: ["open"],
  guards: { dropsCollected: false },
});
finds("a membership comes under the note of the one before it", "S4", {
  begins,
  left: { calls: 1, removed: 1, let: 1, kill: 1, fail: 1 },
  kinds: ["join"],
  guards: { withdrawsNote: false },
});
