/**
 * Plain HTTP. `Deno.serve` accepts without end and never gives up on a silent client, so connections are accepted here, one by
 * one, and handed to the same HTTP code of the runtime, which serves a single connection through a function that it keeps for
 * its own modules. That is private to the runtime, and takes an eighth of the processor time of `node:http` (16 µs a request
 * instead of 130). `node:http` has the same limits, and takes its place in a runtime without that function. A test serves with
 * both, and fails where the function is not found.
 */
import { createPlainServer, type ListenAddress, openOnEach } from "../../server/http2/mod.ts";
import { after, urlHost } from "../../server/mod.ts";
import { Connections, type Ending } from "./connections.ts";
import { acceptFailed, firstStage, type Listener, type ListenOptions } from "./listener.ts";
import { listenNode, timeoutsOf } from "./node_server.ts";

/** The part of `Deno.HttpServer` that is used here. */
interface ConnectionServer {
  readonly finished: Promise<void>;
  shutdown(): Promise<void>;
}

/** The part of a signal that the runtime uses. A real signal would report errors of its listener as uncaught. */
interface CloseSignal {
  addEventListener(type: "abort", listener: () => void): void;
}

type ServeConnection = (
  connection: Deno.TcpConn,
  signal: CloseSignal,
  handler: (request: Request) => Response | Promise<Response>,
  onError: (error: unknown) => Response,
  onListen: () => void,
) => ConnectionServer;

const tickMs = 1_000;
/** Errors of a client that left before it was accepted. Linux says `NotConnected` to the runtime, which asks for its address. */
const { ConnectionAborted, ConnectionReset, NotConnected } = Deno.errors;
const clientGone = [ConnectionAborted, ConnectionReset, NotConnected];
/** For an answer that says why. Somebody waits for the place of one that is displaced, and for its socket. */
const lastWordsMs: Readonly<Record<Ending, number>> = { late: 200, stop: 200, displaced: 0 };

export async function listenPlain(options: ListenOptions): Promise<Listener> {
  const serveConnection = findServeConnection();
  return serveConnection === undefined ? await listenSlowly(options) : await listenWith(serveConnection, options);
}

/** The same without anything that is private to the runtime. */
export async function listenSlowly(options: ListenOptions): Promise<Listener> {
  return await listenNode(createPlainServer(timeoutsOf(options.limits)), { ...options, scheme: "http" });
}

/** `serveConnection` serves one connection, as the runtime does. */
export async function listenWith(
  serveConnection: ServeConnection,
  { host, port, handler, limits }: ListenOptions,
): Promise<Listener> {
  const doors = await openOnEach({ hostname: host, port }, (address) => new Door(address));
  const connections = new Connections(limits, { nowMs: () => performance.now(), random: Math.random });
  const servers = new Set<ConnectionServer>();
  const { promise: failed, resolve: fail } = Promise.withResolvers<Error>();
  const serve = (connection: Deno.TcpConn): void => {
    let abort = (): void => {};
    const signal: CloseSignal = { addEventListener: (_, listener) => abort = listener };
    const { hostname } = connection.remoteAddr;
    const answers = new Answers();
    const closeNow = (): void => quietly(() => abort());
    const place = connections.open({ peer: hostname, local: connection.localAddr.hostname }, (why) => {
      answers.giveUp(why);
      if (answers.isOneLeaving) after(lastWordsMs[why], closeNow);
      else closeNow();
    });
    if (place === undefined) return connection.close();
    const answer = (request: Request): Promise<Response> => {
      const reach = place.begin(firstStage((name) => request.headers.get(name) ?? undefined));
      return answers.give((givenUp) =>
        // The runtime does not tell when the client has read it.
        Promise.try(handler, request, hostname, () => reach("work"), givenUp).finally(() => reach("over"))
      );
    };
    let server: ConnectionServer;
    try {
      server = serveConnection(connection, signal, answer, internalError, () => {});
    } catch (error) {
      place.closed();
      quietly(() => connection.close());
      // A client that left before it could be served, or the runtime: then nobody can be served.
      return isGone(error) || error instanceof Deno.errors.BadResource ? undefined : fail(acceptFailed(error));
    }
    servers.add(server);
    const closed = (): void => {
      servers.delete(server);
      place.closed();
    };
    server.finished.then(closed, closed);
  };
  const ticker = setInterval(() => connections.tick(), tickMs);
  const accepted = doors.map((door) => door.acceptAll(serve, fail));
  return {
    url: `http://${urlHost(host)}:${doors[0]?.port}`,
    connections: () => connections.size,
    failed,
    close: async (deadlineMs) => {
      for (const door of doors) door.close();
      await Promise.all(accepted);
      await endAll(servers, connections, deadlineMs);
      clearInterval(ticker);
    },
  };
}

