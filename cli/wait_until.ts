/** Waiting: for something to become true, or for work that knows nothing of Ctrl-C. */
import type { Channel } from "../sdk/mod.ts";
import { interrupted } from "./failure.ts";
import type { CommandPlatform } from "./platform/platform.ts";

/**
 * Looks whenever something happens in one of the channels. Returns whether it did in time. Throws
 * when the user interrupts.
 */
export async function waitUntil(
  { interrupted: signal, deadline }: CommandPlatform,
  timeoutMs: number,
  channels: readonly Pick<Channel, "events">[],
  condition: () => boolean,
): Promise<boolean> {
  const found = new AbortController();
  const ends = AbortSignal.any([signal, deadline(timeoutMs), found.signal]);
  // They listen from here on, so nothing is missed between looking and waiting.
  const listeners = channels.map((channel) => channel.events({ signal: ends }));
  if (condition()) found.abort();
  await Promise.all(listeners.map(async (events) => {
    for await (const _ of events) if (condition()) break;
    found.abort();
  }));
  if (signal.aborted) throw interrupted();
  return condition();
}

/** Throws when the user interrupts; the work then goes on unheard until the program ends. */
export function unlessInterrupted<T>(
  { interrupted: signal }: CommandPlatform,
  work: Promise<T>,
): Promise<T> {
  let stop = (): void => {};
  const interruption = new Promise<never>((_, reject) => {
    stop = () => reject(interrupted());
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  return Promise.race([work, interruption]).finally(() =>
    signal.removeEventListener("abort", stop)
  );
}
