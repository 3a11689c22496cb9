/**
 * The load over QUIC. Arguments: port, certificate file, token, first agent. Returns every line
 * `receivers messages` with a result.
 */
import { linesOf } from "./lines.ts";
import { answerLines, type LoadStream } from "./load.ts";
import { connectQuic } from "./quic.ts";

const [port = "", certFile = "", token = "", first = "0"] = Deno.args;
const cert = await Deno.readTextFile(certFile);
const origin = `quic://localhost:${port}`;

const connect = (): Promise<LoadStream> => connectQuic(Number(port), cert);

await answerLines(linesOf(Deno.stdin.readable), { origin, connect }, token, Number(first));
Deno.exit(0);
