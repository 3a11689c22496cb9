/**
 * Messages that a loop of a program has from its host and has not seen. A loop that handles its
 * messages quickly asks for several in one call. Nothing that it has not seen is acknowledged.
 * After a moment, or when something else wants them, the host is told how far the loop is and gets
 * the rest back: a loop that stops at one message holds up no other, and forgets little when it is
 * killed.
 */
import type { Runtime } from "../base/runtime.ts";
import type { HostAnswer } from "./connection.ts";
import { HeaderFields } from "./fields.ts";
import type { FrameHeader } from "./frames.ts";
import type { OpenStream } from "./remote_stream.ts";

export interface HostItem extends HostAnswer {
  readonly stream: OpenStream;
}

/** Everything before it is done with. */
interface SeenPosition {
  readonly stream: OpenStream;
  readonly item: number;
}

/** A loop that asks again within this time is quick. */
const quickMs = 5;
/**
 * So often in turn, before it gets several: messages of a slow loop stay with the host, where
 * others can have them.
 */
const quickAsks = 8;
const maxItems = 64;
/** So long a loop has messages that it has not seen; a host tells its disk as often. */
const heldMs = 50;

export type AheadRuntime = Pick<Runtime, "nowMs" | "after">;

export class ReadAhead {
  readonly #runtime: AheadRuntime;
  /** The readers of a channel that hold something. */
  readonly #holding: Set<ReadAhead>;
  #items: HostItem[] = [];
  /** In the program's hands. */
  #seen: SeenPosition | undefined;
  /** When the loop last got a message, and (`#cameAtMs`) when several last came. */
  #givenAtMs = 0;
  #cameAtMs = 0;
  #asks = 0;
  #cancelTimer = (): void => {};

  constructor(runtime: AheadRuntime, holding: Set<ReadAhead>) {
    this.#runtime = runtime;
    this.#holding = holding;
  }

  /** The loop asks for one. Undefined when the host is to be asked. */
  take(): HostItem | undefined {
    const nowMs = this.#runtime.nowMs();
    const elapsedMs = nowMs - this.#givenAtMs;
    this.#asks = elapsedMs >= 0 && elapsedMs < quickMs ? this.#asks + 1 : 0;
    // A loop that never lets the event loop turn keeps the timer from running.
    if (Math.abs(nowMs - this.#cameAtMs) >= heldMs) this.giveBack();
    const next = this.#items.shift();
    return next === undefined ? this.#forget() : this.#hand(next);
  }

  /** How many messages to ask the host for. */
  get wanted(): number {
    return this.#asks < quickAsks ? 1 : maxItems;
  }

  /** The host's answer. Returns the first of its messages. */
  put(answered: HostItem): HostItem {
    const { fields, bytes, stream } = answered;
    const all = fields.optionalObjects("items");
    if (all === undefined) return this.#handAlone(answered);
    let at = 0;
    const [first, ...rest] = all.map((each) => {
      const length = each.number("length");
      return { fields: each, bytes: bytes.slice(at, at += length), stream };
    });
    this.#forget();
    this.#items = rest;
    this.#cameAtMs = this.#runtime.nowMs();
    this.#cancelTimer = this.#runtime.after(heldMs, () => this.giveBack());
    this.#holding.add(this);
    return this.#hand(first ?? { fields: new HeaderFields({}), bytes, stream });
  }

  /** They come again. The one that the program works on stays as it is. */
  giveBack(): void {
    const [seen, [first]] = [this.#seen, this.#items];
    this.#forget();
    if (seen === undefined) return;
    tell(
      { ...seen, item: seen.item - 1 },
      first === undefined ? {} : { back: first.fields.number("item") },
    );
  }

  #hand(item: HostItem): HostItem {
    this.#seen = { stream: item.stream, item: item.fields.number("item") };
    return this.#handAlone(item);
  }

  #handAlone(item: HostItem): HostItem {
    this.#givenAtMs = this.#runtime.nowMs();
    return item;
  }

  #forget(): undefined {
    this.#items = [];
    this.#seen = undefined;
    this.#holding.delete(this);
    this.#cancelTimer();
  }
}

/** A host that has gone gives again what it was not told, and the loop knows what it has seen. */
function tell(
  { stream: { connection, number: stream }, item }: SeenPosition,
  more: FrameHeader,
): void {
  void connection.call("passed", { stream, item, ...more }).catch(() => {});
}
