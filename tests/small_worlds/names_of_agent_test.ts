/** Nothing of another membership is erased or written over, and every call of a program ends. */
import { inCampaign, tried } from "../support/campaign.ts";
import { checkAll } from "./explore.ts";
import { namesOfAgent, type NamesSetting } from "./names_of_agent.ts";

function world(name: string, setting: NamesSetting): void {
  Deno.test(`names: ${name}`, () => {
    const { states, transitions } = checkAll(name, namesOfAgent(setting), 20_000_000);
    tried(`${states} states and ${transitions} transitions of names: ${name}`);
  });
}

const byInvite = ["invite", "open", "leave", "close"] as const;

world("nothing is there; two calls, a kill, a lost answer", {
  begins: "free",
  left: { calls: 2, kill: 1, lost: 1 },
});
world("keys are lost; two calls, a kill, closed by another", {
  begins: "keyless",
  left: { calls: 2, kill: 1, closed: 1 },
});
world("open; a call, a removal, an erasure that fails, a kill", {
  begins: "open",
  left: { calls: 1, kill: 1, fail: 1, removed: 1, closed: 1 },
});
world("open; a call, stopped and let in, a kill", {
  begins: "open",
  left: { calls: 1, kill: 1, stuck: 1, let: 1 },
});
world("an invite into another account's channel of that name, and a false not_found", {
  begins: "open",
  left: { calls: 1, lie: 1, let: 1, stuck: 1 },
  hasOther: true,
  kinds: byInvite,
});
world("two names, one Welcome", {
  begins: "open",
  left: { calls: 2, stuck: 1, let: 1 },
  names: ["a", "b"],
  kinds: ["join", "open"],
});

world("nothing is there; two calls, a kill or a lost answer, and the request is taken late", {
  begins: "free",
  left: { calls: 2, kill: 1, lost: 1, late: 1 },
});
world("open; two calls, a lost answer, and a leave, a close or a creation that is taken late", {
  begins: "open",
  left: { calls: 2, lost: 1, late: 1, let: 1 },
});
world("open; stopped, let in, and a job that fails", {
  begins: "open",
  left: { calls: 1, fail: 1, stuck: 1, let: 1 },
});
world("an invite into another account's channel of that name, and a job that fails", {
  begins: "open",
  left: { calls: 1, fail: 1, let: 1, closed: 1, stuck: 1 },
  hasOther: true,
  kinds: byInvite,
});
world("open, by a pass that is not for it; two calls, let in, a kill", {
  begins: "open",
  left: { calls: 2, kill: 1, let: 1 },
  isHidden: true,
  kinds: ["create", "join", "open", "leave", "close", "invite"],
});
world("nothing is there, and the disk refuses a write", {
  begins: "free",
  left: { calls: 2, unwritten: 1, let: 1, lost: 1 },
});
world("keys are lost, and the disk refuses a write", {
  begins: "keyless",
  left: { calls: 2, unwritten: 1, let: 1 },
});
world("open; stopped, let in, and the disk refuses a write", {
  begins: "open",
  left: { calls: 2, unwritten: 1, stuck: 1, let: 1 },
  kinds: ["create", "join", "open", "leave", "invite"],
});
world("the client is closed; two calls, a removal", {
  begins: "open",
  left: { calls: 2, finish: 1, removed: 1 },
  kinds: ["open", "leave", "close", "join"],
});
world("the client is closed beside a creation", {
  begins: "free",
  left: { calls: 2, finish: 1, lost: 1 },
});

if (inCampaign) {
  world("open; two calls, stopped, let in, a job that fails, a kill", {
    begins: "open",
    left: { calls: 2, fail: 1, stuck: 1, let: 1, kill: 1 },
  });
  world("nothing is there; four calls, a kill, a lost answer", {
    begins: "free",
    left: { calls: 4, kill: 1, lost: 1 },
  });
  world("nothing is there; four calls, two kills", { begins: "free", left: { calls: 4, kill: 2 } });
  world("nothing is there; three calls, two kills, two lost answers", {
    begins: "free",
    left: { calls: 3, kill: 2, lost: 2 },
  });
  world("open; three calls, a removal, an erasure that fails, a kill, closed by another", {
    begins: "open",
    left: { calls: 3, kill: 1, fail: 1, removed: 1, closed: 1 },
  });
  world("open; three calls, stopped, let in twice, a kill, a lost answer", {
    begins: "open",
    left: { calls: 3, kill: 1, lost: 1, stuck: 1, let: 2 },
  });
  world("open; three calls, a false not_found, let in, a removal, a kill", {
    begins: "open",
    left: { calls: 3, lie: 1, kill: 1, let: 1, removed: 1 },
  });
  world(
    "open, and another account's channel of that name; two calls, a false not_found, let in, a kill",
    {
      begins: "open",
      left: { calls: 2, lie: 1, kill: 1, let: 1 },
      hasOther: true,
    },
  );
  world("open; two calls, an erasure that fails, a removal, let in, a kill", {
    begins: "open",
    left: { calls: 2, fail: 1, removed: 1, let: 1, kill: 1 },
  });
  world("keys are lost; three calls, a kill, closed by another", {
    begins: "keyless",
    left: { calls: 3, kill: 1, closed: 1 },
  });
  world("two programs with invites, also into another account's channel", {
    begins: "open",
    left: { calls: 3, lie: 1, stuck: 1, let: 2, kill: 1 },
    hasOther: true,
    kinds: byInvite,
  });
}
