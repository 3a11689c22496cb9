/**
 * A relay in memory that does what a test tells it, honest unless told otherwise. It speaks real
 * cells and envelopes; only the network and the service behind it are left out.
 */
import {
  type AgentId,
  agentIdOf,
  authenticationStatement,
  type CallName,
  CellPacker,
  CellReader,
  type ClientEnvelope,
  decodeClientEnvelope,
  encodeError,
  encodeNotice,
  encodeReply,
  errorCodeOfClose,
  knownFeatures,
  type Lane,
  limits,
  type NoticeBody,
  type NoticeName,
  protocolVersion,
  type RelayLimits,
  type ReplyBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import { portableSignatures } from "../../mls/testing/portable_signatures.ts";
import type { CellStream, Connector, StreamEnd, TransportName } from "../../transport/transport.ts";

export const relayLimits: RelayLimits = {
  payloadBytes: limits.payloadBytes,
  keyPackageBytes: limits.keyPackageBytes,
  commitBytes: limits.commitBytes,
  welcomeBytes: limits.welcomeBytes,
  membersPerChannel: 1000,
  queueBytesPerChannel: limits.queueBytesPerChannel,
  queueAgeMs: limits.queueAgeMs,
  keyPackagesPerAgent: 100,
  idleTimeoutMs: 60_000,
  joinRequestMs: 60_000,
  lapseAgeMs: 1_000_000,
  lapseCommits: 10_000,
};

export interface ScriptedRelayOptions {
  readonly nowMs: () => number;
  readonly cellBytes?: number;
  readonly limits?: Partial<RelayLimits>;
  /** How long a session lives without renewal. */
  readonly tokenMs?: number;
  /** Told with the answers to Authenticate and Ping. */
  readonly returnWithinMs?: () => number;
  /** Overrides the honest answer: true when it has dealt with the request. */
  readonly script?: (link: RelayLink, request: ClientEnvelope) => boolean | void;
}

/** Every connection that was ever made, and what it carried. */
export class ScriptedRelay {
  readonly links: RelayLink[] = [];
  readonly options: ScriptedRelayOptions;
  /** The error that `connect` throws while set. */
  unreachable: Error | undefined;
  /** Connections that were refused so. */
  refused = 0;

  constructor(options: ScriptedRelayOptions) {
    this.options = options;
  }

  get last(): RelayLink {
    const link = this.links.at(-1);
    if (link === undefined) throw new Error("nobody has connected");
    return link;
  }

  connector(transport: TransportName = "quic"): Connector {
    return {
      transport,
      carrier: transport === "quic" || transport === "webtransport" ? "udp" : "tcp",
      unusable: () => undefined,
      connect: (_target, signal) => {
        if (this.unreachable !== undefined) {
          this.refused++;
          return Promise.reject(this.unreachable);
        }
        signal.throwIfAborted();
        const link = new RelayLink(this);
        this.links.push(link);
        return Promise.resolve(link.clientSide);
      },
    };
  }
}

/** The relay's end of one connection. */
export class RelayLink {
  readonly requests: ClientEnvelope[] = [];
  readonly clientSide: CellStream;
  /** Nothing is taken from the client while this is set. */
  stalled: Promise<void> | undefined;
  cellBytes: number = limits.cellBytes;
  /** With which the client closed. */
  closeCode: number | undefined;
  readonly #relay: ScriptedRelay;
  readonly #reader = new CellReader({
    cellBytes: limits.cellBytes,
    maxEnvelopeBytes: limits.envelopeBytes,
  });
  readonly #chunks: Uint8Array[] = [];
  #wake: () => void = () => {};
  #end: StreamEnd | undefined;
  #settleClosed: (end: StreamEnd) => void = () => {};
  #nonce = new Uint8Array(32);

  constructor(relay: ScriptedRelay) {
    this.#relay = relay;
    const closed = new Promise<StreamEnd>((resolve) => this.#settleClosed = resolve);
    this.clientSide = {
      read: () => this.#read(),
      write: (cells) => this.#take(cells.slice()),
      close: (closeCode) => {
        this.closeCode ??= closeCode;
        this.hangUp({ message: "closed by the client" });
      },
      closed,
    };
  }

  get isOpen(): boolean {
    return this.#end === undefined;
  }

  /** Cells that the client sent, cover included. */
  get counts(): { readonly cells: number; readonly coverCells: number } {
    return this.#reader.counts;
  }

  hangUp(end: StreamEnd = { message: "the connection was reset" }): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#settleClosed(end);
    this.#wake();
  }

  /** Hangs up like a QUIC connection that closes with a code. */
  hangUpWith(closeCode: number): void {
    const code = errorCodeOfClose(closeCode);
    this.hangUp({ message: `closed with ${closeCode}`, ...(code !== undefined && { code }) });
  }

  /** Any bytes, in one piece. */
  sendBytes(...parts: readonly Uint8Array[]): void {
    const chunk = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      chunk.set(part, at);
      at += part.length;
    }
    this.#chunks.push(chunk);
    this.#wake();
  }

  cells(lane: Lane, envelope: Uint8Array, cellBytes = this.cellBytes): Uint8Array[] {
    const packer = new CellPacker(cellBytes);
    packer.push(lane, envelope);
    const cells: Uint8Array[] = [];
    for (let cell = packer.next(); cell !== undefined; cell = packer.next()) cells.push(cell);
    return cells;
  }

  reply<Name extends CallName>(id: number, operation: Name, body: ReplyBody<Name>): void {
    this.sendBytes(...this.cells("control", encodeReply(id, operation, body)));
  }

  error(id: number, code: string, more: { message?: string; retryAfterMs?: number } = {}): void {
    this.sendBytes(
      ...this.cells("control", encodeError(id, { code, message: `no: ${code}`, ...more })),
    );
  }

  notice<Name extends NoticeName>(operation: Name, body: NoticeBody<Name>): void {
    this.sendBytes(...this.cells("control", encodeNotice(operation, body)));
  }

  requestsFor<Name extends CallName>(
    operation: Name,
  ): Extract<ClientEnvelope, { operation: Name }>[] {
    return this.requests.filter((
      request,
    ): request is Extract<ClientEnvelope, { operation: Name }> => request.operation === operation);
  }

  async #read(): Promise<Uint8Array | undefined> {
    while (this.#chunks.length === 0) {
      if (this.#end !== undefined) return undefined;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    return this.#chunks.shift();
  }

  async #take(cells: Uint8Array): Promise<void> {
    await this.stalled;
    if (this.#end !== undefined) throw new Error("the stream is gone");
    this.#reader.read(cells, (bytes) => {
      const request = decodeClientEnvelope(bytes);
      this.requests.push(request);
      if (this.#relay.options.script?.(this, request) !== true) this.answer(request);
    });
  }

  /** The honest answer. */
  answer(request: ClientEnvelope): void {
    const { nowMs, tokenMs = 3_600_000, limits: more, returnWithinMs } = this.#relay.options;
    switch (request.operation) {
      case "GetChallenge":
        this.#challenge(request.id);
        break;
      case "Authenticate":
        this.reply(request.id, "Authenticate", {
          agentId: this.#authenticate(request.body),
          expiresAtMs: nowMs() + tokenMs,
          relayTimeMs: nowMs(),
          sessionToken: new Uint8Array(0),
          keyPackages: 0,
          limits: { ...relayLimits, ...more },
          hasLastResort: false,
          returnWithinMs: returnWithinMs?.(),
        });
        break;
      case "Ping":
        this.reply(request.id, "Ping", {
          relayTimeMs: nowMs(),
          returnWithinMs: returnWithinMs?.(),
        });
        break;
      case "RenewToken":
        this.reply(request.id, "RenewToken", { expiresAtMs: nowMs() + tokenMs });
        break;
      case "ConfigureCover":
        this.reply(request.id, "ConfigureCover", request.body);
        break;
      case "Acknowledge":
        break;
      case "EndSession":
        this.hangUp({ message: "goodbye" });
        break;
      default:
        this.error(request.id, "not_found");
    }
  }

  #challenge(id: number): void {
    const { nowMs, cellBytes = limits.cellBytes } = this.#relay.options;
    this.#nonce = new Uint8Array(32).fill(this.#relay.links.length);
    this.reply(id, "GetChallenge", {
      version: protocolVersion,
      nonce: this.#nonce,
      expiresInMs: limits.challengeMs,
      relayTimeMs: nowMs(),
      cellBytes,
      features: knownFeatures,
    });
    this.cellBytes = cellBytes;
    this.#reader.configure({ cellBytes, maxEnvelopeBytes: limits.envelopeBytes });
  }

  /**
   * Verifies as a real relay would: a wrong signature is a mistake of the SDK, and must not pass
   * here either.
   */
  #authenticate(body: RequestBody<"Authenticate">): AgentId {
    const { publicKey, identity, origin, clientNonce, token, signature, relayNonce } = body;
    const agentId = agentIdOf(publicKey, identity);
    const statement = authenticationStatement({
      origin,
      relayNonce: this.#nonce,
      clientNonce,
      token,
      agentId,
    });
    const fresh = relayNonce.every((byte, i) => byte === this.#nonce[i]);
    if (!fresh || !portableSignatures.verifyHandshake(publicKey, statement, signature)) {
      throw new Error("the authentication statement does not verify");
    }
    return agentId;
  }
}
