import { assertEquals, assertRejects } from "@std/assert";
import { eventually, natsInstalled, startNats, testWhen } from "../../../tests/support/mod.ts";
import { EngineError } from "../../engine/mod.ts";
import { type Nodes, openNodes } from "./nodes.ts";
import { isMissing, isUnanswered, patiently, retryDuringElection, untilAnswered } from "./retry.ts";
import { SharedLog } from "../log/shared_log.ts";

function named(name: string): Error {
  return Object.assign(new Error(name), { name });
}

Deno.test("patiently() asks again while there is no answer, and throws a refusal at once", async () => {
  const noPeers = Object.assign(named("JetStreamApiError"), { code: 10005, status: 400 });
  const outcomes = [
    named("TimeoutError"),
    new Error("lost", { cause: named("NoRespondersError") }),
    noPeers,
    7,
  ];
  const ask = (): Promise<number> => {
    const outcome = outcomes.shift();
    return typeof outcome === "number" ? Promise.resolve(outcome) : Promise.reject(outcome);
  };
  assertEquals(await patiently(ask), 7);
  let asked = 0;
  const refused = (): Promise<never> => {
    asked++;
    return Promise.reject(named("JetStreamApiError"));
  };
  await assertRejects(() => patiently(refused), Error, "JetStreamApiError");
  assertEquals(asked, 1);
  const denied = Object.assign(new Error("denied", { cause: named("PermissionViolationError") }), {
    name: "RequestError",
  });
  assertEquals([denied, named("RequestError"), named("ClosedConnectionError")].map(isUnanswered), [
    false,
    true,
    true,
  ]);
});

Deno.test("patiently() gives up in the end, with the reason", async () => {
  const silent = (): Promise<never> => Promise.reject(named("TimeoutError"));
  await assertRejects(() => patiently(silent, { forMs: 300 }), Error, "TimeoutError");
});

Deno.test("retryDuringElection() waits for what moves, and ends what stands still with the place where it stands", async () => {
  let steps = 0;
  const moving = new Promise<string>((resolve) => {
    const timer = setInterval(() => {
      if (++steps < 8) return;
      clearInterval(timer);
      resolve("done");
    }, 300);
  });
  assertEquals(
    await retryDuringElection(moving, { what: "count", moved: () => steps, forMs: 30_000 }),
    "done",
  );
  const still = retryDuringElection(new Promise(() => {}), {
    what: "read the log",
    moved: () => "7 of 9",
    forMs: 600,
  });
  await assertRejects(
    () => still,
    Error,
    "Cannot read the log: nothing has moved for 1 s (7 of 9). Look at the nodes",
  );
});

testWhen(
  natsInstalled,
  "a relay that begins while the nodes elect a leader waits for them",
  async () => {
    await using nats = await startNats();
    const nodes = await openNodes({ ...nats.access, name: "test" });
    try {
      // Two of three are frozen: nobody can be elected, and every question is left unanswered.
      nats.freeze(1);
      nats.freeze(2);
      const shared = new SharedLog({
        nodes,
        name: "patient_LOG",
        subject: "patient.log",
        tail: "patient.log_tail",
        storage: "file",
        replicas: 3,
        onEntry: () => {},
        onHole: () => {},
      });
      const made = shared.create();
      // wait: longer than a node is given for one answer
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      nats.thaw(1);
      nats.thaw(2);
      await made;
      assertEquals((await shared.end()).last, 0);
    } finally {
      await nodes.close();
    }
  },
);

Deno.test("a stream that was just made may be unknown for a moment, and any other refusal is told at once", async () => {
  const missing = Object.assign(new Error("stream not found"), { code: 10059 });
  const answers = [missing, missing, undefined];
  const ask = (): Promise<string> => {
    const error = answers.shift();
    return error === undefined ? Promise.resolve("here") : Promise.reject(error);
  };
  assertEquals(await patiently(ask, { isPassing: isMissing }), "here");
  answers.push(Object.assign(new Error("no"), { code: 10003 }));
  await assertRejects(() => patiently(ask, { isPassing: isMissing }), Error, "no");
});

Deno.test("an entry is lost when the leader says so for long, not when the nodes are slow to read it", async () => {
  const lost = Promise.withResolvers<number>();
  let slowReads = 0;
  let found: () => Promise<null> = () => {
    slowReads++;
    return Promise.reject(named("TimeoutError"));
  };
  const info = (): Promise<unknown> => Promise.resolve({ state: { first_seq: 1, last_seq: 5 } });
  const connection = {
    flush: () => Promise.resolve(),
    subscribe: () => {
      throw named("ClosedConnectionError");
    },
  };
  const nodes = {
    subscribe: () => () => {},
    connection,
    manager: { streams: { info, getMessage: () => found() } },
  };
  const shared = new SharedLog({
    nodes: nodes as unknown as Nodes, // cast: what a log asks of them
    name: "slow_LOG",
    subject: "slow.log",
    tail: "slow.log_tail",
    storage: "file",
    replicas: 3,
    lostMs: 300,
    onEntry: () => {},
    onHole: (next) => lost.resolve(next),
  });
  const following = shared.follow(0);
  // Five entries at each look, and two looks are longer than it takes to give one up.
  await eventually(
    { what: "it is asked again and again" },
    () => Promise.resolve(slowReads),
    (reads) => reads >= 25,
  );
  assertEquals(shared.position, 0);
  const isLost = await Promise.race([lost.promise.then(() => true), Promise.resolve(false)]);
  assertEquals(isLost, false);
  found = () => Promise.resolve(null);
  assertEquals(await lost.promise, 1);
  await following;
});

Deno.test("what the log does not answer is written again, until it is answered, refused for good, or nobody wants it", async () => {
  const silent = new EngineError("unavailable", "No answer");
  const count = async (
    outcomes: readonly (EngineError | undefined)[],
    isOver = () => false,
  ): Promise<number> => {
    let writes = 0;
    await untilAnswered(() => {
      const outcome = outcomes[writes++];
      return outcome === undefined ? Promise.resolve() : Promise.reject(outcome);
    }, isOver);
    return writes;
  };
  assertEquals(await count([silent, silent, undefined]), 3);
  assertEquals(await count([silent, new EngineError("closed", "Closed"), undefined]), 2);
  let looks = 0;
  assertEquals(await count([silent, silent, silent], () => ++looks > 2), 2);
});
