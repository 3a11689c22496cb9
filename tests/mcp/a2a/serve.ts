/**
 * The agent in a channel, as a program of its own: `serve.ts CHANNEL TASKS`, connected as its
 * environment says.
 */
import { StaticClient } from "../../../sdk/mod.ts";
import { channelInterface, serveA2A } from "../../../sdk/a2a/mod.ts";
import { cardOf, createAgent } from "./agent.ts";
import { FileTaskStore } from "./file_store.ts";

const [name = "", tasks = "", dataDir = ""] = Deno.args;
const client = await StaticClient.connect({ dataDir, identity: "worker", cover: "off" });
const channel = await client.channel(name);
const card = cardOf(channelInterface({ channel: name, agentId: client.agentId }));
serveA2A(channel, createAgent(card, new FileTaskStore(tasks)));
console.log("serving");
