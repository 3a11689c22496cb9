// A session that began without its agent does not stay open in the log.
import { assertEquals, assertRejects } from "@std/assert";
import type { LogMoment } from "../../core/cluster.ts";
import { settle } from "../../core/testing/simulated_time.ts";
import { beginSession } from "./session_beginning.ts";

const fail = (): Promise<never> => Promise.reject(new Error("no answer"));
const start = { position: 3, timeMs: 0 };
const wanted = { since: start, isWanted: (): boolean => true, moment: (): LogMoment => start };

Deno.test("a session whose relay did not catch up ends, also when it begins only afterwards", async () => {
  const { promise: begun, resolve } = Promise.withResolvers<number>();
  const { promise: ended, resolve: end } = Promise.withResolvers<number>();
  const beginning = beginSession({
    ...wanted,
    begin: () => begun,
    catchUp: fail,
    end: async (session) => await Promise.resolve(end(session)),
  });
  await assertRejects(() => beginning, Error, "no answer");
  resolve(7);
  assertEquals(await ended, 7);
});

Deno.test("a session whose own beginning the log tells only after it was given up ends", async () => {
  const ended: number[] = [];
  const late: ((session: number) => void)[] = [];
  const beginning = beginSession({
    ...wanted,
    begin: (_, each) => {
      late.push(each);
      return fail();
    },
    catchUp: () => Promise.resolve(),
    end: async (session) => await Promise.resolve(void ended.push(session)),
  });
  await assertRejects(() => beginning, Error, "no answer");
  assertEquals(ended, []);
  late[0]?.(7);
  assertEquals(ended, [7]);
});

Deno.test("a session that its agent is told of does not end, and one that did not begin has nothing to end", async () => {
  const ended: number[] = [];
  const end = async (session: number): Promise<void> =>
    await Promise.resolve(void ended.push(session));
  const begin = (): Promise<number> => Promise.resolve(7);
  assertEquals(await beginSession({ ...wanted, begin, catchUp: () => Promise.resolve(), end }), 7);
  const unbegun = beginSession({ ...wanted, begin: fail, catchUp: () => Promise.resolve(), end });
  await assertRejects(() => unbegun, Error, "no answer");
  assertEquals(ended, []);
});

Deno.test("a relay that had not read of its agent's last session begins once more, unless the agent may have gone there", async () => {
  /** `tookMs`: from the moment in which the agent came. */
  const tries = async (tookMs: number, waits: readonly boolean[]): Promise<[unknown, number[]]> => {
    const asked: number[] = [];
    const beginning = beginSession({
      begin: async (behind) => await Promise.resolve(asked.push(behind) === 1 ? undefined : 7),
      catchUp: () => Promise.resolve(),
      end: () => Promise.resolve(),
      since: start,
      isWanted: () => waits[asked.length] ?? false,
      moment: () => ({ position: 9, timeMs: tookMs }),
    });
    return [await beginning.catch(({ code }) => code), asked];
  };
  // First as if nothing had been read since the agent came.
  assertEquals(await tries(10, [true, true]), [7, [3, 9]]);
  assertEquals(await tries(10, [true, false]), ["unavailable", [3]]);
  assertEquals(await tries(9_000, [true, true]), ["unavailable", [3]]);
  assertEquals(await tries(10, [false]), ["unavailable", []]);
});

Deno.test("a session that its agent was told of as refused is not begun once more", async () => {
  const { promise: verdict, resolve } = Promise.withResolvers<number | undefined>();
  let asked = 0;
  const begin = (): Promise<number | undefined> => ++asked === 1 ? verdict : Promise.resolve(7);
  const beginning = beginSession({ ...wanted, begin, catchUp: fail, end: () => Promise.resolve() });
  await assertRejects(() => beginning, Error, "no answer");
  resolve(undefined);
  await settle();
  assertEquals(asked, 1);
});
