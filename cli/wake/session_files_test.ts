// The pace of a hook from run to run, and what wakers of one session know of each other.
import { assert, assertEquals } from "@std/assert";
import type { Context } from "../command.ts";
import { files } from "../platform/files.ts";
import { isRunning } from "../platform/run_command.ts";
import { type PaceLimits, type PaceState, restingPace, step, timerOf } from "./pace.ts";
import { findSession, SessionFiles } from "./session_files.ts";

const limits: PaceLimits = { minMs: 2000, maxPerHour: 60, repeats: true };
const id = "01a1f4cb-d866-70f3-b104-4809e7179e24";

/** As much of a context as the wakers of an agent ask for. */
function contextOf(agents: string, variables: Record<string, string>, pid = Deno.pid): Context {
  const platform = {
    files,
    folders: { agents },
    pid,
    isRunning,
    variable: (name: string) => variables[name],
  };
  const given = { value: () => "bot", has: () => false, rest: [] };
  return { platform, given } as unknown as Context; // cast: no more of it is asked for
}

async function inFolder(act: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "static-wake-" });
  try {
    await act(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A process that has ended. */
async function endedPid(): Promise<number> {
  const child = new Deno.Command("true").spawn();
  await child.status;
  return child.pid;
}

/** One run of the hook: something waits, and no session has asked. When it tells, or would. */
function tellsAt(
  pace: PaceState,
  nowMs: number,
): { readonly at: number; readonly pace: PaceState } {
  const looking = step(pace, { type: "came", channel: "a", atMs: nowMs }, { nowMs, limits }).pace;
  const looked = { type: "looked", askedAtMs: new Map(), sinceMs: 0 } as const;
  const { pace: decided, effects } = step(looking, looked, { nowMs, limits });
  return { at: effects[0]?.type === "tell" ? nowMs : timerOf(decided) ?? Infinity, pace: decided };
}

Deno.test("findSession() takes ids and process ids as Claude Code has them, and nothing else", () => {
  const found = (variables: Record<string, string>): unknown =>
    findSession(contextOf("", variables));
  assertEquals(found({ CLAUDE_CODE_SESSION_ID: id, CLAUDE_PID: "42" }), { id, pid: 42 });
  const wrong = [
    "",
    "../../../etc/passwd",
    `${id}/x`,
    `${id}\n`,
    id.toUpperCase(),
    "x".repeat(1e6),
  ];
  for (const text of wrong) {
    assertEquals(found({ CLAUDE_CODE_SESSION_ID: text, CLAUDE_PID: "42" }), undefined);
  }
  for (const pid of ["", "0", "-1", "1.5", "1e3", "$(id)", "99999999999"]) {
    assertEquals(found({ CLAUDE_CODE_SESSION_ID: id, CLAUDE_PID: pid }), undefined, pid);
  }
});

Deno.test("a model that is woken and fetches nothing is woken less and less by later runs", () =>
  inFolder(async (folder) => {
    let nowMs = 1_800_000_000_000;
    const pauses: number[] = [];
    for (let run = 0; run < 12; run++) {
      const notes = new SessionFiles(contextOf(folder, {}), { id, pid: Deno.pid });
      const { at } = tellsAt(await notes.beginHook(), nowMs);
      pauses.push((at - nowMs) / 60_000);
      const { pace } = tellsAt(await notes.beginHook(), at);
      await notes.noteHook({ ...pace, isTold: true });
      nowMs = at;
    }
    assertEquals(pauses, [0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60]);
  }));

Deno.test("a later run takes the place of the one before, and a monitor that of both", () =>
  inFolder(async (folder) => {
    const session = { id, pid: Deno.pid };
    const [first, second] = [1, Deno.pid].map((pid) =>
      new SessionFiles(contextOf(folder, {}, pid), session)
    );
    await first?.beginHook();
    assertEquals([await first?.isNewestHook(), await second?.hasMonitor()], [true, false]);
    await second?.beginHook();
    assertEquals([await first?.isNewestHook(), await second?.isNewestHook()], [false, true]);
    await second?.noteMonitor();
    assertEquals(await first?.hasMonitor(), true);
    const gone = await endedPid();
    await new SessionFiles(contextOf(folder, {}, gone), session).noteMonitor();
    assertEquals(await first?.hasMonitor(), false);
    const over = new SessionFiles(contextOf(folder, {}), { id, pid: gone });
    assertEquals([over.isSessionOver, second?.isSessionOver], [true, false]);
  }));

Deno.test("files of sessions that are over go, and what they say wrongly counts as nothing", () =>
  inFolder(async (folder) => {
    const path = `${folder}/bot/wake`;
    await Deno.mkdir(path, { recursive: true });
    const gone = await endedPid();
    await Deno.writeTextFile(`${path}/hook-old.json`, JSON.stringify({ session: gone }));
    const hook = `${path}/hook-${id}.json`;
    const notes = new SessionFiles(contextOf(folder, {}), { id, pid: Deno.pid });
    const session = Deno.pid;
    const wrong = [
      "",
      "[",
      "null",
      "7",
      JSON.stringify({ session, wakes: "x", wokenAtMs: 1, inVain: 1 }),
      JSON.stringify({ session, wakes: [], wokenAtMs: -1, inVain: 1 }),
      JSON.stringify({ session, wakes: [], wokenAtMs: 1, inVain: 1e300 }),
      JSON.stringify({ session: "x", waker: "x" }),
    ];
    for (const text of wrong) {
      await Deno.writeTextFile(hook, text);
      assertEquals(await notes.beginHook(), restingPace, text);
      assert(await notes.isNewestHook());
    }
    const left = await Array.fromAsync(Deno.readDir(path), ({ name }) => name);
    assertEquals(left, [`hook-${id}.json`]);
  }));
