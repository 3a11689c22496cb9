/**
 * The one place where sockets of the file system are made and taken. Each has an owner for its
 * errors from its first moment to its last, and so has a server: the program at the other end may
 * be killed at any time, and an error that nobody listens for ends the process.
 */
import { connect, createServer, type Server, type Socket } from "node:net";

/** Rejects when nobody listens there, or does not let this program in. */
export function connectPath(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = own(connect({ path }));
    socket.once("error", reject);
    socket.once("connect", () => resolve(socket));
  });
}

/** Resolves when it listens. */
export function listenAtPath(path: string, came: (socket: Socket) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => came(own(socket)));
    // Once it listens, it tells so of a program that it could not take; the next one is taken as
    // ever.
    server.on("error", reject);
    server.listen(path, () => resolve(server));
  });
}

/** "close" always follows and says all that matters. */
function own(socket: Socket): Socket {
  return socket.on("error", () => socket.destroy());
}
