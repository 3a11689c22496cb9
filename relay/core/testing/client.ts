/**
 * A client of the core without a socket: it speaks envelopes over a link in memory, and remembers
 * what was pushed.
 */
import { createPrivateKey, sign } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import {
  type AgentId,
  agentIdOf,
  authenticationStatement,
  type CallName,
  decodeRelayEnvelope,
  encodeBase64url,
  encodeClientNotice,
  encodeRequest,
  type ErrorBody,
  knownFeatures,
  type Lane,
  type NoticeBody,
  type NoticeEnvelope,
  type NoticeName,
  protocolVersion,
  type ReplyBody,
  type RequestBody,
  riderPrefixBytes,
} from "../../../proto/mod.ts";
import type { ClientLink, CoreSession, EndReason, TransportKind } from "../client_link.ts";
import type { RelayCore } from "../relay_core.ts";

export const testOrigin = "quic://localhost:4433";

/** The relay said no. */
export class CallRefused extends Error {
  readonly body: ErrorBody;

  constructor(operation: string, body: ErrorBody) {
    super(`${operation}: ${body.code}: ${body.message}`);
    this.body = body;
  }
}

export interface TestAgent {
  readonly agentId: AgentId;
  readonly secretKey: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly identity: Uint8Array;
  readonly sign: (message: Uint8Array) => Uint8Array;
}

/** The same number makes the same agent. */
export function createAgent(number: number): TestAgent {
  const secretKey = new Uint8Array(32);
  new DataView(secretKey.buffer).setUint32(0, number + 1);
  const publicKey = ed25519.getPublicKey(secretKey);
  const identity = new TextEncoder().encode(`agent ${number}`);
  const keys = { secretKey, publicKey };
  return { agentId: agentIdOf(publicKey, identity), ...keys, identity, sign: createSigner(keys) };
}

/** The runtime's Ed25519: a test signs often. */
export function createSigner(
  { secretKey, publicKey }: Pick<TestAgent, "secretKey" | "publicKey">,
): TestAgent["sign"] {
  const jwk = {
    kty: "OKP",
    crv: "Ed25519",
    d: encodeBase64url(secretKey),
    x: encodeBase64url(publicKey),
  };
  const key = createPrivateKey({ key: jwk, format: "jwk" });
  return (message) => new Uint8Array(sign(null, message, key));
}

interface PendingCall {
  readonly operation: CallName;
  readonly resolve: (body: ReplyBody<CallName>) => void;
  readonly reject: (error: Error) => void;
}

export class TestClient implements ClientLink {
  readonly transport: TransportKind;
  remoteAddress = "127.0.0.1";
  readonly notices: NoticeEnvelope[] = [];
  /** Errors for this client's own notices; the others are not answered. */
  readonly failures: ErrorBody[] = [];
  /** Hears every notice as it comes. */
  onNotice: (notice: NoticeEnvelope) => void = () => {};
  /** Bytes that the client pretends not to have read; see `stall`. */
  pendingBytes = 0;
  end: (reason: EndReason | undefined) => void;
  /** Why the relay ended the session: undefined while it has not, null for no reason. */
  ended: EndReason | null | undefined;
  cover: { readonly mode: string; readonly intervalMs: number } | undefined;
  isChallenged = false;
  /** The result of the last request: set when the relay wants no more for now. */
  pressure: Promise<void> | undefined;
  readonly #session: CoreSession;
  readonly #calls = new Map<number, PendingCall>();
  /** Ids of notices. */
  readonly #quiet = new Set<number>();
  #nextId = 1;
  #stalled = false;
  #closed = false;

