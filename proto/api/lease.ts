/**
 * Quota leases: the JSON that a relay and the API exchange under `/internal/v1/leases`. A relay
 * takes a part of an account's monthly messages in advance, so that a send costs no round trip, and
 * reports what it consumed. Every number in a report counts from the start of the lease, so a
 * report sent twice, or late, never counts twice.
 *
 * - `takeLease` (`POST`, `leaseRequest` → `leaseResponse`): the same `nonce` gets the original
 *   answer. With nothing left the answer is 429 `quota_exceeded`. `messages: 0` asks for a lease
 *   that only carries byte counts.
 * - `reportLeases` (`POST …/reports`, `leaseReportBatch` → `leaseReportResults`): `close` ends a
 *   lease and returns what was not consumed. It is accepted after expiry too: that is how a relay
 *   that crashed gives back, from its own durable count.
 * - `listLeases` (`GET …?relay_id=`, → `leaseList`): what the API believes this relay holds, for a
 *   restart.
 */
import { z } from "zod";
import { type ApiAccess, type ApiOutcome, callApi, UnusableAnswer } from "./http_call.ts";

/** The API, with the credential that it shares with relays. */
export interface LeaseAccess extends ApiAccess {
  readonly relaySecret: string;
}

/**
 * A relay stops using a lease this long before it expires, so that clocks may differ by as much.
 */
export const leaseStopMarginMs = 30_000;

const maxMessagesPerLease = 1_000_000;
const maxReportsPerBatch = 100;

const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const relayId = z.string().regex(
  /^[A-Za-z0-9._-]{1,64}$/,
  "1 to 64 letters, digits, dots, underscores or hyphens",
);
const timestamp = z.iso.datetime();

const bytes = z.strictObject({
  /** Ciphertext after MLS padding. */
  payload: count,
  /** Fill of cells. */
  padding: count,
  /** Cover cells. */
  cover: count,
});

export const leaseRequest = z.strictObject({
  nonce: z.uuid(),
  relay_id: relayId,
  account_id: z.uuid(),
  messages: z.int().min(0).max(maxMessagesPerLease),
  /** From the claim `static`: counted under this key as well, and within its own limit. */
  key_id: z.uuid().optional(),
});

const lease = z.object({
  id: z.uuid(),
  /**
   * Grows with every lease of an account, so that storage can tell a holder that was replaced from
   * its successor.
   */
  fence: count,
  account_id: z.uuid(),
  granted: count,
  consumed: count,
  expires_at: timestamp,
});

export const leaseResponse = z.object({
  lease,
  plan: z.string(),
  period: z.object({ start: timestamp, end: timestamp }),
  /**
   * Messages of the month that are used or leased, and the limit (null: none), of the account or of
   * the key, whichever is nearer.
   */
  usage: z.object({ claimed: count, limit: count.nullable() }).optional(),
});

export const leaseList = z.object({ leases: z.array(lease) });

export const leaseReportBatch = z.strictObject({
  relay_id: relayId,
  reports: z.array(
    z.strictObject({
      lease_id: z.uuid(),
      fence: count,
      consumed: count,
      bytes,
      close: z.boolean(),
    }),
  )
    .min(1).max(maxReportsPerBatch),
});

export const leaseReportResults = z.object({
  results: z.array(z.object({
    lease_id: z.uuid(),
    /**
     * `accepted`: counted (again). `unknown`: no such lease of this relay under this fence.
     * `refused`: more than was granted, less than was reported before, or different from what the
     * lease was closed with; nothing was changed.
     */
    outcome: z.enum(["accepted", "unknown", "refused"]),
  })),
});

export type Lease = z.infer<typeof lease>;
export type LeaseRequest = z.infer<typeof leaseRequest>;
export type LeaseResponse = z.infer<typeof leaseResponse>;
export type LeaseReportBatch = z.infer<typeof leaseReportBatch>;
export type LeaseReportResults = z.infer<typeof leaseReportResults>;

const path = "/internal/v1/leases";

export function takeLease(
  api: LeaseAccess,
  request: LeaseRequest,
): Promise<ApiOutcome<LeaseResponse>> {
  return callLeases(api, { method: "POST", path, body: request }, leaseResponse);
}

export function reportLeases(
  api: LeaseAccess,
  batch: LeaseReportBatch,
): Promise<ApiOutcome<LeaseReportResults>> {
  return callLeases(
    api,
    { method: "POST", path: `${path}/reports`, body: batch },
    leaseReportResults,
  );
}

export function listLeases(
  api: LeaseAccess,
  relayId: string,
): Promise<ApiOutcome<z.infer<typeof leaseList>>> {
  return callLeases(
    api,
    { method: "GET", path: `${path}?relay_id=${encodeURIComponent(relayId)}` },
    leaseList,
  );
}

interface LeaseCall {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: LeaseRequest | LeaseReportBatch;
}

function callLeases<Type extends z.ZodType>(
  api: LeaseAccess,
  call: LeaseCall,
  type: Type,
): Promise<ApiOutcome<z.infer<Type>>> {
  const parse = (json: unknown): z.infer<Type> => {
    const parsed = type.safeParse(json);
    if (!parsed.success) throw new UnusableAnswer("an answer of another form");
    return parsed.data;
  };
  return callApi(api, { ...call, credential: api.relaySecret, parse });
}
