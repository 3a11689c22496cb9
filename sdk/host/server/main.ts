/**
 * The driver as a program: for one program over standard input and output, or with `socket` as a
 * host for many.
 */
import process from "node:process";
import { isSocketError } from "../../../proto/mod.ts";

/** How long to wait for a relay that does not answer any more. */
const graceMs = 5_000;

/**
 * An error that nobody caught. One of a socket is a defect, because every socket has an owner, but
 * one that a program that is killed can cause for all others: it is told, and the agent goes on.
 * Any other ends the process, and the next call starts another one.
 */
function caught(error: unknown): void {
  console.error(
    isSocketError(error) ? "unowned_socket_error" : "An error that nobody caught ends the process:",
    error,
  );
  if (!isSocketError(error)) process.exit(1);
}

process.on("uncaughtException", caught);
process.on("unhandledRejection", caught);
if (process.argv[2] === "socket") {
  const { serveSocket } = await import("./socket.ts");
  await serveSocket();
} else {
  const { serveStdio } = await import("./stdio.ts");
  const ending = serveStdio();
  process.stdin.once("end", () => void setTimeout(() => process.exit(1), graceMs).unref());
  await ending;
}
process.exit(0);
