/** A client that speaks cells, over whatever carries them. */
import {
  type CallName,
  calls,
  type CellCounts,
  CellReader,
  CellSender,
  decodeRelayEnvelope,
  encodeRequest,
  limits,
  type RelayEnvelope,
  type ReplyBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import { CallFailed, deferred, NoticeLog, type RelayClient } from "./relay_client.ts";

export interface CellCarrier {
  /** Whole cells of one size. */
  write(cells: Uint8Array<ArrayBuffer>, cellBytes: number): Promise<void>;
  /** The relay's bytes, cut anywhere; ends or throws when nothing more comes. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Called when `chunks` has ended: the code with which the relay closed. */
  readonly closeCode: () => Promise<string | undefined>;
  close(): void;
}

interface PendingCall {
  readonly resolve: (body: ReplyBody<CallName>) => void;
  readonly reject: (error: Error) => void;
}

export class CellClient implements RelayClient {
  readonly notices = new NoticeLog();
  readonly ended: Promise<string | undefined>;
  readonly #carrier: CellCarrier;
  readonly #sender: CellSender;
  readonly #reader = new CellReader({
    cellBytes: limits.cellBytes,
    maxEnvelopeBytes: limits.envelopeBytes,
  });
  readonly #calls = new Map<number, PendingCall>();
  #nextId = 1;
  /** Why no call can be answered any more. */
  #lost: CallFailed | undefined;

  constructor(carrier: CellCarrier) {
    this.#carrier = carrier;
    this.#sender = new CellSender({
      cellBytes: limits.cellBytes,
      write: (cells, cellBytes) => carrier.write(cells, cellBytes),
      after: (ms, run) => {
        const timer = setTimeout(run, ms);
        return () => clearTimeout(timer);
      },
      nowMs: () => performance.now(),
      random: Math.random,
    });
    this.ended = this.#run();
    this.ended.catch(() => {});
  }

  call<Name extends CallName>(operation: Name, body: RequestBody<Name>): Promise<ReplyBody<Name>> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost);
    const id = this.#nextId++;
    const { promise, resolve, reject } = deferred<ReplyBody<CallName>>();
    this.#calls.set(id, { resolve, reject });
    this.#sender.push(calls[operation].lane, encodeRequest(id, operation, body));
    return promise as Promise<ReplyBody<Name>>;
  }

  /** Counts of the relay's cells. */
  get counts(): CellCounts {
    return this.#reader.counts;
  }

  close(): void {
    this.#sender.stop();
    this.#carrier.close();
  }

  async #run(): Promise<string | undefined> {
    try {
      for await (const chunk of this.#carrier.chunks) {
        this.#reader.read(chunk, (bytes) => this.#receive(decodeRelayEnvelope(bytes)));
      }
    } catch {
      // The close code says what matters.
    }
    this.#sender.stop();
    const code = await this.#carrier.closeCode();
    this.#lost = new CallFailed({
      code: code ?? "transport_error",
      message: "The session has ended",
    });
    for (const { reject } of this.#calls.values()) reject(this.#lost);
    return code;
  }

  #receive(envelope: RelayEnvelope): void {
    if (envelope.kind === "notice") return this.notices.add(envelope);
    const call = this.#calls.get(envelope.id);
    this.#calls.delete(envelope.id);
    if (envelope.kind === "error") return call?.reject(new CallFailed(envelope.body));
    if (envelope.operation === "GetChallenge") {
      const { cellBytes } = envelope.body;
      this.#sender.setCellBytes(cellBytes);
      this.#reader.configure({ cellBytes, maxEnvelopeBytes: limits.envelopeBytes });
    }
    call?.resolve(envelope.body);
  }
}
