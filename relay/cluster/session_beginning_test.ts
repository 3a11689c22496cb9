// A session that began without its agent does not stay open in the log.
import { assertEquals, assertRejects } from "@std/assert";
import { beginSession } from "./session_beginning.ts";

const fail = (): Promise<never> => Promise.reject(new Error("no answer"));

Deno.test("a session whose relay did not catch up ends, also when it begins only afterwards", async () => {
  const { promise: begun, resolve } = Promise.withResolvers<number>();
  const { promise: ended, resolve: end } = Promise.withResolvers<number>();
  const beginning = beginSession({
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
  assertEquals(await beginSession({ begin, catchUp: () => Promise.resolve(), end }), 7);
  await assertRejects(() => beginSession({ begin: fail, catchUp: () => Promise.resolve(), end }), Error, "no answer");
  assertEquals(ended, []);
});
