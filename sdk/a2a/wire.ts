/** The messages of the binding. `docs/a2a.md` describes them for other implementations. */
import { shown } from "../../proto/mod.ts";

/** Names the binding in an agent's card. An identifier: nothing is fetched from it. */
export const a2aBinding = "static://bindings/a2a/v1";
export const contentType = "application/a2a+json";
/** Asks for the agent's card, which other bindings publish under a well-known address. */
export const cardMethod = "GetAgentCard";
/** Ends a stream that nobody reads any more. */
export const stopMethod = "StopStream";
/** The header of an event: the attempt at its request, a dot, and the event's number from 1. */
export const eventHeader = "a2a-event";
export const versionHeader = "a2a-version";
export const extensionsHeader = "a2a-extensions";
/** Names that the binding keeps for itself; service parameters of others are passed on. */
export const reservedHeaders: ReadonlySet<string> = new Set([
  eventHeader,
  "content-type",
  "accept",
]);
/** Size limit of a body: what a relay takes of one message, less what stands around it. */
export const maxBodyBytes = 1024 * 1024 - 16 * 1024;

/** How a stream ended. */
export interface EventStreamEnd {
  readonly attempt: number;
  /** How many events this attempt has sent. */
  readonly events: number;
}

export interface EventPlace {
  readonly attempt: number;
  readonly number: number;
}

export function formatPlace({ attempt, number }: EventPlace): string {
  return `${attempt}.${number}`;
}

/** Undefined for anything else. */
export function parsePlace(text: string | undefined): EventPlace | undefined {
  const [, attempt, number] = /^([1-9]\d{0,8})\.([1-9]\d{0,8})$/.exec(text ?? "") ?? [];
  return attempt === undefined ? undefined : { attempt: Number(attempt), number: Number(number) };
}

/**
 * Returns undefined when the body is not the end of a stream, for example when a request failed
 * before the stream began.
 */
export function parseEnd(body: unknown): EventStreamEnd | undefined {
  const stream: unknown = field(body, "stream");
  const [attempt, events] = [field(stream, "attempt"), field(stream, "events")];
  const isCount = (value: unknown): value is number =>
    typeof value === "number" && Number.isInteger(value) && value >= 0;
  return isCount(attempt) && isCount(events) ? { attempt, events } : undefined;
}

/** The length limit is that of other errors that an agent answers with. */
const maxErrorText = 1024;

/** Returns an answer as it came, but for the text of an error: people read it, and logs keep it. */
export function withShortError(answer: string): string {
  if (answer.length <= maxErrorText || !answer.includes('"error"')) return answer;
  const parsed: unknown = JSON.parse(answer);
  const error = field(parsed, "error");
  const message = field(error, "message");
  if (typeof message !== "string" || message.length <= maxErrorText) return answer;
  return JSON.stringify({
    ...Object(parsed),
    error: { ...Object(error), message: shown(message, { max: maxErrorText }) },
  });
}

export function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
