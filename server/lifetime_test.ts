import { assertEquals, assertInstanceOf } from "@std/assert";
import { runUntil } from "./lifetime.ts";
import { needed, StartFailed } from "./start_failed.ts";

Deno.test("a process that is asked to stop closes what it started and ends with 0", async () => {
  const done: string[] = [];
  const asked = Promise.withResolvers<void>();
  const code = runUntil(asked.promise, () => {
    done.push("started");
    return Promise.resolve({
      close: () => {
        done.push("closed");
        return Promise.resolve();
      },
    });
  });
  await Promise.resolve();
  assertEquals(done, ["started"]);
  asked.resolve();
  assertEquals([await code, done], [0, ["started", "closed"]]);
});

Deno.test("a process that cannot go on says why, closes nothing and ends with 1", async () => {
  const told: unknown[] = [];
  const code = await runUntil(
    new Promise(() => {}),
    () =>
      Promise.resolve({
        failed: Promise.resolve(new Error("the disk is full")),
        close: () => Promise.reject(new Error("must not be closed")),
      }),
    (what) => told.push(what),
  );
  assertEquals([code, told], [1, ["the disk is full"]]);
});

Deno.test("a failed start is told in words when the operator can mend it, and as a whole error when it is ours", async () => {
  const told: unknown[] = [];
  const fail = (error: Error): Promise<number> =>
    runUntil(new Promise(() => {}), () => Promise.reject(error), (what) => told.push(what));
  const ours = new TypeError("a fault");
  assertEquals([await fail(new StartFailed("Cannot start: no disk")), await fail(ours)], [1, 1]);
  assertEquals(told, ["Cannot start: no disk", ours]);
});

Deno.test("what is needed for a start is named with the deepest reason; a fault of ours stays as it is", async () => {
  const refused = Object.assign(new Error(""), { code: "ECONNREFUSED" });
  const caught = async (error: Error): Promise<unknown> => {
    try {
      return await needed("the database cannot be used (DATABASE_URL)", Promise.reject(error));
    } catch (caught) {
      return caught;
    }
  };
  const failed = await caught(new Error("overloaded", { cause: refused }));
  assertInstanceOf(failed, StartFailed);
  assertEquals(failed.message, "Cannot start: the database cannot be used (DATABASE_URL): ECONNREFUSED");
  for (const same of [new TypeError("ours"), failed]) assertEquals(await caught(same), same);
});
