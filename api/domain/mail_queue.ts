/** Sends what waits in the queue: oldest first, at least once, with growing pauses while the mail server does not take it. */
import type { MailStore, Message } from "./account_store.ts";
import type { Clock } from "./deps.ts";

export interface Mailer {
  /** Resolves when the message is somebody else's to deliver. */
  send(message: Message): Promise<void>;
}

export interface MailQueue {
  /** To be called every second or so; one call at a time does the work. */
  pump(): Promise<void>;
  /** As of the last pump. */
  waiting(): number;
}

const batch = 20;
/** For a process that was killed between taking a message and sending it. */
const hiddenMs = 60_000;
const firstPauseMs = 2_000;
const longestPauseMs = 300_000;
const forgetEveryMs = 60_000;

export interface MailQueueDeps {
  readonly store: MailStore;
  readonly mailer: Mailer;
  readonly clock: Clock;
  /** A message was not taken; it is tried again. */
  readonly onFailure: (error: unknown, attempts: number) => void;
}

export function createMailQueue({ store, mailer, clock, onFailure }: MailQueueDeps): MailQueue {
  let [running, waiting, forgottenAtMs] = [false, 0, -Infinity];
  const send = async (message: Message & { attempts: number }): Promise<void> => {
    try {
      await mailer.send(message);
    } catch (error) {
      onFailure(error, message.attempts);
      const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (message.attempts - 1));
      return await store.postpone(message.id, clock() + pauseMs);
    }
    await store.removeSent(message.id);
  };
  return {
    waiting: () => waiting,
    pump: async () => {
      if (running) return;
      running = true;
      try {
        if (clock() - forgottenAtMs >= forgetEveryMs) {
          await store.forgetExpired(clock());
          forgottenAtMs = clock();
        }
        const due = await store.takeDue({ atMs: clock(), limit: batch, hiddenMs });
        for (const message of due) await send(message);
        // An idle queue costs one look.
        if (due.length > 0 || waiting > 0) waiting = await store.countWaiting();
      } finally {
        running = false;
      }
    },
  };
}
