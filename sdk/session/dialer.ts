/**
 * Opens one authenticated connection: takes the ways to the relays in turn until one works, with a
 * token that the relay takes. Each way is tried once, and on a slow network the best one again; the
 * caller waits before it asks again. Remembers which way failed, where the relay was busy, which
 * relay was lost and which token was refused, for the next time.
 */
import type { NoticeEnvelope } from "../../proto/mod.ts";
import { createError, StaticError } from "../base/errors.ts";
import { type RelayRoute, waysTo } from "../transport/endpoint.ts";
import { reasonOf } from "../transport/reason.ts";
import type { TransportName } from "../transport/transport.ts";
import { RelayConnection } from "./connection.ts";
import type { Cover } from "./cover.ts";
import { authenticate, type AuthenticatedConnection } from "./handshake.ts";
import type { SessionDeps, SessionOptions } from "./options.ts";
import { RelayChoice } from "./relay_choice.ts";

export interface DialerDeps extends SessionDeps {
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** The time limit of one way, authentication included. */
  readonly connectMs: number;
  readonly onNotice: (notice: NoticeEnvelope) => void;
  readonly onRoom: () => void;
  /** Cover of a connection that opens now. */
  readonly cover: () => Cover;
  /** Before anything that the relay sent behind its answer is looked at. */
  readonly onOnline: (online: OnlineConnection) => void;
}

export interface OnlineConnection extends AuthenticatedConnection {
  readonly connection: RelayConnection;
  readonly transport: TransportName;
  readonly token: string;
}

interface ConnectAttempt {
  readonly signal: AbortSignal;
  /** The handshake may take all the time there is: no other way waits. */
  readonly isPatient: boolean;
  /** When it has to be over. */
  readonly endMs: number;
}

interface ConnectFailure {
  readonly error: StaticError;
  /** The rest may work: other ways to this relay, other relays only, or nothing. */
  readonly of: "way" | "relay" | "all";
  /** Nobody answered: within its whole time, or until another way got its turn. */
  readonly silent?: "all_along" | "so_far" | undefined;
  /** How long the dial took. The time to fetch the token is not included. */
  readonly tookMs?: number;
}

/**
 * A network that loses a third and takes a second there and back needs half a minute; a good one
 * must not wait that long.
 */
const maxPatience = 4;
/**
 * The time limit for the handshake of a way that another one follows: packets that nobody answers
 * (a firewall that drops UDP, a relay whose QUIC port is flooded) must not hold up an agent that
 * TCP serves at once. It is more than two round trips to a satellite.
 */
const handshakeMs = 1_500;
/**
 * A network on which a refusal takes longer than this is slow: a handshake takes several times as
 * long.
 */
const slowMs = 300;
/** An attempt holds its place for so long at least. A timer that is so late: a busy process. */
const [lookMs, lateMs] = [500, 25];
/**
 * One tick for the request and one for the reply, each of which may wait up to 1.5 slots, and one
 * for a long token.
 */
const ticksToAuthenticate = 4;
/**
 * Codes that may be the transport's fault. An answer of the relay itself is the same over every
 * transport.
 */
const waysFault: ReadonlySet<string> = new Set([
  "transport_error",
  "connection_error",
  "protocol_error",
  "internal",
]);
/**
 * Codes that hold for one relay of several: it goes away, has too much to do, or is of another
 * version in an upgrade.
 */
const relaysFault: ReadonlySet<string> = new Set([
  "relay_draining",
  "overloaded",
  "unsupported_version",
]);
/**
 * Codes after which the next round begins with another way: a port's places may be taken while the
 * other's are free.
 */
const portsFault: ReadonlySet<string> = new Set(["overloaded", "rate_limited"]);

export class Dialer {
  readonly #options: SessionOptions;
  readonly #deps: DialerDeps;
  readonly #choice: RelayChoice;
  /** The way of the last connection. */
  #last: RelayRoute | undefined;
  #refused: string | undefined;
  #hasWorked = false;
  /** How many times as long as usual an attempt may take. */
  #patience = 1;

  /** Throws `StaticError` when nothing leads to the endpoint. */
  constructor(options: SessionOptions, deps: DialerDeps) {
    this.#options = options;
    this.#deps = deps;
    const ways = waysTo(options.endpoints, deps.connectors, options.transport ?? "auto");
    this.#choice = new RelayChoice(ways, deps);
  }

  /** The relay takes this token no more: another one next time. */
  refuse(token: string): void {
    this.#refused = token;
  }

