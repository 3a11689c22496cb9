// A session that began without its agent does not stay open in the log.
import { assertEquals, assertRejects } from "@std/assert";
import { beginSession } from "./session_beginning.ts";

const fail = (): Promise<never> => Promise.reject(new Error("no answer"));
const wanted = { isWanted: (): boolean => true, nowMs: (): number => 0 };

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
    begin: (each) => {
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
  const end = async (session: number): Promise<void> => await Promise.resolve(void ended.push(session));
  const begin = (): Promise<number> => Promise.resolve(7);
  assertEquals(await beginSession({ ...wanted, begin, catchUp: () => Promise.resolve(), end }), 7);
  const unbegun = beginSession({ ...wanted, begin: fail, catchUp: () => Promise.resolve(), end });
  await assertRejects(() => unbegun, Error, "no answer");
  assertEquals(ended, []);
});

Deno.test("a relay that had not read of its agent's last session begins once more, unless the agent may have gone there", async () => {
  const tries = async (tookMs: number, isWanted: boolean): Promise<[unknown, number]> => {
    const stage = { asked: 0, nowMs: 0 };
    const beginning = beginSession({
      begin: async () => {
        stage.nowMs += tookMs;
        return await Promise.resolve(++stage.asked === 1 ? undefined : 7);
      },
      catchUp: () => Promise.resolve(),
      end: () => Promise.resolve(),
      isWanted: () => isWanted,
      nowMs: () => stage.nowMs,
    });
    return [await beginning.catch(({ code }) => code), stage.asked];
  };
  assertEquals(await tries(10, true), [7, 2]);
  assertEquals(await tries(10, false), ["unavailable", 1]);
  assertEquals(await tries(9_000, true), ["unavailable", 1]);
});
