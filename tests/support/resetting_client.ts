/**
 * A client that opens connections and resets all of them (`SO_LINGER` of 0) without a byte. As a
 * program: port and count.
 */
import { connect, type Socket } from "node:net";

export async function openAndReset(
  { port, count }: { readonly port: number; readonly count: number },
): Promise<void> {
  const sockets = await Promise.all(Array.from({ length: count }, () => open(port)));
  await Promise.all(sockets.map(reset));
}

/** Resolves also when the connection is refused or closed again: that is the server's right. */
function open(port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.on("error", () => resolve(socket));
    socket.once("connect", () => resolve(socket));
  });
}

function reset(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) return resolve();
    socket.once("close", () => resolve());
    socket.resetAndDestroy();
  });
}

if (import.meta.main) {
  const [port, count] = Deno.args.map(Number);
  if (port === undefined || count === undefined) throw new TypeError("Give a port and a count");
  await openAndReset({ port, count });
}
