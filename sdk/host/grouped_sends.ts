/**
 * Messages that a program sends in one moment travel to its host as one frame, and from there as
 * one bundle. Each group has an id, so that the next host can be given it again when this one dies:
 * the relay takes it once.
 */
import {
  binaryIdBytes,
  binaryIdFromBytes,
  bundledHeadBytes,
  maxBundleBytes,
  maxBundledMessages,
  type MessageId,
  parseBinaryId,
} from "../../proto/mod.ts";
import { createDeferred, type Deferred } from "../base/deferred.ts";
import { createError } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import type { Sent } from "../channel/messages/send_options.ts";
import type { HeaderFields } from "./fields.ts";
import type { FrameHeader } from "./frames.ts";
import type { HostLink } from "./host_link.ts";
import { decodeError } from "./wire_errors.ts";

/** Bytes that the bundle adds to a message at most, beside its fields. */
const addedBytes = bundledHeadBytes + 192;

interface OutgoingSend {
  /** The fields of the message, including its id. */
  readonly fields: FrameHeader;
  readonly body: Uint8Array;
  /** In a bundle, at most. */
  readonly bytes: number;
  readonly sent: Deferred<Sent>;
}

export class GroupedSends {
  readonly #link: HostLink;
  readonly #runtime: Pick<Runtime, "randomBytes">;
  readonly #channel: FrameHeader;
  #waiting: OutgoingSend[] = [];
  #bytes = 0;

  constructor(link: HostLink, runtime: Pick<Runtime, "randomBytes">, channel: string) {
    this.#link = link;
    this.#runtime = runtime;
    this.#channel = { channel };
  }

  newId(): MessageId {
    return binaryIdFromBytes<MessageId>(this.#runtime.randomBytes(binaryIdBytes));
  }

  /** With what else is sent before the event loop turns. */
  send(fields: FrameHeader, body: Uint8Array): Promise<Sent> {
    // No field takes more bytes in a message than in JSON.
    const bytes = body.length + JSON.stringify(fields).length + addedBytes;
    const isFull = this.#waiting.length === maxBundledMessages ||
      this.#bytes + bytes > maxBundleBytes;
    if (isFull) this.flush();
    if (this.#waiting.length === 0) void this.#flushLater();
    const sent = createDeferred<Sent>();
    // The caller may reuse its buffer.
    this.#waiting.push({ fields, body: body.slice(), bytes, sent });
    this.#bytes += bytes;
    return sent.promise;
  }

  /** Sends the waiting messages now, because something else comes behind them. */
  flush(): void {
    const group = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    const [first] = group;
    if (first === undefined) return;
    const sending = group.length === 1 ? this.#sendOne(first) : this.#sendAll(group);
    sending.catch((error) => group.forEach(({ sent }) => sent.reject(error)));
  }

  async #flushLater(): Promise<void> {
    await Promise.resolve();
    this.flush();
  }

  async #sendOne({ fields, body, sent }: OutgoingSend): Promise<void> {
    const answered = await this.#link.ask("send", { ...this.#channel, ...fields }, { bytes: body });
    sent.resolve(sentOf(answered.fields));
  }

  async #sendAll(group: readonly OutgoingSend[]): Promise<void> {
    const messages = group.map(({ fields, body }) => ({ ...fields, length: body.length }));
    const given = { ...this.#channel, bundle: this.newId(), messages };
    const { fields } = await this.#link.ask("sendAll", given, {
      bytes: joined(group.map(({ body }) => body)),
    });
    const results = fields.optionalObjects("sent") ?? [];
    group.forEach(({ sent }, i) => settle(sent, results[i]));
  }
}

function settle({ resolve, reject }: Deferred<Sent>, result: HeaderFields | undefined): void {
  const error = result?.optionalObject("error");
  if (error !== undefined) reject(decodeError(error));
  else if (result !== undefined) resolve(sentOf(result));
  else {reject(
      createError(
        "protocol_error",
        "The host did not say what became of a message; end it and start it again",
      ),
    );}
}

export function sentOf(fields: HeaderFields): Sent {
  const receipts = fields.one("receipts", ["asked", "unsupported"]);
  return {
    id: parseBinaryId<MessageId>(fields.text("id")),
    accepted: fields.flag("accepted"),
    ...(receipts !== undefined && { receipts }),
  };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
