import { assertEquals } from "@std/assert";
import { parseAccountId } from "../../../proto/mod.ts";
import { AppendGate } from "./append_gate.ts";
import { accountOf } from "../testing/world.ts";

const account = (number: number): ReturnType<typeof parseAccountId> =>
  parseAccountId(accountOf(number));

/** Entries of accounts that the engine holds until it is told to go on. */
class HeldEngine {
  readonly gate = new AppendGate();
  readonly started: string[] = [];
  readonly #held: (() => void)[] = [];

  async append(number: number, entry: number): Promise<void> {
    await this.gate.pass(account(number), async () => {
      this.started.push(`${number}:${entry}`);
      await new Promise<void>((resolve) => this.#held.push(resolve));
    });
  }

  /** The first of those under way are done. */
  async finish(count: number): Promise<void> {
    for (const done of this.#held.splice(0, count)) done();
    for (let i = 0; i < 20; i++) await undefined;
  }

  startedOf(number: number): number {
    return this.started.filter((text) => text.startsWith(`${number}:`)).length;
  }
}

Deno.test("an account that is alone fills two groups of the engine, and several have a small share each, so that nobody waits long", async () => {
  const engine = new HeldEngine();
  const appending = Array.from({ length: 400 }, (_, i) => engine.append(1, i));
  assertEquals(engine.startedOf(1), 256);
  // Newcomers do not wait for those that were there before.
  for (let i = 0; i < 200; i++) appending.push(engine.append(2, i));
  assertEquals(engine.startedOf(2), 24);
  await engine.finish(256);
  assertEquals(engine.startedOf(1), 256 + 24);
  while (engine.gate.underWay > 0) await engine.finish(50);
  await Promise.all(appending);
});

Deno.test("who waits goes on when other accounts are done, and nothing of an account is reordered", async () => {
  const engine = new HeldEngine();
  const appending = [2, 3, 1].flatMap((number) =>
    Array.from({ length: 150 }, (_, i) => engine.append(number, i))
  );
  // More come while others leave, whose part is free then.
  for (let more = 150; engine.gate.underWay > 0;) {
    await engine.finish(7);
    if (more < 200) appending.push(engine.append(1, more++));
  }
  await Promise.all(appending);
  for (const number of [1, 2, 3]) {
    const own = engine.started.filter((text) => text.startsWith(`${number}:`));
    assertEquals(own, Array.from({ length: number === 1 ? 200 : 150 }, (_, i) => `${number}:${i}`));
  }
});
