/**
 * Traces of requests, sent to a collector as OTLP over HTTP in JSON. By hand, because the runtime's
 * own switch (`OTEL_DENO`) tells whole URLs, addresses and every line of the log. A span here has a
 * name and values out of closed lists, and random ids: nothing that anybody sent. It costs one
 * check where it is off, and a bounded amount where it is on.
 */
import { version } from "../proto/mod.ts";
import { ownVariable } from "./environment.ts";
import { describeFailure, type Log } from "./log.ts";
import { after } from "./timers.ts";
import { ConfigError } from "./variables.ts";
import { waits } from "./waits.ts";

/** The standard variable; its presence is the switch. */
export const tracesVariable = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";

export type SpanKind = "server" | "client";

/** Out of closed lists: methods, routes, operations, codes, transports. */
export type SpanValues = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Span {
  /** For the header `traceparent` of a request that belongs to it. */
  readonly traceparent: string;
  end(name: string, values: SpanValues, isFault: boolean): void;
}

export interface Traces {
  /** `parent` is a `traceparent` of a part of ours; never that of a stranger. */
  begin(kind: SpanKind, parent?: string): Span;
  /** Sends the rest. */
  close(): Promise<void>;
}

interface TracesOptions {
  readonly service: string;
  /** The collector's address, with its path. */
  readonly url: string;
  readonly log: Log;
}

const flushMs = 5_000;
/** Between two flushes; more are not kept, so that a flood costs nothing here. */
const maxSpans = 2_000;
const kinds: Readonly<Record<SpanKind, number>> = { server: 2, client: 3 };
const parentForm = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;

/**
 * Undefined where the operator has not asked for traces, or the program may not read that. Throws
 * `ConfigError` for an address that nothing can be sent to.
 */
export function openTraces(
  service: string,
  log: Log,
  url: string | undefined = urlOfOperator(),
): Traces | undefined {
  if (url === undefined || url === "") return undefined;
  const parsed = URL.parse(url);
  // Errors of `fetch` tell the address, and they are logged.
  if (!/^https?:$/.test(parsed?.protocol ?? "") || parsed?.username || parsed?.password) {
    throw new ConfigError(service, [
      `${tracesVariable} must be a collector's http:// or https:// address, with its path and without a password`,
    ]);
  }
  return createTraces({ service, url, log });
}

function urlOfOperator(): string | undefined {
  const { state } = Deno.permissions.querySync({ name: "env", variable: tracesVariable });
  return state === "granted" ? ownVariable(tracesVariable) : undefined;
}

function createTraces({ service, url, log }: TracesOptions): Traces {
  const instance = randomHex(8);
  let spans: object[] = [];
  let isFailing = false;
  const flush = async (): Promise<void> => {
    if (spans.length === 0) return;
    const batch = spans;
    spans = [];
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(requestOf(service, instance, batch)),
        signal: AbortSignal.timeout(waits.apiAnswer.ms),
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`The collector returned HTTP status ${response.status}`);
      isFailing = false;
    } catch (error) {
      // Traces are not worth keeping: the next ones are sent anew.
      if (!isFailing) log("warn", "traces_not_sent", { error: describeFailure(error) });
      isFailing = true;
    }
  };
  // Only while spans wait: a part whose start failed leaves no timer behind.
  let cancel: (() => void) | undefined;
  let sending = Promise.resolve();
  const flushLater = (): () => void =>
    after(flushMs, () => {
      cancel = undefined;
      sending = flush();
    });
  return {
    begin: (kind, parent) => {
      const [, traceId = randomHex(16), parentSpanId] = parentForm.exec(parent ?? "") ?? [];
      const spanId = randomHex(8);
      const [startedMs, begunMs] = [Date.now(), performance.now()];
      return {
        traceparent: `00-${traceId}-${spanId}-01`,
        end: (name, values, isFault) => {
          if (spans.length >= maxSpans) return;
          spans.push({
            traceId,
            spanId,
            ...(parentSpanId !== undefined && { parentSpanId }),
            name,
            kind: kinds[kind],
            startTimeUnixNano: nanoseconds(startedMs),
            // A clock that is set meanwhile must not make it end before it began.
            endTimeUnixNano: nanoseconds(startedMs + performance.now() - begunMs),
            attributes: attributesOf(values),
            status: { code: isFault ? 2 : 1 },
          });
          cancel ??= flushLater();
        },
      };
    },
    close: async () => {
      cancel?.();
      cancel = undefined;
      await Promise.all([sending, flush()]);
    },
  };
}

function requestOf(service: string, instance: string, spans: readonly object[]): object {
  const resource = {
    "service.name": service,
    "service.version": version,
    // Random, another one in each life.
    "service.instance.id": instance,
  };
  return {
    resourceSpans: [{
      resource: { attributes: attributesOf(resource) },
      scopeSpans: [{ scope: { name: "static" }, spans }],
    }],
  };
}

function attributesOf(values: SpanValues): object[] {
  return Object.entries(values).flatMap(([key, value]): object[] => {
    switch (typeof value) {
      case "string":
        return [{ key, value: { stringValue: value } }];
      case "number":
        return [{ key, value: { intValue: String(Math.round(value)) } }];
      case "boolean":
        return [{ key, value: { boolValue: value } }];
      case "undefined":
        return [];
    }
  });
}

function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n);
}

function randomHex(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes)).toHex();
}
