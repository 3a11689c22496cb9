/**
 * Wakes the model of one agent: looks on at its channels, asks the host whether a session has been
 * given what came, and tells the harness. Reads as nobody, so that no message is taken from a
 * session.
 */
import type { Envelope } from "../../sdk/mod.ts";
import { AgentLink } from "../mcp/agent_link.ts";
import type { Context } from "../command.ts";
import { toFailure } from "../failure.ts";
import { findRunning } from "../agent_access.ts";
import { Hints } from "../mcp/hints.ts";
import { isAccepted } from "../mcp/message_judge.ts";
import type { SenderRule } from "../mcp/policy.ts";
import {
  type PaceEvent,
  type PaceLimits,
  type PaceState,
  restingPace,
  type SessionActivity,
  step,
  timerOf,
} from "./pace.ts";

export interface WakeOptions {
  /** The durable reader of the model's sessions. */
  readonly reader: string;
  /** For senders without a rule of their own. */
  readonly policy: SenderRule;
  /** Messages to everybody wake, too. */
  readonly all: boolean;
  readonly limits: PaceLimits;
  /** The pace that an earlier run has left. */
  readonly pace?: PaceState;
  /** Returns whether the harness was told. Throws when there is no way to tell it. */
  readonly tell: (pace: PaceState) => Promise<boolean>;
  /** There is nobody left to wake. */
  readonly over?: AbortSignal;
}

/** Between two looks at which channels the agent is in. */
const channelsMs = 5000;
/** Before an agent that cannot be had is tried again: longer each time. */
const [retryMs, maxRetryMs] = [2000, 60_000];

/** Until the user interrupts, or `over`. */
export async function wakeModel(context: Context, options: WakeOptions): Promise<void> {
  const { platform: { interrupted, deadline, nowMs } } = context;
  const link = new AgentLink(context);
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  const waker = new Waker({ context, options, fail });
  const { reader, policy, all } = options;
  const hints = new Hints({
    channel: (name) => link.channel(name),
    agentId: async () => (await link.agent()).agentId,
    reader,
    mayWake: async (message) =>
      isAddressed(message, all) &&
      await isAccepted(context, policy, message),
    tell: (channel, atMs) => waker.hear({ type: "came", channel, atMs }),
    deadline,
    nowMs,
  });
  try {
    const signal = AbortSignal.any([interrupted, ...(options.over ? [options.over] : [])]);
    await Promise.race([failed, watchAll({ context, link, hints, signal })]);
  } finally {
    hints.close();
    waker.close();
    await link.close();
  }
  interrupted.throwIfAborted();
}

function isAddressed({ to }: Envelope, all: boolean): boolean {
  return all || to !== undefined;
}

interface AgentWatch {
  readonly context: Context;
  readonly link: AgentLink;
  readonly hints: Hints;
  readonly signal: AbortSignal;
}

/** Channels that the agent joins later, too. */
async function watchAll({ context, link, hints, signal }: AgentWatch): Promise<void> {
  const { platform: { deadline }, output } = context;
  const unwatched = new Set<string>();
  for (let tries = 0; !signal.aborted;) {
    const channels = await link.agent().then(({ channels }) => channels, async (error) => {
      const failure = toFailure(error);
      if (failure.exit !== "unavailable") throw error;
      if (tries === 0) await output.warn(`${failure.message}; trying again`);
      return undefined;
    });
    for (const name of channels ?? []) {
      if (hints.watch(name) || unwatched.has(name)) continue;
      unwatched.add(name);
      await output.warn(`Too many channels: nothing in ${name} wakes the model`);
    }
    const pauseMs = channels === undefined
      ? Math.min(maxRetryMs, retryMs * 2 ** tries)
      : channelsMs;
    tries = channels === undefined ? tries + 1 : 0;
    await over(AbortSignal.any([signal, deadline(pauseMs)]));
  }
}

interface WakerParts {
  readonly context: Context;
  readonly options: Pick<WakeOptions, "reader" | "limits" | "pace" | "tell">;
  /** Ends the command. */
  readonly fail: (error: unknown) => void;
}

/** Carries out what the machine says. */
class Waker {
  readonly #parts: WakerParts;
  readonly #closing = new AbortController();
  #pace: PaceState;
  #timerAtMs: number | undefined;

  constructor(parts: WakerParts) {
    this.#parts = parts;
    this.#pace = parts.options.pace ?? restingPace;
  }

  hear(event: PaceEvent): void {
    if (this.#closing.signal.aborted) return;
    const { context: { platform }, options: { limits } } = this.#parts;
    const { pace, effects } = step(this.#pace, event, { nowMs: platform.nowMs(), limits });
    this.#pace = pace;
    for (const { type } of effects) void (type === "look" ? this.#look() : this.#tell());
    this.#setTimer();
  }

  close(): void {
    this.#closing.abort();
  }

  #setTimer(): void {
    const { platform: { deadline, nowMs } } = this.#parts.context;
    const atMs = timerOf(this.#pace);
    if (atMs === this.#timerAtMs) return;
    this.#timerAtMs = atMs;
    if (atMs === undefined) return;
    const rung = AbortSignal.any([
      this.#closing.signal,
      deadline(Math.max(1, Math.ceil(atMs - nowMs()))),
    ]);
    void over(rung).then(() => {
      if (this.#timerAtMs !== atMs) return;
      // Set again if it was early.
      this.#timerAtMs = undefined;
      this.hear({ type: "rang" });
    });
  }

  async #look(): Promise<void> {
    const { context, options: { reader } } = this.#parts;
    try {
      this.hear({ type: "looked", ...await look(context, reader) });
    } catch {
      // The host has just gone, and the channels' readers start the next one.
      this.hear({ type: "missed" });
    }
  }

  async #tell(): Promise<void> {
    const { options: { tell }, fail } = this.#parts;
    try {
      this.hear({ type: await tell(this.#pace) ? "told" : "failed" });
    } catch (error) {
      fail(error);
    }
  }
}

async function look(context: Context, reader: string): Promise<SessionActivity> {
  const host = await findRunning(context);
  if (host === undefined) throw new Error("No host runs");
  try {
    const [{ fields }, status] = await Promise.all([host.call("readers", {}), host.call("status")]);
    const sessions = (fields.optionalObjects("readers") ?? []).filter((each) =>
      each.text("name") === reader
    );
    const askedAtMs = new Map(sessions.flatMap((each) => {
      const atMs = each.optionalNumber("askedAtMs");
      return atMs === undefined ? [] : [[each.text("channel"), atMs] as const];
    }));
    return { askedAtMs, sinceMs: status.fields.number("startedAtMs") };
  } finally {
    host.end();
  }
}

function over(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
