/** The load over QUIC. Arguments: port, certificate file, token. Answers every line `receivers messages` with a result. */
import { linesOf } from "./lines.ts";
import { Load, type LoadStream } from "./load.ts";
import { connectQuic } from "./quic.ts";

const [port = "", certFile = "", token = ""] = Deno.args;
const cert = await Deno.readTextFile(certFile);
const origin = `quic://localhost:${port}`;

const connect = (): Promise<LoadStream> => connectQuic(Number(port), cert);

console.log("ready");
for await (const line of linesOf(Deno.stdin.readable)) {
  if (line === "end") break;
  const [receivers = 1, messages = 1] = line.split(" ").map(Number);
  const load = await Load.create({ origin, connect }, receivers, token);
  await load.run(Math.ceil(messages / 5));
  console.log("warm");
  console.log(JSON.stringify(await load.run(messages)));
  load.close();
}
Deno.exit(0);
