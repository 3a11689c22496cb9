/**
 * Attempts to authenticate, limited per client. Each is taken before its work and given back when
 * it was good. One that finds the limit used up waits as long as others of the same network are
 * under way, because those may be given back. So an office that sends fifty good keys at once is
 * let in with all of them, and bad ones in parallel get no further than one by one.
 */
import type { QueueParty } from "./deps.ts";
import { strangerAt } from "./guesses.ts";
import { orRefund, type RateDecision, type RateLimiter } from "./rate_limit.ts";

export type AttemptResult<Value> = { readonly isGood: boolean; readonly value: Value };

export type AttemptVerdict<Value> =
  | { readonly outcome: "judged"; readonly value: Value }
  | { readonly outcome: "limited"; readonly decision: RateDecision };

/** The attempts of one client. */
export interface ClientAttempts {
  readonly party: QueueParty;
  /**
   * An attempt that fails because we were overloaded is given back, unless the client's own crowd
   * was the reason.
   */
  judge<Value>(work: () => Promise<AttemptResult<Value>>): Promise<AttemptVerdict<Value>>;
}

/** More requests of one network than this do not wait; each holds some kilobytes. */
const maxWaiting = 256;

interface Crowd {
  underWay: number;
  readonly waiting: (() => void)[];
}

export function createAttempts(limiter: RateLimiter): (address: string) => ClientAttempts {
  const crowds = new Map<string, Crowd>();
  const judgeOf = (address: string, network: string): ClientAttempts["judge"] => async (work) => {
    // Without a pause where the limit is in memory: those that come together find each other.
    const take = (): RateDecision | Promise<RateDecision> => limiter.take(address);
    const first = take();
    let decision = first instanceof Promise ? await first : first;
    while (!decision.allowed) {
      const crowd = crowds.get(network);
      if (crowd === undefined || crowd.waiting.length >= maxWaiting) {
        return { outcome: "limited", decision };
      }
      await new Promise<void>((resolve) => crowd.waiting.push(resolve));
      const again = take();
      decision = again instanceof Promise ? await again : again;
    }
    const crowd = crowds.get(network) ?? { underWay: 0, waiting: [] };
    crowds.set(network, crowd);
    crowd.underWay++;
    try {
      const { isGood, value } = await orRefund(work(), () => limiter.refund(address));
      if (isGood) await limiter.refund(address);
      return { outcome: "judged", value };
    } finally {
      crowd.underWay--;
      if (crowd.underWay === 0) crowds.delete(network);
      // The last one under way wakes all: nobody else would.
      const woken = crowd.waiting.splice(0, crowd.underWay === 0 ? crowd.waiting.length : 1);
      for (const wake of woken) wake();
    }
  };
  return (address) => {
    const party = strangerAt(address);
    return { party, judge: judgeOf(address, party.key) };
  };
}
