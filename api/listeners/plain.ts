/**
 * Plain HTTP: connections are accepted one by one, because `Deno.serve` accepts without end and
 * never gives up on a silent client.
 */
import { type ListenAddress, openOnEach } from "../../server/http2/mod.ts";
import { after, urlHost } from "../../server/mod.ts";
import { Connections } from "./connections.ts";
import { Http1Connection, isGone } from "./http1_connection.ts";
import { acceptFailed, type HttpListener, type ListenOptions } from "./listener.ts";

const tickMs = 1_000;

export async function listenPlain(
  { host, port, handler, limits, maxBodyBytes }: ListenOptions,
): Promise<HttpListener> {
  const doors = await openOnEach({ hostname: host, port }, (address) => new TcpPort(address));
  const connections = new Connections(limits, {
    nowMs: () => performance.now(),
    random: Math.random,
  });
  const open = new Map<Http1Connection, Promise<void>>();
  const { promise: failed, resolve: fail } = Promise.withResolvers<Error>();
  const serve = (socket: Deno.TcpConn): void => {
    const { hostname: peer } = socket.remoteAddr;
    const answer = (request: Request): Response | Promise<Response> =>
      handler(request, peer, () => {});
    const connection = new Http1Connection(socket, { answer, maxBodyBytes });
    const place = connections.open(
      { peer, local: socket.localAddr.hostname },
      (why) => connection.end(why),
    );
    if (place === undefined) return socket.close();
    const served = connection.serve(place).finally(() => {
      open.delete(connection);
      place.closed();
    });
    open.set(connection, served);
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
      const cancel = after(deadlineMs, () => connections.endAll());
      for (const connection of open.keys()) connection.stop();
      await Promise.all(open.values());
      cancel();
      clearInterval(ticker);
    },
  };
}

/** A port of one address. */
class TcpPort {
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
  async acceptAll(
    serve: (socket: Deno.TcpConn) => void,
    fail: (error: Error) => void,
  ): Promise<void> {
    while (true) {
      let socket: Deno.TcpConn;
      try {
        socket = await this.#listener.accept();
      } catch (error) {
        if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) {
          return; // closed here
        }
        // A client that left before it was accepted. Linux says `NotConnected` to the runtime,
        // which asks for its address.
        if (isGone(error)) continue;
        return fail(acceptFailed(error));
      }
      serve(socket);
    }
  }
}
