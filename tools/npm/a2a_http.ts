/**
 * An A2A agent behind the A2A package's own HTTP transport: `a2a_http.ts MODULE`, a module with
 * `cardOf` and `createAgent`. Prints its address, and serves until its input ends.
 */
import { agentCardHandler, jsonRpcHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import express from "express";
import process from "node:process";
import { InMemoryTaskStore } from "@a2a-js/sdk/server";

const { cardOf, createAgent } = await import(process.argv[2] ?? "");
const app = express();
const server = app.listen(0, "127.0.0.1", () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  const card = cardOf({
    url: `${url}/rpc`,
    protocolBinding: "JSONRPC",
    tenant: "",
    protocolVersion: "1.0",
  });
  const requestHandler = createAgent(card, new InMemoryTaskStore());
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
  app.use("/rpc", jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  console.log(url);
});
process.stdin.once("end", () => process.exit(0)).resume();
