/**
 * How messages are paid for: from the months of the account and of its key. A public key is in the
 * hands of many, so with one each visitor also pays from a day of its own, and none can send what
 * the key has for all.
 */
import { type Bucket, takeOfAll } from "../../../server/limits/mod.ts";
import type { Charge, ChargedAmount } from "../../engine/engine.ts";
import type { Reservation } from "../deps.ts";
import { keyOf } from "../limits/shares.ts";
import { Refusal } from "../refusal.ts";
import type { AgentAsker } from "./request_handler.ts";

export interface PaidMessages {
  readonly charge: Charge;
  /** Whether they were appended: what was not used goes back; undefined: nobody knows. */
  settle(appended: boolean | undefined): void;
}

/** All of them, or a refusal and none. */
export function payMessages(
  asker: AgentAsker,
  cost: ChargedAmount,
): PaidMessages | Refusal | Promise<PaidMessages | Refusal> {
  const { core: { deps: { quota, nowMs } }, agent } = asker;
  const [key, visitor] = [keyOf(agent), visitorOf(asker)];
  const retryAfterMs = takeOfAll(visitor, nowMs(), cost.messages);
  if (retryAfterMs !== undefined) return visitorRefusal(retryAfterMs);
  const giveBack = (): void => visitor.forEach((bucket) => bucket.giveBack(cost.messages));
  const paid = (reservation: Reservation): PaidMessages | Refusal => {
    if (reservation.kind !== "reserved") {
      giveBack();
      return quotaRefusal(reservation, nowMs());
    }
    const { charge } = reservation;
    return {
      charge,
      settle: (appended) => {
        quota.settle(agent.account, charge, appended, key);
        if (appended === false) giveBack();
      },
    };
  };
  const reserving = quota.reserve(agent.account, cost, key);
  return reserving instanceof Promise ? reserving.then(paid) : paid(reserving);
}

/** The buckets of this key and address; none unless the key is public. */
function visitorOf(
  { core: { limits: { rates }, deps }, agent, session }: AgentAsker,
): readonly Bucket[] {
  const key = agent.grant?.isPublic && keyOf(agent);
  return key ? rates.visitors.of(session.link.remoteAddress, deps.nowMs(), key) : [];
}

function visitorRefusal(retryAfterMs: number): Refusal {
  const message =
    "Agents of one address have sent what each visitor with this key may send in a day; try later";
  return new Refusal("quota_exceeded", message, { retryAfterMs });
}

function quotaRefusal(
  reservation: Exclude<Reservation, { kind: "reserved" }>,
  nowMs: number,
): Refusal {
  if (reservation.kind === "exhausted") {
    const { untilMs } = reservation;
    const retryAfterMs = untilMs === undefined ? undefined : Math.max(0, untilMs - nowMs);
    const message = "The plan's message limit is reached; the account's usage says when it resets";
    return new Refusal("quota_exceeded", message, {
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }
  return new Refusal(
    "overloaded",
    "The relay cannot reach the API to count this message; try again",
    {
      retryAfterMs: 1_000,
    },
  );
}
