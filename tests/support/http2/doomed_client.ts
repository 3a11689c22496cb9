/**
 * Opens endless downloads and unfinished uploads, says so, and waits to be killed. Arguments: port,
 * certificate file.
 */
import { RawClient } from "./raw_client.ts";
import { block, data, getFields, postBlock } from "./wire.ts";

const [port = "", certFile = ""] = Deno.args;
const server = { port: Number(port), certificate: { cert: await Deno.readTextFile(certFile) } };
const path = (to: string): Uint8Array =>
  block(...getFields.map(([name, value]) => [name, name === ":path" ? to : value] as const));

for (let i = 0; i < 10; i++) {
  const client = await RawClient.open(server);
  await client.openStreams([1, 3, 5, 7, 9], path("/endless"));
  await client.openStreams([11, 13, 15], path("/hang"));
  await client.openStreams([17, 19], postBlock);
  await client.send(data(17, new Uint8Array(1_000)));
  void client.drain();
}
console.log("ready");
