/**
 * One run of the hook of a session of Claude Code. It ends with the wake, or when it has become
 * clear that there is none to give: then it throws why.
 */
import type { Context } from "../command.ts";
import { Failure } from "../failure.ts";
import type { SessionFiles } from "./session_files.ts";
import type { WakeOptions } from "./waker.ts";

/** Between two looks at whether the session still needs this run. */
const lookMs = 5000;

type HookWaker = Required<Pick<WakeOptions, "tell" | "pace" | "over">>;

export async function awaitWake(
  { platform }: Context,
  notes: SessionFiles,
  wake: (how: HookWaker) => Promise<void>,
): Promise<void> {
  const pace = await notes.beginHook();
  const over = new AbortController();
  const look = async (): Promise<void> => {
    const why = await whyOver(notes).catch(() => "The session's files cannot be read");
    if (why !== undefined) over.abort(notNeeded(why));
  };
  await look();
  over.signal.throwIfAborted();
  const stop = platform.every(lookMs, () => void look());
  let isWoken = false;
  try {
    await wake({
      pace,
      over: over.signal,
      tell: async (woken) => {
        await look();
        over.signal.throwIfAborted();
        // On disk first: a wake that is not noted would come again and again.
        await notes.noteHook({ ...woken, isTold: true });
        isWoken = true;
        over.abort();
        return true;
      },
    });
  } finally {
    stop();
  }
  if (!isWoken) over.signal.throwIfAborted();
}

/** Undefined while this run is the one that wakes the session. */
async function whyOver(notes: SessionFiles): Promise<string | undefined> {
  if (notes.isSessionOver) return "The session is over";
  if (await notes.hasMonitor()) return "The monitor of this session wakes it";
  return await notes.isNewestHook() ? undefined : "A later run of the hook wakes this session";
}

function notNeeded(why: string): Failure {
  return new Failure("not_found", why, { exit: "refused" });
}
