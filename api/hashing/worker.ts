/**
 * One worker of the pool: answers one job at a time. A failed job is answered too, so that nobody
 * waits for ever.
 */
import { hashSecret, verifySecret } from "./argon2.ts";
import type { HashingJob, HashingResult } from "./pool.ts";

/**
 * The worker's side of the channel, typed here because the project is checked with the main
 * thread's library.
 */
interface WorkerScope {
  onmessage: ((event: MessageEvent<HashingJob>) => void) | null;
  postMessage(result: HashingResult): void;
}

const scope = globalThis as unknown as WorkerScope; // cast: this module only ever runs in a worker

/** Never rejects. */
async function answer(job: HashingJob): Promise<void> {
  try {
    const value = job.kind === "hash"
      ? await hashSecret(job.secret, job.profile)
      : await verifySecret(job.secret, job.hash);
    scope.postMessage({ ok: true, value });
  } catch (error) {
    scope.postMessage({ ok: false, error: error instanceof Error ? error.message : "unknown" });
  }
}

scope.onmessage = ({ data: job }) => void answer(job);
