/** One agent's directory in Node: prints the next message of a channel, sends one, and lets go. */
import process from "node:process";
import { ChannelManager } from "static-sdk";

const [dataDir, name] = process.argv.slice(2);
const manager = await ChannelManager.connect({ dataDir, identity: "alice" });
const channel = await manager.channel(name);
console.log(new TextDecoder().decode(await channel.receive({ timeoutMs: 30_000 })));
await channel.send("from Node");
await manager.close();
