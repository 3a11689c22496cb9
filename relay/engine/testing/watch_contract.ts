/**
 * Watchers hear of every entry once, in order, when it is durable and before its sender is
 * answered.
 */
import { assert, assertEquals } from "@std/assert";
import type { Entry } from "../engine.ts";
import type { ContractTest } from "./contract.ts";
import { commit, createChannel, message, readAll } from "./sample.ts";

export function watchContract(test: ContractTest): void {
  test("watch() tells every entry of concurrent appends once, in order, and of its channel only", async (engine) => {
    const [channelId, other] = [await createChannel(engine, 1), await createChannel(engine, 2)];
    const heard: Entry[] = [];
    engine.watch(channelId, (entry) => heard.push(entry));
    await Promise.all(
      Array.from({ length: 500 }, (_, i) => [
        engine.append(channelId, message(`${i}`)),
        engine.append(other, message(`${i}`)),
        engine.append(channelId, message(`${i}`)),
        engine.append(channelId, commit(`late ${i}`, 1)),
      ]).flat(),
    );
    assertEquals(heard, (await readAll(engine, channelId)) as Entry[]);
    assertEquals(heard.length, 500);
  });

  test("watch() tells before append() resolves, and nothing that cannot be read", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const reads: Promise<number>[] = [];
    let heard = 0;
    engine.watch(channelId, ({ sequence }) => {
      heard = sequence;
      reads.push(
        engine.read(channelId, { after: sequence - 1, maxBytes: 1 }).then((items) =>
          items[0]?.sequence ?? 0
        ),
      );
    });
    for (let i = 1; i <= 20; i++) {
      await engine.append(channelId, message(`${i}`));
      assertEquals(heard, i);
    }
    assertEquals(await Promise.all(reads), Array.from({ length: 20 }, (_, i) => i + 1));
  });

  test("a watcher that throws harms neither the others nor the append", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const heard: number[] = [];
    engine.watch(channelId, () => {
      throw new Error("a watcher's mistake");
    });
    engine.watch(channelId, ({ sequence }) => heard.push(sequence));
    await Promise.all(["a", "b"].map((key) => engine.append(channelId, message(key))));
    assertEquals(heard, [1, 2]);
  });

  test("who stops watching hears nothing more, even when stopped while the others are being told", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const heard: string[] = [];
    const stops: (() => void)[] = [];
    engine.watch(channelId, ({ sequence }) => {
      heard.push(`first ${sequence}`);
      if (sequence === 2) stops.forEach((stop) => stop());
    });
    stops.push(engine.watch(channelId, ({ sequence }) => heard.push(`second ${sequence}`)));
    await Promise.all(["a", "b", "c"].map((key) => engine.append(channelId, message(key))));
    assertEquals(heard, ["first 1", "second 1", "first 2", "first 3"]);
    stops.forEach((stop) => stop());
  });

  test("a watcher may append", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const answers: Promise<unknown>[] = [];
    engine.watch(channelId, ({ sequence }) => {
      if (sequence < 5) answers.push(engine.append(channelId, message(`answer to ${sequence}`)));
    });
    await engine.append(channelId, message("start"));
    for (let i = 0; i < 4; i++) await answers[i];
    assert((await engine.findChannel(channelId))?.head === 5);
  });
}
