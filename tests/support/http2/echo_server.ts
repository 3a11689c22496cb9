/**
 * The server under test, in a process of its own, so that "the process lives" means something: the
 * echo service through the Connect adapter, and a few plain routes. Arguments: certificate file,
 * key file, budgets as JSON. Prints its port, then a line of statistics for every line on its
 * input; the end of the input ends it.
 */
import { createConnectRouter } from "@connectrpc/connect";
import process from "node:process";
import {
  connectCors,
  createConnectHandler,
  type Handler,
  serve,
  withCors,
} from "../../../server/http2/mod.ts";
import { Echo, echo } from "./peers/echo.mjs";

const [certFile = "", keyFile = "", budgets = "{}"] = Deno.args;
const text = new TextEncoder();
const chunk = new Uint8Array(16_384);

async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) yield await Promise.resolve(chunk);
}

const plain: Handler = async (request) => {
  switch (request.path) {
    case "/health":
      return {
        status: 200,
        headers: [["content-type", "application/json"]],
        body: text.encode('{"status":"ok"}'),
      };
    case "/sink": {
      let length = 0;
      for await (const part of request.body) length += part.length;
      return { status: 200, body: text.encode(String(length)) };
    }
    case "/endless":
      return { status: 200, body: endless() };
    case "/hang":
      return await new Promise((_, reject) => request.onAbort(reject));
    case "/throw":
      throw new Error("as asked");
    default:
      return { status: 404 };
  }
};

const faults: string[] = [];
const router = createConnectRouter();
router.service(Echo, echo);
const cors = connectCors((origin) => origin === "https://app.example", {
  exposedHeaders: ["x-echo"],
});
const server = await serve({
  cert: await Deno.readTextFile(certFile),
  key: await Deno.readTextFile(keyFile),
  hostname: "127.0.0.1",
  port: 0,
  handler: withCors(cors, createConnectHandler(router.handlers, plain)),
  // One address plays everybody here, so none of its requests is a stranger's and none of its
  // offences is remembered.
  standingOf: () => "member",
  budgets: {
    offenderMs: 0,
    socketsPerAddress: { burst: 1e6, perSecond: 1e6 },
    handshakes: { burst: 1e6, perSecond: 1e6 },
    ...JSON.parse(budgets),
  },
  onFault: (error) => faults.push(String(error)),
});

console.log(server.port);
const lines = Deno.stdin.readable.pipeThrough(new TextDecoderStream());
for await (const line of lines) {
  if (line.includes("shutdown")) break;
  const { user, system } = process.cpuUsage();
  console.log(
    JSON.stringify({
      ...server.stats(),
      rss: Deno.memoryUsage().rss,
      cpuUs: user + system,
      faults,
    }),
  );
}
await server.shutdown();
console.log("ended");
Deno.exit(0);
