/**
 * Notices of the relay as the connection sees them: entries of the log or words, and how much room
 * they take in the window.
 */
import type { NoticeEnvelope } from "../../../proto/mod.ts";
import type { ArrivedNotice, TakenEntry } from "../connection/link_state.ts";
import type { LogEntry } from "../reading/reading_state.ts";

const words: ReadonlySet<NoticeEnvelope["operation"]> = new Set([
  "DeliverConfirmations",
  "DeliverUnconfirmed",
  "DeliverRejoinRequest",
  "DeliverLeaf",
  "DeliverChannelEnd",
]);

export function noticeOf(content: NoticeEnvelope): ArrivedNotice<NoticeEnvelope> {
  return {
    kind: words.has(content.operation) ? "word" : "entry",
    content,
    bytes: bytesOf(content),
  };
}

/** The least that the relay counts for an entry of another kind. */
const otherBytes = 128;

function bytesOf({ operation, body }: NoticeEnvelope): number {
  if (operation === "DeliverMessage") return body.ciphertext.length;
  return operation === "DeliverCommit" ? body.commit.length : otherBytes;
}

/** An entry that was read, for the window. */
export function takenOf({ body }: LogEntry): TakenEntry | undefined {
  if ("ciphertext" in body) return { sequence: body.sequence, bytes: body.ciphertext.length };
  return "commit" in body ? { sequence: body.sequence, bytes: body.commit.length } : undefined;
}