  /**
   * The connection has ended so: of several relays, another one is tried first. True when it may be
   * tried at once.
   */
  leave({ code, retryAfterMs }: StaticError): boolean {
    if (this.#last === undefined) return false;
    this.#choice.rest(this.#last, retryAfterMs);
    this.#last = undefined;
    return this.#choice.hasFresh && (waysFault.has(code) || relaysFault.has(code));
  }

  /**
   * Returns a connection, for which `onOnline` was called, or why there is none within this time.
   */
  async open(signal: AbortSignal, withinMs = Infinity): Promise<RelayConnection | StaticError> {
    const endMs = this.#deps.nowMs() + withinMs;
    const failed = new Map<RelayRoute, ConnectFailure>();
    const ways = this.#choice.round();
    for (const [index, way] of ways.entries()) {
      if (
        [...failed].some(([other, failure]) => other.relay === way.relay && failure.of === "relay")
      ) continue;
      if (this.#deps.nowMs() >= endMs) break;
      const done = await this.#attempt(
        way,
        { signal, endMs, isPatient: index === ways.length - 1 },
        failed,
      );
      if (done !== undefined) return done;
    }
    const hurried = this.#deps.nowMs() < endMs ? this.#hurriedWay(ways, failed) : undefined;
    const done = hurried &&
      await this.#attempt(hurried, { signal, endMs, isPatient: true }, failed);
    if (done !== undefined) return done;
    this.#restAll(failed);
    this.#patience = Math.min(this.#patience * 2, maxPatience);
    return refusal(failed) ?? unreachable(failed, this.#options.note);
  }

  /** Returns undefined when the rest of the ways may work. */
  async #attempt(
    way: RelayRoute,
    attempt: ConnectAttempt,
    failed: Map<RelayRoute, ConnectFailure>,
  ): Promise<RelayConnection | StaticError | undefined> {
    const outcome = await this.#try(way, attempt);
    failed.delete(way);
    if (outcome instanceof RelayConnection) {
      this.#worked(way, failed);
      return outcome;
    }
    if (attempt.signal.aborted || outcome.of === "all") return outcome.error;
    failed.set(way, outcome);
    return undefined;
  }

  /**
   * The best way that got less than its whole time, if a refusal on another way took so long that
   * the network must be slow. Only in the first round: later ones are more patient by themselves,
   * and a relay that restarts must be met as soon as it is back. Not where a relay has answered: it
   * said when to come again.
   */
  #hurriedWay(
    ways: readonly RelayRoute[],
    failed: ReadonlyMap<RelayRoute, ConnectFailure>,
  ): RelayRoute | undefined {
    const failures = [...failed.values()];
    if (
      this.#hasWorked || this.#patience > 1 || failures.some((failure) => failure.of === "relay")
    ) return undefined;
    const isSlow = failures.some(({ silent, tookMs = 0 }) =>
      silent === undefined && tookMs >= slowMs
    );
    return isSlow ? ways.find((way) => failed.get(way)?.silent === "so_far") : undefined;
  }

