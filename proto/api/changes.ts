/**
 * Changes of accounts that relays follow: the JSON of `GET /internal/v1/changes`. Without `after`
 * it returns what stands now; with it, what happened since, as soon as there is something, or
 * nothing after four seconds. An `after` that is ahead of the API, which was set back to an earlier
 * state, returns what stands now as well.
 */
import { z } from "zod";
import { type ApiOutcome, callApi, UnusableAnswer } from "./http_call.ts";
import type { LeaseAccess } from "./lease.ts";

const seq = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

export const accountChanges = z.object({
  /** To be sent with the next question. */
  after: seq,
  /** The API's clock as it answers. Older ones do not tell. */
  now: z.iso.datetime().optional(),
  /**
   * Without `after`, or with one that is ahead: accounts that are suspended, and those deleted in
   * the last two hours.
   */
  suspended: z.array(z.uuid()).optional(),
  deleted: z.array(z.uuid()).optional(),
  changes: z.array(z.object({
    /** Null: all accounts. */
    account_id: z.uuid().nullable(),
    change: z.enum(["suspended", "resumed", "deleted", "limits"]),
  })),
});

export type AccountChanges = z.infer<typeof accountChanges>;

/** A hundred thousand suspended accounts and more. */
const maxAnswerLength = 16 * 1024 * 1024;

export function readAccountChanges(
  api: LeaseAccess,
  after: number | undefined,
): Promise<ApiOutcome<AccountChanges>> {
  const path = `/internal/v1/changes${after === undefined ? "" : `?after=${after}`}`;
  const parse = (json: unknown): AccountChanges => {
    const parsed = accountChanges.safeParse(json);
    if (!parsed.success) throw new UnusableAnswer("an answer of another form");
    return parsed.data;
  };
  return callApi(api, { method: "GET", path, credential: api.relaySecret, maxAnswerLength, parse });
}
