import { assert, assertEquals, assertInstanceOf, assertMatch } from "@std/assert";
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
  assertEquals(
    failed.message,
    "Cannot start: the database cannot be used (DATABASE_URL): ECONNREFUSED",
  );
  for (const same of [new TypeError("ours"), failed]) assertEquals(await caught(same), same);
});

/** A process that guards itself and then runs this code. Its log, and how it ended. */
async function guarded(
  code: string,
): Promise<{ readonly events: readonly string[]; readonly exit: number }> {
  const module = new URL("mod.ts", import.meta.url).href;
  const program = `
    import { EventEmitter } from "node:events";
    import process from "node:process";
    import { guardProcess } from "${module}";
    const count = guardProcess({ writeLog: (line) => console.log(line), end: () => Deno.exit(1) });
    const reset = () => Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET", syscall: "read" });
    ${code}`;
  const { code: exit, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--quiet", "--no-check", program],
  }).output();
  const lines = new TextDecoder().decode(stdout).trim().split("\n");
  assertEquals(new TextDecoder().decode(stderr), "");
  return {
    exit,
    events: lines.map((line) => line.startsWith("{") ? String(JSON.parse(line).event) : line),
  };
}

Deno.test("an error of a socket that nobody took care of is counted and told, and the process goes on", async () => {
  const { exit, events } = await guarded(`
    setTimeout(() => { throw reset(); }, 0);
    Promise.reject(reset());
    process.nextTick(() => new EventEmitter().emit("error", reset()));
    setTimeout(() => console.log(count()), 50);`);
  assertEquals([exit, events], [0, [...Array(3).fill("unowned_socket_error"), "3"]]);
});

for (
  const code of ["setTimeout(() => missing(), 0);", "Promise.reject(new TypeError('a fault'));"]
) {
  Deno.test(`any other error that nobody caught ends the process, and says so: ${code}`, async () => {
    const { exit, events } = await guarded(
      `${code} setTimeout(() => console.log("went on"), 1_000);`,
    );
    assertEquals([exit, events], [1, ["fault"]]);
  });
}

Deno.test("a log that nobody reads does not keep the guard from its work", async () => {
  const { exit, events } = await guarded(`
    guardProcess({ writeLog: () => { throw new Deno.errors.BrokenPipe("gone"); }, end: () => console.log("ended") });
    setTimeout(() => { throw reset(); }, 0);
    setTimeout(() => console.log(count()), 50);`);
  assert(events.includes("1"), events.join());
  assertMatch(`${exit} ${events.join()}`, /^0 unowned_socket_error,1$/);
});
