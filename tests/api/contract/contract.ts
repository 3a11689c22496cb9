/** One guarantee of the contract: a name, and a check over HTTP that holds on every database. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Answer, OpenBackend, TestApi } from "../../support/api/harness.ts";

export interface Setting {
  readonly api: TestApi;
  readonly backend: OpenBackend;
}

export type Guarantees = Readonly<Record<string, (setting: Setting) => Promise<void>>>;

export const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
export const isoTimestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
export const fullKey = /^sk_live_[0-9A-Za-z]{46}$/;

/** Every refusal: status, code, the body's exact fields, the id repeated in the header. */
export function assertRefused(answer: Answer, status: number, code: string, text?: string): void {
  assertEquals({ status: answer.status, code: answer.json?.code }, { status, code }, answer.text);
  assert(typeof answer.json.error === "string" && answer.json.error.length > 0);
  if (text !== undefined) assertEquals(answer.json.error, text);
  assertEquals(answer.json.request_id, answer.headers.get("x-request-id"));
  assertMatch(answer.json.request_id, uuid);
  const fields = Object.keys(answer.json).filter((field) => field !== "details").sort();
  assertEquals(fields, ["code", "error", "request_id"]);
  if (status === 401) assertEquals(answer.headers.get("www-authenticate"), "Bearer");
  if (status === 503) assert(Number(answer.headers.get("retry-after")) >= 1);
}

export function assertFields(value: object, fields: readonly string[]): void {
  assertEquals(Object.keys(value).sort(), [...fields].sort());
}

/**
 * Asks again while the API is overloaded, which a crowd on a busy machine may cause: that says
 * nothing about the request. A request that timed out may have taken effect all the same.
 */
export async function atLast(ask: () => Promise<Answer>): Promise<Answer> {
  while (true) {
    const answer = await ask();
    if (answer.status !== 503) return answer;
  }
}
