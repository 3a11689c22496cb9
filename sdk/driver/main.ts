/** The driver as a program: for one program over standard input and output, or with `socket` as a host for many. */
import process from "node:process";

/** For a relay that does not answer any more. */
const graceMs = 5_000;

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
