/**
 * Errors of the system's calls on sockets, which a peer or the network can cause at any time in any
 * program that has sockets.
 */

/** Of calls on sockets and pipes alone. */
const socketCodes = new Set([
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETRESET",
  "ENETUNREACH",
  "ENOTCONN",
  "EPIPE",
  "ESHUTDOWN",
  "ETIMEDOUT",
]);

/** Calls that files do not have, for codes that they share with sockets. */
const socketCalls = new Set([
  "accept",
  "bind",
  "connect",
  "getpeername",
  "getsockname",
  "listen",
  "shutdown",
]);
const sharedCodes = new Set(["EBADF", "EINVAL", "EIO"]);

/** Deno's own errors of connections, which do not all have a code. */
const denoErrors = new Set([
  "BrokenPipe",
  "ConnectionAborted",
  "ConnectionReset",
  "Http",
  "NotConnected",
]);

/** Also of an error whose cause is one. */
export function isSocketError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (denoErrors.has(error.name) || isSocketError(error.cause)) return true;
  const code = String(Reflect.get(error, "code"));
  return socketCodes.has(code) ||
    (sharedCodes.has(code) && socketCalls.has(String(Reflect.get(error, "syscall"))));
}
