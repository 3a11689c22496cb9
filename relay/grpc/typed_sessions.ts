/**
 * How typed calls come to a session: GetChallenge opens one upstream, Authenticate finds it by the
 * relay's nonce and answers an opaque token, later calls carry that token. Sessions that have not
 * authenticated are few and short-lived.
 */
import { decodeBase64url, limits, type ReplyBody, type RequestBody } from "../../proto/mod.ts";
import { prefixOf } from "../../server/limits/mod.ts";
import type { GrpcCaller } from "./caller.ts";
import type { GrpcDeps } from "./deps.ts";
import { admitted, endedError, reasonOf, toConnectError } from "./errors.ts";
import { secretBytes, SecretMap } from "./secret_map.ts";
import type { Stranger } from "../strangers.ts";
import { TypedSession } from "./typed_session.ts";

/** The metadata entry that carries the session token. */
export const sessionHeader = "static-session";

interface HeldSession {
  readonly session: TypedSession;
  readonly stranger: Stranger;
  /** The nonce of its challenge, until that is answered. */
  nonce?: Uint8Array;
  /** The secret that names it, from its authentication on. */
  token?: Uint8Array;
  lastUseMs: number;
  cancelTimer: () => void;
}

export class TypedSessions {
  readonly #deps: GrpcDeps;
  readonly #challenged = new SecretMap<HeldSession>();
  readonly #sessions = new SecretMap<HeldSession>();

  constructor(deps: GrpcDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#sessions.size;
  }

  async challenge(
    body: RequestBody<"GetChallenge">,
    peer: GrpcCaller,
  ): Promise<ReplyBody<"GetChallenge">> {
    const held = this.#open(peer);
    const reply = await closingOnError(held.session, () => held.session.call("GetChallenge", body));
    // The session may have ended since the reply came, and would never be forgotten.
    if (held.session.end !== undefined) throw endedError(held.session.end.reason);
    held.nonce = reply.nonce;
    this.#challenged.add(reply.nonce, held);
    return reply;
  }

  async authenticate(
    body: RequestBody<"Authenticate">,
    peer: GrpcCaller,
  ): Promise<ReplyBody<"Authenticate">> {
    const held = this.#challenged.find(body.relayNonce);
    if (held === undefined) {
      const end = this.#challenged.findEnd(body.relayNonce);
      if (end?.reason !== undefined) throw endedError(end.reason);
      const message = "The challenge is unknown, used or expired: call GetChallenge again";
      throw toConnectError({ code: "auth_failed", message });
    }
    this.#challenged.end(body.relayNonce, undefined);
    // Known before the reply, so that an end that comes right behind it is remembered.
    const sessionToken = this.#deps.randomBytes(secretBytes);
    held.token = sessionToken;
    this.#sessions.add(sessionToken, held);
    const reply = await closingOnError(held.session, () => held.session.call("Authenticate", body));
    held.lastUseMs = this.#deps.nowMs();
    peer.vouch(held.session.sockets);
    if (this.#sessions.find(sessionToken) === held) this.#watch(held, this.#deps.idleTimeoutMs);
    return { ...reply, sessionToken };
  }

  /** The session that a call's metadata names. Throws a ConnectError. */
  find(header: string | null): TypedSession {
    const token = parseToken(header);
    const held = token && this.#sessions.find(token);
    if (held) {
      held.lastUseMs = this.#deps.nowMs();
      return held.session;
    }
    const end = token && this.#sessions.findEnd(token);
    if (end) throw endedError(end.reason);
    const message =
      `This call needs the metadata entry ${sessionHeader} with the session token that Authenticate answered`;
    throw toConnectError({ code: "auth_failed", message });
  }

  /** Whether a request's metadata names a live session: only then may it be large. */
  knows(header: string | undefined): boolean {
    const token = parseToken(header ?? null);
    return token !== undefined && this.#sessions.find(token) !== undefined;
  }

  /** A session for one call that needs none of its own. */
  async once<Result>(
    peer: GrpcCaller,
    run: (session: TypedSession) => Promise<Result>,
  ): Promise<Result> {
    const { session, stranger } = this.#open(peer);
    try {
      return await run(session);
    } finally {
      stranger.known();
      session.close(undefined);
    }
  }

  #open({ remoteAddress }: GrpcCaller): HeldSession {
    const stranger = admitted(
      this.#deps.strangers.admit(remoteAddress, (reason) => held.session.close(reason)),
    );
    const session = new TypedSession(this.#deps.upstream, {
      remoteAddress: prefixOf(remoteAddress),
      onAuthenticated: () => {
        held.cancelTimer();
        stranger.known();
      },
      onEnded: (reason) => {
        held.cancelTimer();
        stranger.gone(reason);
        session.sockets.end();
        if (held.nonce !== undefined) this.#challenged.end(held.nonce, reason);
        if (held.token !== undefined) this.#sessions.end(held.token, reason);
      },
    });
    const cancelTimer = this.#deps.after(limits.challengeMs, () => session.close(undefined));
    const held: HeldSession = { session, stranger, lastUseMs: this.#deps.nowMs(), cancelTimer };
    return held;
  }

  #watch(held: HeldSession, ms: number): void {
    held.cancelTimer = this.#deps.after(ms, () => {
      if (held.session.inUse) held.lastUseMs = this.#deps.nowMs();
      const leftMs = held.lastUseMs + this.#deps.idleTimeoutMs - this.#deps.nowMs();
      if (leftMs > 0) return this.#watch(held, leftMs);
      const message =
        "The session was not used for too long: authenticate again, and Ping or hold a Deliver stream open";
      held.session.close({ code: "transport_error", message });
    });
  }
}

async function closingOnError<Result>(
  session: TypedSession,
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    session.close(reasonOf(error));
    throw error;
  }
}

function parseToken(header: string | null): Uint8Array | undefined {
  const token = header === null ? undefined : decodeBase64url(header);
  return token?.length === secretBytes ? token : undefined;
}
