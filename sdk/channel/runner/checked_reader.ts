/**
 * A loop over the messages that fit a schema. In one channel there may be messages of several
 * kinds, each for a loop of its own: one that does not fit is no fault. It is passed over, and an
 * event says why.
 */
import { isCode } from "../../base/errors.ts";
import { Serial } from "../../base/serial.ts";
import type { Envelope } from "../../content/envelope.ts";
import {
  describeIssues,
  type SchemaResult,
  type StandardSchema,
} from "../../content/standard_schema.ts";
import type { InboxReader } from "./inbox_runner.ts";

/** A message whose content fits the schema of its loop. */
export type CheckedEnvelope<Value> = Envelope & {
  /** The content as the schema gives it. */
  readonly value: Value;
};

/** A loop over such messages. */
export interface CheckedReader<Value>
  extends AsyncIterableIterator<CheckedEnvelope<Value>, undefined> {
  /** Ends, and the last message counts as done with, as if the next one had been asked for. */
  finish(): Promise<void>;
  /**
   * Resolves when it has begun: what comes from then on is not missed, not even by one that reads
   * from now on.
   */
  begun(): Promise<void>;
}

interface CheckedReaderParts<Value> {
  readonly schema: StandardSchema<Value>;
  readonly isManual: boolean;
  readonly onSkipped: (envelope: Envelope, why: string) => void;
}

export function checkedReader<Value>(
  reader: InboxReader,
  { schema, isManual, onSkipped }: CheckedReaderParts<Value>,
): CheckedReader<Value> {
  const calls = new Serial();
  const next = async (): Promise<IteratorResult<CheckedEnvelope<Value>, undefined>> => {
    for (;;) {
      const { done, value: envelope } = await reader.next();
      if (done === true) return { done, value: undefined };
      try {
        const result = await check(envelope, schema);
        if (result.issues === undefined) {
          return { done: false, value: Object.assign(envelope, { value: result.value }) };
        }
        onSkipped(envelope, describeIssues(result.issues));
        if (isManual) await envelope.ack();
      } catch (error) {
        // A loop does not end an iterator that fails. Left open, it would keep every message from
        // being done with.
        await reader.return?.();
        throw error;
      }
    }
  };
  return {
    next: () => calls.run(next),
    finish: () => reader.finish(),
    begun: () => reader.begun(),
    return: async () => {
      await reader.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator](): CheckedReader<Value> {
      return this;
    },
  };
}

/** A schema that throws is a mistake of the program, and ends the loop. */
async function check<Value>(
  envelope: Envelope,
  schema: StandardSchema<Value>,
): Promise<SchemaResult<Value>> {
  let value: unknown;
  try {
    value = envelope.json();
  } catch (error) {
    if (isCode(error, "content_invalid")) return { issues: [{ message: error.message }] };
    throw error;
  }
  return await schema["~standard"].validate(value);
}
