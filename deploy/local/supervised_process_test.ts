import { assert, assertEquals, assertRejects } from "@std/assert";
import { SimulatedClock } from "../../tests/support/mod.ts";
import {
  type ListeningReport,
  PartFailed,
  type PartProcess,
  SupervisedProcess,
} from "./supervised_process.ts";

/** A process that does what the test says. */
class Puppet implements PartProcess {
  readonly #ended = Promise.withResolvers<string>();
  readonly #printed = Promise.withResolvers<string>();
  readonly ended = this.#ended.promise;
  readonly lines = this.#lines();
  calls: string[] = [];
  complaint = "it hurts\n";

  listen(): void {
    this.#printed.resolve('{"event":"listening","url":"http://127.0.0.1:1234"}');
  }

  die(how: string): void {
    this.#ended.resolve(how);
  }

  complaints(): string {
    return this.complaint;
  }

  letGo(): void {
    this.calls.push("let go");
  }

  kill(): void {
    this.calls.push("kill");
    this.die("was ended by SIGKILL");
  }

  async *#lines(): AsyncGenerator<string, void, undefined> {
    yield await this.#printed.promise;
  }
}

function createStage(): {
  part: SupervisedProcess;
  puppets: Puppet[];
  lasts: (ListeningReport | undefined)[];
  said: string[];
  clock: SimulatedClock;
} {
  const [clock, puppets, lasts, said] = [
    new SimulatedClock(),
    [] as Puppet[],
    [] as (ListeningReport | undefined)[],
    [] as string[],
  ];
  const part = new SupervisedProcess({
    name: "Relay",
    spawn: (last) => {
      lasts.push(last);
      const puppet = new Puppet();
      puppets.push(puppet);
      return puppet;
    },
    onLine: () => {},
    say: (text) => said.push(text),
    ...clock,
  });
  return { part, puppets, lasts, said, clock };
}

Deno.test("a part that dies is started again on the same ports, later each time, and each is said", async () => {
  const { part, puppets, lasts, said, clock } = createStage();
  const up = part.start();
  puppets[0]?.listen();
  await up;
  for (const [index, delayMs] of [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].entries()) {
    puppets[index]?.die("ended with code 1");
    await clock.advance(delayMs - 1);
    assertEquals(puppets.length, index + 1);
    await clock.advance(1);
    assertEquals(puppets.length, index + 2);
    assertEquals(lasts.at(-1)?.url, "http://127.0.0.1:1234");
  }
  assertEquals(said[0], "Relay ended with code 1; starting it again in 0.5 s\nit hurts");
  puppets.at(-1)?.listen();
  await clock.settle();
  assertEquals(said.at(-1), "Relay runs again after 0.0 s");
});

Deno.test("a part that ran for a minute is well: its next death is a first one", async () => {
  const { part, puppets, said, clock } = createStage();
  const up = part.start();
  puppets[0]?.listen();
  await up;
  for (let death = 0; death < 3; death++) {
    puppets.at(-1)?.listen();
    await clock.advance(60_000);
    puppets.at(-1)?.die("was ended by SIGKILL");
    await clock.advance(500);
  }
  assertEquals(puppets.length, 4);
  assertEquals(said.filter((text) => text.includes("in 0.5 s")).length, 3);
});

Deno.test("a part that cannot start the first time is not tried again, and its complaint is the reason", async () => {
  const { part, puppets, clock } = createStage();
  const failed = assertRejects(() => part.start(), PartFailed, "it hurts");
  puppets[0]?.die("ended with code 1");
  await failed;
  await clock.advance(100_000);
  assertEquals(puppets.length, 1);
});

Deno.test("a part that dies without a word before it listens is named, with how it ended", async () => {
  const { part, puppets } = createStage();
  const failed = assertRejects(() => part.start(), PartFailed, "Relay was ended by SIGKILL");
  const [puppet] = puppets;
  assert(puppet !== undefined);
  puppet.complaint = "";
  puppet.kill();
  await failed;
});

Deno.test("a part that is stopped is let go, ended when it takes too long, and never started again", async () => {
  const { part, puppets, said, clock } = createStage();
  const up = part.start();
  puppets[0]?.listen();
  await up;
  const stopped = part.stop(3000);
  await clock.advance(2999);
  assertEquals(puppets[0]?.calls, ["let go"]);
  await clock.advance(1);
  assertEquals(puppets[0]?.calls, ["let go", "kill"]);
  assert(!await stopped);
  await clock.advance(100_000);
  assertEquals([puppets.length, said, clock.timers], [1, [], 0]);
  await assertRejects(() => part.start(), PartFailed);
});

Deno.test("a restart lets the old process finish before the new one begins, and is no death", async () => {
  const { part, puppets, said, clock } = createStage();
  const up = part.start();
  puppets[0]?.listen();
  await up;
  const restarted = part.restart();
  await clock.settle();
  assertEquals([puppets[0]?.calls, puppets.length], [["let go"], 1]);
  puppets[0]?.die("ended with code 0");
  await clock.settle();
  puppets[1]?.listen();
  await restarted;
  assertEquals(said, ["Relay runs again after 0.0 s"]);
});
