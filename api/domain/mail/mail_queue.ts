/**
 * Sends what waits in the queue: a few at a time, oldest first, at least once, with growing pauses
 * while the mail server does not take a message. One that the server will never take is given up.
 */
import type { MailMessage, MailStore } from "../account_store.ts";
import type { Clock } from "../deps.ts";

export interface Mailer {
  /**
   * Resolves when the message is somebody else's to deliver, or `refused` for good. Rejects when
   * another time may help.
   */
  send(message: MailMessage): Promise<"taken" | "refused">;
}

export interface MailQueue {
  /** To be called several times a second; one call at a time does the work. */
  pump(): Promise<void>;
  /** As of the last pump. */
  waiting(): number;
}

/** At once, so that one recipient whose server is slow does not hold up the others. */
const batch = 10;
/** For a process that was killed between taking a message and sending it. */
const hiddenMs = 60_000;
const firstPauseMs = 2_000;
const longestPauseMs = 300_000;

export interface MailQueueDeps {
  readonly store: MailStore;
  readonly mailer: Mailer;
  readonly clock: Clock;
  /** A message was not taken. Without an error it is given up, otherwise it is tried again. */
  readonly onFailure: (attempts: number, error?: unknown) => void;
}

export function createMailQueue({ store, mailer, clock, onFailure }: MailQueueDeps): MailQueue {
  let [running, waiting] = [false, 0];
  const send = async (message: MailMessage & { attempts: number }): Promise<void> => {
    try {
      if (await mailer.send(message) === "refused") onFailure(message.attempts);
    } catch (error) {
      onFailure(message.attempts, error);
      const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (message.attempts - 1));
      return await store.postpone(message.id, clock() + pauseMs);
    }
    await store.remove(message.id);
  };
  return {
    waiting: () => waiting,
    pump: async () => {
      if (running) return;
      running = true;
      try {
        const due = await store.takeDue({ atMs: clock(), limit: batch, hiddenMs });
        await Promise.all(due.map(send));
        // An idle queue costs one look.
        if (due.length > 0 || waiting > 0) waiting = await store.countWaiting();
      } finally {
        running = false;
      }
    },
  };
}
