/**
 * The proxy in front of a relay elsewhere: every session is a QUIC connection of its own. Typed
 * calls become cells here, with cover between them, so that an agent that only speaks typed gRPC to
 * a proxy beside it has both on the network.
 */
import {
  CellReader,
  CellSender,
  type CoverMode,
  decodeRelayEnvelope,
  encodeRequest,
  type Lane,
  limits,
  type RelayEnvelope,
} from "../../proto/mod.ts";
import { CellSplitter } from "../cells/cell_splitter.ts";
import type { CellClient, CellPipe, TypedClient, TypedLink, Upstream } from "../grpc/upstream.ts";
import { ProxiedStream, type RemoteRelay } from "./remote_stream.ts";

export interface RemoteDeps {
  /** Cover of typed sessions until the client configures its own. */
  readonly cover: { readonly mode: CoverMode; readonly intervalMs: number };
  readonly nowMs: () => number;
  readonly after: (ms: number, run: () => void) => () => void;
  /** Uniform in [0, 1), not to be predicted. */
  readonly random: () => number;
}

/** Above this the other side is not read; it goes on below half of it. */
const highWaterBytes = 1024 * 1024;
/** Ids of requests that the proxy makes itself: their replies are nobody's. */
const firstOwnId = 2 ** 52;

export function createRemoteUpstream(relay: RemoteRelay, deps: RemoteDeps): Upstream {
  return {
    cellBytes: limits.cellBytes,
    openTyped: (client) => new RemoteTypedLink(relay, deps, client),
    openCells: (client) => new RemoteCellPipe(relay, client),
  };
}

class RemoteTypedLink implements TypedLink {
  readonly #client: TypedClient;
  readonly #deps: RemoteDeps;
  readonly #stream: ProxiedStream;
  readonly #sender: CellSender;
  readonly #reader = new CellReader({
    cellBytes: limits.cellBytes,
    maxEnvelopeBytes: limits.envelopeBytes,
  });
  #nextOwnId = firstOwnId;
  #room: PromiseWithResolvers<void> | undefined;
  #cancelPing: () => void = () => {};

  constructor(relay: RemoteRelay, deps: RemoteDeps, client: TypedClient) {
    this.#client = client;
    this.#deps = deps;
    this.#stream = new ProxiedStream(relay, {
      receive: (chunk) => this.#receive(chunk),
      ended: (reason) => {
        this.#stop();
        client.ended(reason);
      },
    });
    const { nowMs, after, random } = deps;
    const write = (cells: Uint8Array): Promise<void> => this.#stream.write(cells);
    this.#sender = new CellSender({ cellBytes: limits.cellBytes, write, nowMs, after, random });
  }

  send(lane: Lane, envelope: Uint8Array): Promise<void> | undefined {
    this.#sender.push(lane, envelope);
    if (this.#sender.pendingBytes < highWaterBytes) return undefined;
    return this.#sender.flush(limits.challengeMs).then(() => {});
  }

  taken(): void {
    if (this.#client.pendingBytes >= highWaterBytes / 2) return;
    this.#room?.resolve();
    this.#room = undefined;
  }

  close(): void {
    this.#stop();
    this.#stream.close();
  }

  #receive(chunk: Uint8Array): Promise<void> | undefined {
    try {
      this.#reader.read(chunk, (bytes) => {
        const envelope = decodeRelayEnvelope(bytes);
        if (isRider(envelope)) return;
        this.#note(envelope);
        this.#client.receive(envelope, bytes.length);
      });
    } catch {
      this.close();
      this.#client.ended({
        code: "protocol_error",
        message: "The relay sent what the proxy does not understand",
      });
    }
    if (this.#client.pendingBytes < highWaterBytes) return undefined;
    this.#room ??= Promise.withResolvers();
    return this.#room.promise;
  }

  /** Applies a reply to the cells of this session. */
  #note(envelope: RelayEnvelope): void {
    if (envelope.kind !== "reply") return;
    if (envelope.operation === "GetChallenge") {
      const { cellBytes } = envelope.body;
      this.#sender.setCellBytes(cellBytes);
      this.#reader.configure({ cellBytes, maxEnvelopeBytes: limits.envelopeBytes });
    } else if (envelope.operation === "Authenticate") {
      this.#client.authenticated();
      this.#sender.push(
        "control",
        encodeRequest(this.#nextOwnId++, "ConfigureCover", this.#deps.cover),
      );
      this.#ping(envelope.body.limits.idleTimeoutMs / 3);
    } else if (envelope.operation === "ConfigureCover") {
      this.#sender.configure(envelope.body.mode, envelope.body.intervalMs);
    }
  }

  /** The client's calls may be rare; the relay must not take that for the end. */
  #ping(everyMs: number): void {
    this.#cancelPing = this.#deps.after(everyMs, () => {
      this.#sender.push("control", encodeRequest(this.#nextOwnId++, "Ping", {}));
      this.#ping(everyMs);
    });
  }

  #stop(): void {
    this.#sender.stop();
    this.#cancelPing();
    this.#room?.resolve();
  }
}

/**
 * Notices that ride in the fill of cells are not for typed calls, where each would be a visible
 * message.
 */
function isRider(envelope: RelayEnvelope): boolean {
  return envelope.kind === "notice" &&
    (envelope.operation === "DeliverConfirmations" || envelope.operation === "DeliverUnconfirmed");
}

class RemoteCellPipe implements CellPipe {
  readonly #client: CellClient;
  readonly #stream: ProxiedStream;
  readonly #splitter = new CellSplitter();

  constructor(relay: RemoteRelay, client: CellClient) {
    this.#client = client;
    this.#stream = new ProxiedStream(relay, {
      receive: (chunk) => this.#passDown(chunk),
      ended: (reason) => client.close(reason),
    });
  }

  get cellBytes(): number {
    return this.#splitter.cellBytes;
  }

  receive(cell: Uint8Array): Promise<void> {
    // A stream that is gone says so through its end.
    return this.#stream.write(cell).catch(() => {});
  }

  ended(): void {
    this.#stream.finish();
  }

  lost(): void {
    this.#stream.close();
  }

  async #passDown(chunk: Uint8Array): Promise<void> {
    try {
      for (const { bytes, cellBytes } of this.#splitter.split(chunk)) {
        // A client whose challenge is answered speaks the protocol; the rest is between the client
        // and the relay.
        if (this.#splitter.settled) this.#client.authenticated();
        await this.#client.write(bytes, cellBytes);
      }
    } catch {
      this.#stream.close();
      this.#client.close({
        code: "protocol_error",
        message: "The relay sent what the proxy does not understand",
      });
    }
  }
}
