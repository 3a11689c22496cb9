/** The driver as a program: without arguments it serves one program over standard input and output. */
import process from "node:process";
import { serveStdio } from "./stdio.ts";

/** For a relay that does not answer any more. */
const graceMs = 5_000;

const ending = serveStdio();
process.stdin.once("end", () => void setTimeout(() => process.exit(1), graceMs).unref());
await ending;
process.exit(0);
