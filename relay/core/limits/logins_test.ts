import { assert, assertEquals } from "@std/assert";
import { parseAccountId } from "../../../proto/mod.ts";
import { sampleAgent } from "../../engine/testing/sample.ts";
import { Logins } from "./logins.ts";

interface Stage {
  nowMs: number;
  cpuMs: number;
  readonly logins: Logins;
}

function createStage(): Stage {
  const clock = { nowMs: 0, cpuMs: 0 };
  const deps = { elapsedMs: (): number => clock.nowMs, cpuMs: (): number => clock.cpuMs };
  return Object.assign(clock, { logins: new Logins(deps) });
}

const account = parseAccountId("00000000-0000-4000-8000-000000000001");
const stranger = { account, isMember: false };
const member = { account, isMember: true };

/** Takes all but the last tenth; returns how many. */
function drain({ logins }: Stage, by = stranger): number {
  for (let taken = 0;; taken++) {
    if (logins.take({ agentId: sampleAgent(1_000_000 + taken), ...by }) !== undefined) return taken;
  }
}

Deno.test("logins of two seconds may come at once, the last tenth of them members only", () => {
  const stage = createStage();
  assertEquals(drain(stage), 321);
  assertEquals(drain(stage, member), 36);
  stage.nowMs += 60_000;
  // The one that was refused first has its turn now.
  assertEquals(drain(stage), 322);
});

Deno.test("refused agents get turns one after the other, and keep them however often they ask", () => {
  const stage = createStage();
  const { logins } = stage;
  drain(stage, member);
  const turns = Array.from(
    { length: 100 },
    (_, number) => logins.take({ agentId: sampleAgent(number), ...stranger }),
  );
  turns.forEach((ms, index) => assert(Math.abs((ms ?? 0) - (index + 2) * 5.6) < 1.01, `${ms}`));
  const waiting = logins.waiting;
  for (let again = 0; again < 10_000; again++) {
    assertEquals(logins.take({ agentId: sampleAgent(7), ...stranger }), turns[7]);
  }
  assertEquals([logins.waiting, waiting], [101, 101]);
  // At its turn there is a login for each, and newcomers do not take it.
  for (let number = 0; number < 100; number++) {
    stage.nowMs = turns[number] ?? 0;
    assert(logins.take({ agentId: sampleAgent(2_000_000 + number), ...stranger }) !== undefined);
    assertEquals(
      logins.take({ agentId: sampleAgent(number), ...stranger }),
      undefined,
      String(number),
    );
  }
});

Deno.test("nobody is told more than two minutes, and the queue is as long", () => {
  const stage = createStage();
  drain(stage, member);
  for (let number = 0; number < 30_000; number++) {
    const ms = stage.logins.take({ agentId: sampleAgent(number), ...stranger }) ?? 0;
    assert(ms > 0 && ms <= 120_000);
  }
  assert(stage.logins.waiting <= 120_000 / 5.6);
  stage.nowMs += 240_000;
  assertEquals(
    [stage.logins.waiting, stage.logins.take({ agentId: sampleAgent(1), ...stranger })],
    [0, undefined],
  );
});

Deno.test("what a login takes is measured while many come, within bounds", () => {
  for (const [cpuMs, expected] of [[5, 5], [0.1, 1.4], [100, 11]] as const) {
    const stage = createStage();
    for (let second = 0; second < 60; second++) {
      for (let login = 0; login < 40; login++) {
        stage.nowMs += 25;
        stage.cpuMs += cpuMs;
        stage.logins.take({ agentId: sampleAgent(login), ...stranger });
      }
    }
    assert(Math.abs(stage.logins.loginMs - expected) < 0.05, String(stage.logins.loginMs));
    // The rush ends in the middle of a measurement.
    stage.nowMs += 1_000;
    stage.logins.take({ agentId: sampleAgent(1), ...stranger });
    const { loginMs } = stage.logins;
    for (let second = 0; second < 60; second++) {
      stage.nowMs += 1_000;
      stage.cpuMs += 900;
      stage.logins.take({ agentId: sampleAgent(1), ...stranger });
    }
    assertEquals(stage.logins.loginMs, loginMs, "few logins say nothing");
  }
});

Deno.test("a relay whose processor time is not known refuses nobody", () => {
  const logins = new Logins({ elapsedMs: () => 0 });
  for (let number = 0; number < 10_000; number++) {
    assertEquals(logins.take({ agentId: sampleAgent(number), ...stranger }), undefined);
  }
});

/** Agents of one account log in, end and come again at once; others come back after a loss. */
function besiege(attackers: number, honest: number): number {
  const stage = createStage();
  const attacker = { account: parseAccountId(crypto.randomUUID()), isMember: true };
  const fleet = { account, isMember: true };
  let due = Array.from({ length: honest }, (_, number) => ({ number, atMs: 500 + 5 * number }));
  for (; due.length > 0 && stage.nowMs < 600_000; stage.nowMs += 10) {
    // Six hundred a second, with no regard for their turns.
    for (let i = 0; i < 6; i++) {
      const agentId = sampleAgent(1_000_000 + Math.floor(Math.random() * attackers));
      stage.logins.take({ agentId, ...attacker });
    }
    due = due.flatMap((agent) => {
      if (agent.atMs > stage.nowMs) return [agent];
      const retryMs = stage.logins.take({ agentId: sampleAgent(agent.number), ...fleet });
      // As the SDK waits: the time that it was told, and up to as much again.
      return retryMs === undefined
        ? []
        : [{ ...agent, atMs: stage.nowMs + retryMs * (1 + Math.random()) }];
    });
  }
  return stage.nowMs;
}

Deno.test("an account whose agents come again and again does not keep those of another one out", () => {
  const tookMs = besiege(20_000, 300);
  assert(tookMs < 60_000, `all were back after ${tookMs} ms`);
});