/** All answers of one connection. The runtime closes none while it waits for an answer, so one is given first. */
class Answers {
  readonly #giveUps = new Set<(why: Ending) => void>();
  #lastAtMs = -Infinity;

  /** Resolves with this answer, or with another when there is no time for it. */
  give(work: (givenUp: Promise<unknown>) => Promise<Response>): Promise<Response> {
    const { promise: other, resolve } = Promise.withResolvers<Response>();
    const giveUp = (why: Ending): void => resolve(lastWords(why));
    this.#giveUps.add(giveUp);
    return Promise.race([work(other), other]).finally(() => {
      this.#giveUps.delete(giveUp);
      this.#lastAtMs = performance.now();
    });
  }

  giveUp(why: Ending): void {
    if (this.#giveUps.size > 0) this.#lastAtMs = performance.now();
    for (const giveUp of this.#giveUps) giveUp(why);
  }

  /** It may not have been sent yet. */
  get isOneLeaving(): boolean {
    return performance.now() - this.#lastAtMs < lastWordsMs.late;
  }
}

/**
 * Lets requests finish. Silent connections are ended before the others are asked to end, because after that they cannot be ended any
 * more; and for a moment before it answers that were just given may leave.
 */
async function endAll(
  servers: ReadonlySet<ConnectionServer>,
  connections: Connections,
  deadlineMs: number,
): Promise<void> {
  if (servers.size > 0) await pause(lastWordsMs.stop);
  connections.endIdle();
  const { promise: late, resolve: giveUp } = Promise.withResolvers<void>();
  const cancel = after(deadlineMs, () => {
    connections.endAll();
    after(lastWordsMs.stop, giveUp);
  });
  const ended = [...servers].flatMap((server) => [server.shutdown(), server.finished]);
  await Promise.race([Promise.allSettled(ended), late]);
  cancel();
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void after(ms, resolve));
}

/** A port of one address. */
class Door {
  readonly #listener: Deno.TcpListener;

  constructor(address: ListenAddress) {
    this.#listener = Deno.listen(address);
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  close(): void {
    this.#listener.close();
  }

  /** Resolves when it is closed, or has failed. */
  async acceptAll(serve: (connection: Deno.TcpConn) => void, fail: (error: Error) => void): Promise<void> {
    while (true) {
      let connection: Deno.TcpConn;
      try {
        connection = await this.#listener.accept();
      } catch (error) {
        if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) return; // closed here
        if (isGone(error)) continue;
        return fail(acceptFailed(error));
      }
      serve(connection);
    }
  }
}

function isGone(error: unknown): boolean {
  return clientGone.some((gone) => error instanceof gone);
}

/** The runtime may have closed it already. */
function quietly(close: () => void): void {
  try {
    close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

/** For a request that ends with its connection. */
function lastWords(why: Ending): Response {
  if (why === "late") return new Response(null, { status: 408 });
  return new Response(null, { status: 503, headers: { "retry-after": "1" } });
}

/** The app answers every error itself; this is what is left. */
function internalError(): Response {
  return new Response(null, { status: 500 });
}

/** `Deno.internal` names the object in which the runtime's own modules find each other. */
export function findServeConnection(): ServeConnection | undefined {
  const name: unknown = Reflect.get(Deno, "internal");
  const internals: unknown = typeof name === "symbol" ? Reflect.get(Deno, name) : undefined;
  if (typeof internals !== "object" || internals === null) return undefined;
  const found: unknown = Reflect.get(internals, "serveHttpOnConnection");
  return typeof found === "function" ? found as ServeConnection : undefined; // cast: nobody publishes its type
}
