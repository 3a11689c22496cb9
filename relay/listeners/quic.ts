/**
 * The QUIC port, IPv4 and IPv6: native agents (ALPN `static-relay/1`) and browsers (`h3`,
 * WebTransport). It accepts, limits strangers, and hands each connection to what carries its one
 * stream. A renewed certificate is a second `listen` on the same endpoint: handshakes from then on
 * use it, open connections and the accept loop go on.
 */
import { errorCodes, limits } from "../../proto/mod.ts";
import { type ListenAddress, openOnEach } from "../../server/http2/mod.ts";
import { prefixOf } from "../../server/limits/mod.ts";
import type { KeyedCertificate } from "../../server/mod.ts";
import type { LinkHost } from "../cells/link_host.ts";
import type { EndReason } from "../core/client_link.ts";
import { Strangers } from "../strangers.ts";
import { hurriedTimes, quicOptions } from "./quic_options.ts";
import { carrySession, type QuicClient, readWithOneBuffer, refuseStreams } from "./quic_stream.ts";
import { serveWebTransport } from "./webtransport.ts";

export interface QuicLimits {
  /**
   * TLS handshakes under way, and how long one counts: those that take longer may still end well.
   */
  readonly handshakes: number;
  readonly handshakeMs: number;
  /** With so many under way, connections get shorter times (`hurriedTimes`). */
  readonly calmHandshakes: number;
  /** Connections that have not authenticated. */
  readonly strangers: number;
  /** A connection whose session has not begun after this long is closed. */
  readonly openingMs: number;
}

export interface QuicListenerOptions {
  readonly host: LinkHost;
  readonly hostname: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly certificate: KeyedCertificate;
  readonly limits: QuicLimits;
  /**
   * Whether scripts of this web origin may open sessions; clients that are no browsers have none.
   */
  readonly allowsOrigin: (origin: string) => boolean;
  /** A fault of this code; nothing that a peer does is one. */
  readonly onFault: (error: unknown) => void;
}

export interface QuicListener {
  readonly port: number;
  /** Resolves when the port accepts no more although nobody closed it. */
  readonly failed: Promise<Error>;
  stats(): QuicStats;
  setCertificate(certificate: KeyedCertificate): void;
  /** New connections are refused from now on. */
  refuse(): void;
  /** Resolves when the last connection is gone. */
  idle(): Promise<void>;
  /** Ends everything that is still open. */
  close(): void;
}

export interface QuicStats {
  readonly connections: number;
  readonly strangers: number;
  /** Connections that were refused or displaced because of a limit. */
  readonly refused: number;
}

const transportOptions = {
  alpnProtocols: ["static-relay/1", "h3"],
  ...quicOptions,
  // WebTransport: its CONNECT stream, the session's, one to spare and one to refuse.
  maxConcurrentBidirectionalStreams: 4,
  // HTTP/3: control, QPACK both ways, and those of unknown types that browsers open to keep servers
  // honest.
  maxConcurrentUnidirectionalStreams: 8,
};

export async function listenQuic(options: QuicListenerOptions): Promise<QuicListener> {
  const endpoints = await openOnEach(
    options,
    (address) => new UdpPort(address, options.certificate),
  );
  const door = new QuicDoor(options);
  const { promise: failed, resolve: fail } = Promise.withResolvers<Error>();
  for (const endpoint of endpoints) {
    void door.acceptFrom(endpoint).then((error) => error && fail(error));
  }
  return {
    port: endpoints[0]?.port ?? 0,
    failed,
    stats: () => door.stats(),
    setCertificate: (certificate) => endpoints.forEach((endpoint) => endpoint.renew(certificate)),
    refuse: () => door.shut(),
    idle: () => door.idle(),
    close: () => {
      door.shut();
      for (const endpoint of endpoints) endpoint.close();
    },
  };
}

const hurriedOptions = { ...transportOptions, ...hurriedTimes };

/** A connection whose handshake has not begun. */
interface QuicNewcomer {
  readonly refuse: () => void;
  readonly accept: (how: { readonly isHurried: boolean }) => Promise<Deno.QuicConn>;
}

/** A UDP port of one address. */
class UdpPort {
  readonly #endpoint: Deno.QuicEndpoint;
  /** The listener of the newest certificate. */
  #newest: Deno.QuicListener;
  /**
   * The newest listener and the first, because a listener that is collected might stop the
   * endpoint.
   */
  readonly #kept: Deno.QuicListener[];

  constructor({ hostname, port }: ListenAddress, certificate: KeyedCertificate) {
    this.#endpoint = new Deno.QuicEndpoint({ hostname, port });
    this.#newest = this.#listen(certificate);
    this.#kept = [this.#newest];
  }

  /** The next that comes, whatever listener takes it. */
  async next(): Promise<QuicNewcomer> {
    const listener = this.#newest;
    const incoming = await listener.incoming();
    return {
      refuse: () => incoming.refuse(),
      // Options bring the certificate of the listener that took it; without any it is the newest.
      accept: async ({ isHurried }) =>
        await (isHurried && listener === this.#newest
          ? incoming.accept(hurriedOptions)
          : incoming.accept()),
    };
  }

  get port(): number {
    return this.#endpoint.addr.port;
  }

