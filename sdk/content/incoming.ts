/**
 * An opened message as the rest of the SDK sees it: its kind, and the part that it concerns.
 * Messages that cannot be shown are sorted out here too: expired, of a later version, or broken.
 */
import {
  type AgentId,
  type Attestation,
  type ContentFields,
  decodeContent,
  decodeReceipts,
  type MessageId,
  type Receipt,
  WireError,
} from "../../proto/mod.ts";
import type { AskingMessage } from "./receipts.ts";

/** The kind of content in an envelope. */
export type EnvelopeKind = "message" | "request" | "reply" | "error";

/**
 * The part that a message concerns: readers of messages, the handler of requests, a caller that
 * waits for a reply, or nothing here. Readers that want everything get the messages of `aside` too.
 */
export type ContentLane = "message" | "request" | "reply" | "aside";

export interface IncomingEnvelope extends Partial<Attestation> {
  readonly kind: EnvelopeKind;
  readonly lane: ContentLane;
  readonly id: MessageId;
  readonly sender: AgentId;
  readonly identity: Uint8Array;
  /** The channel does not know this identity with another key. */
  readonly keyUnchanged: boolean;
  /** The user's own name for the sender. */
  readonly knownAs: string | undefined;
  /** When the relay accepted it. */
  readonly timeMs: number;
  readonly sequence: number;
  readonly fields: ContentFields;
  readonly body: Uint8Array;
}

/** Everything that was opened but its content. */
export type IncomingHead = Omit<IncomingEnvelope, "kind" | "lane" | "fields" | "body">;

export interface ContentReader {
  readonly agentId: AgentId;
  /** The present time by the relay's clock. */
  readonly nowMs: number;
  /** Longer than this the relay keeps nothing: no request has more time, whatever it says. */
  readonly maxAgeMs: number;
}

export type ReadContent =
  | { readonly outcome: "incoming"; readonly incoming: IncomingEnvelope }
  | {
    readonly outcome: "expired";
    readonly kind: EnvelopeKind;
    readonly fields: ContentFields;
  }
  /** Only receipts for this agent's messages are reported. */
  | { readonly outcome: "receipt"; readonly receipts: readonly Receipt[] }
  | { readonly outcome: "later"; readonly what: string }
  | { readonly outcome: "broken"; readonly why: string };

export function readContent(
  plaintext: Uint8Array,
  opened: IncomingHead,
  reader: ContentReader,
): ReadContent {
  try {
    const decoded = decodeContent(plaintext);
    switch (decoded.form) {
      case "raw": {
        const lane = opened.keyUnchanged ? "message" : "aside";
        return {
          outcome: "incoming",
          incoming: { ...opened, kind: "message", lane, fields: {}, body: decoded.body },
        };
      }
      case "later":
        return { outcome: "later", what: decoded.what };
      case "enveloped": {
        const { kind, fields, body } = decoded.content;
        if (kind === "receipt") {
          const receipts = decodeReceipts(body);
          const isForUs = opened.keyUnchanged && fields.to?.includes(reader.agentId) === true;
          return { outcome: "receipt", receipts: isForUs ? receipts : [] };
        }
        return place({ ...opened, kind, fields, body }, reader);
      }
    }
  } catch (error) {
    if (error instanceof WireError) return { outcome: "broken", why: error.message };
    throw error;
  }
}

/**
 * Whether a plaintext claims to be a request or a reply to this agent: asked before it is known who
 * wrote it.
 */
export function isHandedOn(plaintext: Uint8Array, agentId: AgentId): boolean {
  try {
    const decoded = decodeContent(plaintext);
    if (decoded.form !== "enveloped") return false;
    const { kind, fields } = decoded.content;
    return kind !== "message" && kind !== "receipt" && fields.to?.includes(agentId) === true;
  } catch (error) {
    if (error instanceof WireError) return false;
    throw error;
  }
}

/** Undefined when its sender does not ask. */
export function askingOf(
  { id, sender, fields: { receipt, to } }: Pick<IncomingEnvelope, "id" | "sender" | "fields">,
): AskingMessage | undefined {
  return receipt === undefined ? undefined : { id, sender, receipt, to };
}

function place(
  content: Omit<IncomingEnvelope, "lane">,
  { agentId, nowMs, maxAgeMs }: ContentReader,
): ReadContent {
  const { kind, fields, timeMs } = content;
  const deadlineMs = fields.deadlineMs === undefined
    ? undefined
    : Math.min(fields.deadlineMs, timeMs + maxAgeMs);
  if (nowMs >= Math.min(deadlineMs ?? Infinity, fields.expiryMs ?? Infinity)) {
    return { outcome: "expired", kind, fields };
  }
  const incoming = {
    ...content,
    fields: deadlineMs === undefined ? fields : { ...fields, deadlineMs },
  };
  const isForUs = content.keyUnchanged && (fields.to === undefined || fields.to.includes(agentId));
  if (!isForUs) return { outcome: "incoming", incoming: { ...incoming, lane: "aside" } };
  const lane = kind === "error" ? "reply" : kind;
  return { outcome: "incoming", incoming: { ...incoming, lane } };
}
