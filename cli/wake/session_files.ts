/**
 * Notes that the wakers of a session of Claude Code leave for each other, as files in the agent's
 * folder: the monitor, which process it is; the hook, its pace, because each of its runs ends with
 * a wake. A hook that is run again takes the place of the one before.
 */
import type { Context } from "../command.ts";
import { agentName } from "../agent_record.ts";
import { type PaceState, restingPace } from "./pace.ts";

/** A session, as Claude Code tells its monitors and hooks. */
export interface HarnessSession {
  readonly id: string;
  /** The process of Claude Code. */
  readonly pid: number;
}

/** More than one person has sessions at a time. Files beyond it are dropped, which costs a wake. */
const maxFiles = 200;

/** Undefined outside of a session. The id becomes the name of a file. */
export function findSession({ platform }: Context): HarnessSession | undefined {
  const id = platform.variable("CLAUDE_CODE_SESSION_ID") ?? "";
  const pid = platform.variable("CLAUDE_PID") ?? "";
  const isKnown = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) &&
    /^[1-9]\d{0,8}$/.test(pid);
  return isKnown ? { id, pid: Number(pid) } : undefined;
}

export class SessionFiles {
  readonly #context: Context;
  readonly #session: HarnessSession;
  readonly #folder: string;

  constructor(context: Context, session: HarnessSession) {
    const { files, folders } = context.platform;
    this.#context = context;
    this.#session = session;
    this.#folder = files.join(folders.agents, agentName(context), "wake");
  }

  get isSessionOver(): boolean {
    return !this.#context.platform.isRunning(this.#session.pid);
  }

  /** For as long as this process runs: nobody takes the note away, and who reads it looks. */
  async noteMonitor(): Promise<void> {
    await this.#write("monitor", { waker: this.#context.platform.pid });
  }

  async hasMonitor(): Promise<boolean> {
    const { waker } = await this.#read("monitor");
    return typeof waker === "number" && this.#context.platform.isRunning(waker);
  }

  /** Returns the pace that the runs before have left. */
  async beginHook(): Promise<PaceState> {
    await this.#clean();
    const pace = paceIn(await this.#read("hook"));
    await this.noteHook(pace);
    return pace;
  }

  async noteHook({ wakes, wokenAtMs, inVain, isTold }: PaceState): Promise<void> {
    const { pid } = this.#context.platform;
    await this.#write("hook", { waker: pid, wakes, wokenAtMs, inVain, isTold });
  }

  /** No later run has begun. */
  async isNewestHook(): Promise<boolean> {
    return (await this.#read("hook"))["waker"] === this.#context.platform.pid;
  }

  /** Files of sessions that are over. */
  async #clean(): Promise<void> {
    const { files, isRunning } = this.#context.platform;
    const names = await files.list(this.#folder);
    for (const [at, name] of names.entries()) {
      const path = files.join(this.#folder, name);
      const { session } = parse(await files.read(path));
      const isOver = typeof session !== "number" || !isRunning(session);
      if (isOver || at >= maxFiles) await files.remove(path);
    }
  }

  async #read(kind: "monitor" | "hook"): Promise<Readonly<Record<string, unknown>>> {
    return parse(await this.#context.platform.files.read(this.#path(kind)));
  }

  async #write(kind: "monitor" | "hook", content: object): Promise<void> {
    const text = JSON.stringify({ session: this.#session.pid, ...content });
    await this.#context.platform.files.writePrivate(this.#path(kind), `${text}\n`);
  }

  #path(kind: "monitor" | "hook"): string {
    return this.#context.platform.files.join(this.#folder, `${kind}-${this.#session.id}.json`);
  }
}

/** A file that cannot be read is as none. */
function parse(text: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const content: unknown = JSON.parse(text ?? "{}");
    return typeof content === "object" && content !== null ? { ...content } : {};
  } catch {
    return {};
  }
}

/** `wokenAtMs` is minus infinity before the first wake, which JSON cannot say. */
function paceIn(
  { wakes, wokenAtMs, inVain, isTold }: Readonly<Record<string, unknown>>,
): PaceState {
  const isTime = (value: unknown): value is number =>
    typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
  if (!Array.isArray(wakes) || !isTime(wokenAtMs) || !isTime(inVain)) return restingPace;
  return {
    ...restingPace,
    wakes: wakes.filter(isTime),
    wokenAtMs,
    inVain,
    isTold: isTold === true,
  };
}
