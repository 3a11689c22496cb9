/**
 * Where a server of `node:http` or `node:https` gives its new sockets away, so that they are counted or refused before it works
 * for them. Each has an owner for its errors from its first moment: a client may reset its connection at any time, and an error
 * that nobody listens for ends the process.
 */
import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";

/** Stands before what the server does with a new socket. Returns how to hand one over to it. */
export function takeSockets(server: EventEmitter, came: (socket: Socket) => void): (socket: Socket) => void {
  const begins = server.listeners("connection");
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    // "close" always follows and says all that matters.
    socket.on("error", () => {});
    came(socket);
  });
  return (socket) => {
    for (const begin of begins) begin.call(server, socket);
  };
}
