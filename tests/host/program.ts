/**
 * One of many programs, in a process of its own: connects through the host, says which it found,
 * and stays until its input ends.
 */
import { connectHost, hostPlatform } from "../../sdk/testing/host.ts";

const client = await connectHost(JSON.parse(Deno.args[0] ?? ""), hostPlatform);
console.log(client.agentId);
for await (const _ of Deno.stdin.readable);
await client.close();
