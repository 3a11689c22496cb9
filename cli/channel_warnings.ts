/** Reports trouble of a channel while a command waits for its messages. */
import type { Channel, HealthIssue } from "../sdk/mod.ts";
import type { Context } from "./command.ts";
import { refreshDaily } from "./trust.ts";

/** Between two warnings of one kind, as they come; `health()` has them all. */
const tellMs = 1000;

/**
 * Tells at once when the connection is lost and when it is back, and what else is wrong; until it
 * is disposed of. The keys of domains that the user believes are kept fresh meanwhile.
 */
export function watchConnection(context: Context, channel: Channel): AsyncDisposable {
  const stop = new AbortController();
  const watching = watch(context, channel, stop.signal);
  const refreshing = refreshDaily(context);
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await refreshing[Symbol.asyncDispose]();
      await watching;
    },
  };
}

async function watch(
  { output, platform }: Context,
  channel: Channel,
  signal: AbortSignal,
): Promise<void> {
  const toldAtMs = new Map<string, number>();
  const tell = async ({ kind, text }: HealthIssue): Promise<void> => {
    const nowMs = platform.nowMs();
    if (nowMs - (toldAtMs.get(kind) ?? -Infinity) < tellMs) return;
    toldAtMs.set(kind, nowMs);
    await output.warn(text);
  };
  let isLost = false;
  const events = channel.events({ signal });
  for (const { text } of channel.health().issues) await output.warn(text);
  for await (const event of events) {
    if (event.type === "issue") await tell(event.issue);
    else if (event.type === "gap") {
      await output.warn(
        `${event.messages} messages are lost for this reader: too many were waiting`,
      );
    } else if (event.type === "disconnected" && !isLost) {
      isLost = true;
      const what = event.error?.code === "listener_died"
        ? "The host of this agent has ended"
        : "The connection to the relay is lost";
      await output.warn(`${what}; reconnecting automatically`);
    } else if (event.type === "connected" && isLost) {
      isLost = false;
      await output.note(output.onStderr("dim", "The connection is back"));
    }
  }
}