  renew(certificate: KeyedCertificate): void {
    this.#newest = this.#listen(certificate);
    this.#kept.splice(1, 1, this.#newest);
  }

  close(): void {
    this.#endpoint.close({ closeCode: errorCodes.relay_draining.close, reason: "relay_draining" });
  }

  #listen(certificate: KeyedCertificate): Deno.QuicListener {
    return this.#endpoint.listen({ ...transportOptions, ...certificate });
  }
}

class QuicDoor {
  readonly #options: QuicListenerOptions;
  readonly #strangers: Strangers;
  #open = true;
  #handshakes = 0;
  #connections = 0;
  #refused = 0;
  #idle: PromiseWithResolvers<void> | undefined;

  constructor(options: QuicListenerOptions) {
    this.#options = options;
    this.#strangers = new Strangers(options.limits.strangers);
  }

  shut(): void {
    this.#open = false;
  }

  idle(): Promise<void> {
    if (this.#connections === 0) return Promise.resolve();
    this.#idle ??= Promise.withResolvers();
    return this.#idle.promise;
  }

  stats(): QuicStats {
    return {
      connections: this.#connections,
      strangers: this.#strangers.size,
      refused: this.#refused + this.#strangers.refused,
    };
  }

  /**
   * Returns the error that ended it. Never waits for a handshake: one slow peer would hold up all
   * others.
   */
  async acceptFrom(port: UdpPort): Promise<Error | undefined> {
    try {
      while (true) void this.#admit(await port.next());
    } catch (cause) {
      // The end of the endpoint is told as an error too.
      if (this.#open) return new Error("The QUIC port accepts no more connections", { cause });
    }
    return undefined;
  }

  async #admit(newcomer: QuicNewcomer): Promise<void> {
    try {
      // The peer's address is judged after the handshake: asking `incoming` for it makes it
      // unusable (Deno 2.9.5).
      if (!this.#open || this.#handshakes >= this.#options.limits.handshakes) {
        this.#refused++;
        return newcomer.refuse();
      }
      const conn = await this.#handshake(newcomer);
      conn.closed.catch(() => {});
      await this.#serve(conn);
    } catch {
      // A failed handshake or a lost connection is the peer's; there is nobody to tell.
    }
  }

  async #handshake(newcomer: QuicNewcomer): Promise<Deno.QuicConn> {
    const isHurried = this.#handshakes >= this.#options.limits.calmHandshakes;
    this.#handshakes++;
    const done = once(() => this.#handshakes--);
    // A first packet whose sender says nothing more may have a forged address. Deno can neither ask
    // for proof (Retry) nor give the handshake up, so it stays until QUIC's idle time; its place is
    // free before.
    const cancel = this.#options.host.after(this.#options.limits.handshakeMs, done);
    try {
      return await newcomer.accept({ isHurried });
    } finally {
      cancel();
      done();
    }
  }

  async #serve(conn: Deno.QuicConn): Promise<void> {
    // `QuicIncoming.remoteAddr` makes the incoming connection unusable in Deno 2.9.5, so an address
    // is judged behind its handshake.
    const address = prefixOf(conn.remoteAddr.hostname);
    const stranger = this.#strangers.admit(address, (reason) => closeConnection(conn, reason));
    if ("refused" in stranger) return closeConnection(conn, stranger.refused);
    this.#connections++;
    let reason: EndReason | undefined;
    const client: QuicClient = {
      remoteAddress: address,
      authenticated: stranger.known,
      ended: (why) => {
        reason = why;
      },
    };
    try {
      if (conn.protocol === "h3") await serveWebTransport(conn, { ...this.#options, client });
      else await this.#serveNative(conn, client);
      await conn.closed;
    } finally {
      stranger.gone(reason);
      this.#connections--;
      if (this.#connections === 0) this.#idle?.resolve();
    }
  }

  async #serveNative(conn: Deno.QuicConn, client: QuicClient): Promise<void> {
    const { host } = this.#options;
    const late: EndReason = { code: "auth_failed", message: "No session was opened in time" };
    const cancel = host.after(this.#options.limits.openingMs, () => closeConnection(conn, late));
    void refuseStreams(conn.incomingUnidirectionalStreams.getReader());
    const streams = conn.incomingBidirectionalStreams.getReader();
    const first = await streams.read().finally(cancel);
    if (first.value === undefined) return;
    void refuseStreams(streams);
    await carrySession(host, {
      transport: "quic",
      ...client,
      next: readWithOneBuffer(first.value.readable),
      writable: first.value.writable,
      close: (reason) => closeConnection(conn, reason),
    });
  }
}

function closeConnection(conn: Deno.QuicConn, reason: EndReason | undefined): void {
  conn.close({
    closeCode: reason === undefined ? 0 : errorCodes[reason.code].close,
    reason: reason?.code ?? "",
  });
}

function once(run: () => void): () => void {
  let done = false;
  return () => {
    if (!done) run();
    done = true;
  };
}

export const defaultQuicLimits: QuicLimits = {
  handshakes: 2_048,
  handshakeMs: 3_000,
  calmHandshakes: 64,
  strangers: 1_000,
  openingMs: limits.challengeMs / 2,
};
