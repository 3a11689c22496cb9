/**
 * The cost of an idle session beside a bare QUIC connection with one stream: memory of the server
 * for each of them. Arguments: port, certificate file, number, and a token for sessions or nothing
 * for bare connections. Prints `ready`, then waits.
 */
import { LoadClient } from "./load.ts";
import { connectQuic } from "./quic.ts";
import { linesOf } from "./lines.ts";

const [port = "", certFile = "", number = "", token] = Deno.args;
const cert = await Deno.readTextFile(certFile);
const connect = (): ReturnType<typeof connectQuic> => connectQuic(Number(port), cert);
const held: unknown[] = [];
for (let index = 0; index < Number(number); index++) {
  if (token === undefined) {
    const stream = await connect();
    await stream.write(new Uint8Array(4_096));
    stream.read(() => {}).catch(() => {});
    held.push(stream);
  } else {
    const client = new LoadClient({ origin: `quic://localhost:${port}`, connect }, index);
    await client.open(token);
    held.push(client);
  }
}
console.log("ready");
for await (const _ of linesOf(Deno.stdin.readable)) break;
Deno.exit(held.length > 0 ? 0 : 1);