  constructor(core: RelayCore, transport: TransportKind = "quic") {
    this.transport = transport;
    this.end = (reason) => {
      this.ended = reason ?? null;
      this.close();
    };
    this.#session = core.open(this);
    // A refused connection was closed before it had a session to tell.
    if (this.#closed) this.#session.closed();
  }

  send(_lane: Lane, bytes: Uint8Array): void {
    if (this.#closed) return;
    if (this.#stalled) this.pendingBytes += bytes.length;
    const envelope = decodeRelayEnvelope(bytes);
    if (envelope.kind === "notice") {
      this.notices.push(envelope);
      return this.onNotice(envelope);
    }
    if (envelope.kind === "error" && this.#quiet.delete(envelope.id)) {
      return void this.failures.push(envelope.body);
    }
    const call = this.#calls.get(envelope.id);
    if (call === undefined) {
      throw new Error(`An answer to request ${envelope.id}, which is not open`);
    }
    this.#calls.delete(envelope.id);
    if (envelope.kind === "error") call.reject(new CallRefused(call.operation, envelope.body));
    else call.resolve(envelope.body);
  }

  challenged(): void {
    this.isChallenged = true;
  }

  authenticated(): void {}

  configureCover(mode: string, intervalMs: number): void {
    this.cover = { mode, intervalMs };
  }

  /** From now on nothing is read. */
  stall(): void {
    this.#stalled = true;
  }

  /** Reads what has piled up. */
  resume(): void {
    this.#stalled = false;
    this.pendingBytes = 0;
    this.#session.writable();
  }

  /** The connection breaks, without a goodbye. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const { operation, reject } of this.#calls.values()) {
      reject(new Error(`${operation}: connection lost`));
    }
    this.#calls.clear();
    // In the constructor of a refused connection there is no session yet.
    (this.#session as CoreSession | undefined)?.closed();
  }

  raw(bytes: Uint8Array): Promise<void> | undefined {
    return this.#session.receive(bytes);
  }

  call<Name extends CallName>(operation: Name, body: RequestBody<Name>): Promise<ReplyBody<Name>> {
    if (this.#closed) return Promise.reject(new Error(`${operation}: connection lost`));
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<ReplyBody<CallName>>();
    // A caller that gave up on a call does not have to handle its end.
    promise.catch(() => {});
    this.#calls.set(id, { operation, resolve, reject });
    this.pressure = this.#session.receive(encodeRequest(id, operation, body));
    return promise as Promise<ReplyBody<Name>>;
  }

  notify<Name extends CallName>(operation: Name, body: RequestBody<Name>): void {
    if (this.#closed) return;
    const id = this.#nextId++;
    this.#quiet.add(id);
    this.#session.receive(encodeClientNotice(id, operation, body));
  }

  /** A cell with this much room leaves the relay: hears what rides in it. */
  ride(room = 4000): NoticeEnvelope[] {
    const heard: NoticeEnvelope[] = [];
    for (let left = room;;) {
      const rider = this.#closed ? undefined : this.#session.rider(left);
      if (rider === undefined) return heard;
      left -= rider.length + riderPrefixBytes;
      const envelope = decodeRelayEnvelope(rider);
      if (envelope.kind !== "notice") throw new Error("Only notices ride");
      heard.push(envelope);
    }
  }

  /** Returns the features of the session too. */
  async authenticate(
    agent: TestAgent,
    token: string,
  ): Promise<ReplyBody<"Authenticate"> & Pick<ReplyBody<"GetChallenge">, "features">> {
    const asked = { versions: [protocolVersion], features: knownFeatures };
    const { nonce, features } = await this.call("GetChallenge", asked);
    return { ...await this.call("Authenticate", this.answer(agent, token, nonce)), features };
  }

  answer(agent: TestAgent, token: string, relayNonce: Uint8Array): RequestBody<"Authenticate"> {
    const { agentId, publicKey, identity } = agent;
    const statement = {
      origin: testOrigin,
      relayNonce,
      clientNonce: new Uint8Array(32).fill(7),
      token,
      agentId,
    };
    return {
      ...statement,
      publicKey,
      identity,
      signature: agent.sign(authenticationStatement(statement)),
    };
  }

  /** Returns the notices of one name, in order. */
  pushed<Name extends NoticeName>(operation: Name): NoticeBody<Name>[] {
    const found = this.notices.filter((notice) => notice.operation === operation);
    return found.map(({ body }) => body as NoticeBody<Name>);
  }
}