  #worked(way: RelayRoute, failed: ReadonlyMap<RelayRoute, ConnectFailure>): void {
    this.#restAll(failed);
    this.#choice.worked(way, failed.keys());
    this.#last = way;
    this.#refused = undefined;
    this.#patience = 1;
    this.#hasWorked = true;
  }

  #restAll(failed: ReadonlyMap<RelayRoute, ConnectFailure>): void {
    for (const [way, { error }] of failed) this.#choice.rest(way, error.retryAfterMs);
  }

  /** With a second token if the first is not taken. */
  async #try(way: RelayRoute, attempt: ConnectAttempt): Promise<RelayConnection | ConnectFailure> {
    for (;;) {
      const token = await this.#nextToken(attempt.signal);
      if (token instanceof StaticError) return { error: token, of: "all" };
      const outcome = await this.#connectInTurn(way, token, attempt);
      if (outcome instanceof RelayConnection) return outcome;
      if (portsFault.has(outcome.error.code)) this.#choice.wasBusy(way);
      if (!isTokenRefusal(outcome.error)) return outcome;
      if (this.#refused !== undefined || !this.#deps.tokens.renewable) return outcome;
      this.#refused = token;
    }
  }

  async #nextToken(signal: AbortSignal): Promise<string | StaticError> {
    try {
      return await this.#deps.tokens.get({ instead: this.#refused, signal });
    } catch (error) {
      return toError(error);
    }
  }

  /** Waits for a place first, and not longer than the whole attempt may take. */
  async #connectInTurn(
    way: RelayRoute,
    token: string,
    attempt: ConnectAttempt,
  ): Promise<RelayConnection | ConnectFailure> {
    const { after, dials, nowMs } = this.#deps;
    if (dials === undefined) return await this.#connect(way, token, attempt);
    const waiting = new AbortController();
    const stop = (): void => waiting.abort();
    const cancel = attempt.endMs === Infinity ? () => {} : after(attempt.endMs - nowMs(), stop);
    attempt.signal.addEventListener("abort", stop);
    if (attempt.signal.aborted) stop();
    const giveBack = await dials.take(way.origin, waiting.signal);
    cancel();
    attempt.signal.removeEventListener("abort", stop);
    if (giveBack === undefined) return { error: hasNoTurn(attempt), of: "way" };
    const leave = this.#holdWhileBusy(giveBack);
    try {
      return await this.#connect(way, token, attempt);
    } finally {
      leave();
    }
  }

  /**
   * The place is free as well when a timer came in time: then the attempt does not wait for this
   * process, but for a network that may drop all it sends. Returns how to give the place back.
   */
  #holdWhileBusy(giveBack: () => void): () => void {
    const { after, nowMs } = this.#deps;
    const look = (): () => void => {
      const dueMs = nowMs() + lookMs;
      return after(lookMs, () => {
        if (nowMs() - dueMs > lateMs) cancel = look();
        else leave();
      });
    };
    let isHeld = true;
    const leave = (): void => {
      cancel();
      if (isHeld) giveBack();
      isHeld = false;
    };
    let cancel = look();
    return leave;
  }

  async #connect(
    { connector, target, origin }: RelayRoute,
    token: string,
    { signal, isPatient, endMs }: ConnectAttempt,
  ): Promise<RelayConnection | ConnectFailure> {
    const { nowMs, after, random, randomBytes, onNotice, onRoom, onOnline } = this.#deps;
    const cover = this.#deps.cover();
    const startedMs = nowMs();
    const usualMs = this.#deps.connectMs * this.#patience +
      (cover.mode === "constant" ? ticksToAuthenticate * cover.intervalMs : 0);
    const connectMs = Math.max(0, Math.min(usualMs, endMs - startedMs));
    const attempt = new AbortController();
    const abort = (): void =>
      attempt.abort(createError("transport_error", "The session was closed by its client"));
    const giveUp = (ms: number): void =>
      attempt.abort(createError("connection_error", `no answer within ${ms} ms`));
    let silent: ConnectFailure["silent"];
    const cancel = after(connectMs, () => {
      silent = "all_along";
      giveUp(connectMs);
    });
    const shortMs = Math.min(connectMs, handshakeMs * this.#patience);
    const cancelHandshake = isPatient ? () => {} : after(shortMs, () => {
      silent = "so_far";
      giveUp(shortMs);
    });
    signal.addEventListener("abort", abort);
    let connection: RelayConnection | undefined;
    try {
      if (signal.aborted) abort();
      // Ticks must not wait for what this thread computes.
      const connect = cover.mode === "constant"
        ? connector.connectInThread ?? connector.connect
        : connector.connect;
      const stream = await connect(target, attempt.signal);
      cancelHandshake();
      const opened = connection = new RelayConnection(stream, {
        nowMs,
        after,
        random,
        onNotice,
        onRoom,
      });
      const abandon = (): void => opened.abandon(toError(attempt.signal.reason));
      if (attempt.signal.aborted) abandon();
      attempt.signal.addEventListener("abort", abandon);
      const { identity, publicKey, sign } = this.#options;
      const credentials = {
        token,
        origin,
        identity,
        publicKey,
        sign,
        clientNonce: randomBytes(32),
        cover,
      };
      await authenticate(opened, credentials, nowMs, (authenticated) => {
        cancel();
        onOnline({ ...authenticated, connection: opened, transport: connector.transport, token });
      });
      return opened;
    } catch (cause) {
      return { ...await failure(toError(cause), connection), silent, tookMs: nowMs() - startedMs };
    } finally {
      cancelHandshake();
      cancel();
      signal.removeEventListener("abort", abort);
    }
  }
}

async function failure(
  error: StaticError,
  connection: RelayConnection | undefined,
): Promise<ConnectFailure> {
  if (connection === undefined) return { error, of: relaysFault.has(error.code) ? "relay" : "way" };
  connection.abandon(error, 0);
  const reason = await connection.ended;
  return {
    error: reason,
    of: waysFault.has(reason.code) ? "way" : relaysFault.has(reason.code) ? "relay" : "all",
  };
}

function isTokenRefusal({ code }: StaticError): boolean {
  return code === "auth_failed" || code === "session_expired";
}

/**
 * Returns the error of the relay that may be asked again first, of those that answered and refused.
 */
function refusal(failed: ReadonlyMap<RelayRoute, ConnectFailure>): StaticError | undefined {
  const errors = [...failed.values()].filter((failure) => failure.of === "relay").map(({ error }) =>
    error
  );
  return errors.sort((a, b) => (a.retryAfterMs ?? 0) - (b.retryAfterMs ?? 0))[0];
}

function unreachable(
  failed: ReadonlyMap<RelayRoute, ConnectFailure>,
  note: string | undefined,
): StaticError {
  const reasons = Array.from(
    failed,
    ([{ connector, origin }, { error }]) => `${origin} by ${connector.transport}: ${error.message}`,
  );
  const cause = failed.values().next().value?.error;
  const text = [...reasons, ...(note === undefined ? [] : [note])].join("; ");
  return createError("connection_error", `Cannot reach the relay: ${text}`, { cause });
}

function hasNoTurn({ signal }: ConnectAttempt): StaticError {
  return signal.aborted
    ? createError("transport_error", "The session was closed by its client")
    : createError("connection_error", "other agents of this process connect at the same time");
}

/** Whatever a runtime throws when a connection fails. */
export function toError(error: unknown): StaticError {
  if (error instanceof StaticError) return error;
  return createError("connection_error", reasonOf(error), { cause: error });
}
