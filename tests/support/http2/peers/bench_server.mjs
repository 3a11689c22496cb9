/**
 * The benchmark's peer: connect-node on node:http2 over TLS 1.3, under Node. Prints its port, then a
 * line of statistics for every line on its input, as the server under test does.
 */
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { readFileSync } from "node:fs";
import { createSecureServer } from "node:http2";
import process from "node:process";
import { createInterface } from "node:readline";
import { Echo, echo } from "./echo.mjs";

const [cert, key] = process.argv.slice(2).map((path) => readFileSync(path, "utf8"));
const handler = connectNodeAdapter({ routes: (router) => void router.service(Echo, echo) });
const server = createSecureServer({ cert, key, minVersion: "TLSv1.3" }, handler);
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
createInterface({ input: process.stdin })
  .on("line", () => {
    const { user, system } = process.cpuUsage();
    console.log(JSON.stringify({ cpuUs: user + system, rss: process.memoryUsage.rss() }));
  })
  .on("close", () => process.exit(0));
