/** A handler in this program, for requests that the host hands over. */
import { messageOf } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import { answerToFailure } from "../content/handler_failure.ts";
import { IncomingRequest } from "../content/incoming_request.ts";
import type { RequestHandler, ServeOptions, Serving } from "../content/service.ts";
import { bodyOf, fieldsOf } from "../content/values.ts";
import type { HostAnswer, HostConnection } from "./connection.ts";
import { HeaderFields } from "./fields.ts";
import type { FrameHeader } from "./frames.ts";
import type { HostLink } from "./host_link.ts";
import { type OpenStream, RemoteStream } from "./remote_stream.ts";
import { decodeEnvelope } from "./wire_values.ts";

interface Item extends HostAnswer {
  readonly stream: OpenStream;
}

/** A request that the handler works on. */
interface RequestInWork {
  readonly connection: HostConnection;
  readonly place: { readonly stream: number; readonly item: number };
  readonly stop: AbortController;
}

export function serveRemote(
  link: HostLink,
  channel: string,
  handler: RequestHandler,
  { concurrency, signal }: ServeOptions,
): Serving {
  signal?.throwIfAborted();
  const stream = new RemoteStream(link, "serve", {
    channel,
    ...(concurrency !== undefined && { concurrency }),
  });
  const running = new Set<Promise<void>>();
  const active = new Set<RequestInWork>();
  const forget = link.listen({
    onEvent: (connection, name, fields) => {
      if (name !== "over") return;
      const [number, item] = [fields.number("stream"), fields.number("item")];
      for (const each of active) {
        const isIt = each.connection === connection && each.place.stream === number &&
          each.place.item === item;
        if (isIt) each.stop.abort(new Error("The request's deadline is over"));
      }
    },
    onLost: () => {
      for (const { stop } of active) {
        stop.abort(new Error("The host has gone; the request comes again"));
      }
    },
  });
  const handle = async (item: Item): Promise<void> => {
    const { fields, bytes, stream: { connection, number } } = item;
    const place = { stream: number, item: fields.number("item") };
    const here: RequestInWork = { connection, place, stop: new AbortController() };
    active.add(here);
    const { op, header, body } = await answerOf(
      handler,
      requestOf(fields, bytes, here.stop.signal),
      link.runtime,
    );
    active.delete(here);
    // One that cannot be said any more is asked again.
    await connection.call(op, { ...place, ...header }, body === undefined ? {} : { bytes: body })
      .catch(() => {});
  };
  const pull = async (): Promise<void> => {
    for (let item = await stream.next(); item !== undefined; item = await stream.next()) {
      const handling: Promise<void> = handle(item).finally(() => running.delete(handling));
      running.add(handling);
    }
  };
  const ended = pull().catch(() => {}).then(() => Promise.all(running)).then(forget);
  const stop = async (): Promise<void> => {
    signal?.removeEventListener("abort", onAbort);
    await stream.end("end");
    await ended;
  };
  const onAbort = (): void => void stop().catch(() => {});
  signal?.addEventListener("abort", onAbort, { once: true });
  return { stop, ended };
}

function requestOf(fields: HeaderFields, bytes: Uint8Array, signal: AbortSignal): IncomingRequest {
  const envelope = fields.optionalObject("envelope") ?? new HeaderFields({});
  const incoming = decodeEnvelope(envelope, bytes, fields.number("deadlineMs"));
  return new IncomingRequest(incoming, { attempt: fields.number("attempt"), signal });
}

interface ServingAnswer {
  readonly op: "reply" | "fail";
  readonly header: FrameHeader;
  readonly body?: Uint8Array;
}

async function answerOf(
  handler: RequestHandler,
  request: IncomingRequest,
  runtime: Pick<Runtime, "show">,
): Promise<ServingAnswer> {
  try {
    const value = await handler(request) ?? "";
    const { contentType } = fieldsOf(value, {});
    return {
      op: "reply",
      header: { ...(contentType !== undefined && { contentType }) },
      body: bodyOf(value),
    };
  } catch (thrown) {
    const answer = answerToFailure(thrown, request, runtime);
    if (answer === undefined) return { op: "fail", header: { message: messageOf(thrown) } };
    const { message, remoteCode, retryable, retryAfterMs } = answer;
    return {
      op: "fail",
      header: {
        message,
        remoteCode,
        retryable,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      },
    };
  }
}
