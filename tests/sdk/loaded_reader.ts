/**
 * A member that reads a channel under load, answers now and then, and tells what was delivered and
 * how far it has acknowledged, a line each. Its orders are the argument, in JSON. Runs in Deno and,
 * as a bundle, in Node.
 */
import { Buffer } from "node:buffer";
import process from "node:process";
import { platform } from "#platform";
import { ChannelManager, type ConnectOptions } from "../../sdk/mod.ts";
import { connectAgent, storedChannel } from "../../sdk/testing/agents.ts";

export interface ReaderOrders {
  readonly options: ConnectOptions;
  readonly name: string;
  readonly invite: string;
}

export type ReaderLine =
  | { readonly what: "opened" }
  /** A message as it came. */
  | { readonly what: "delivered"; readonly sequence: number; readonly ciphertext: string }
  /** All messages up to this one were read. */
  | { readonly what: "acknowledged"; readonly sequence: number };

const lookMs = 50;
const answerEvery = 50;

function tell(line: ReaderLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

const { options, name, invite }: ReaderOrders = JSON.parse(process.argv[2] ?? "");
const agent = await connectAgent(options, platform);
tell({ what: "opened" });
agent.parts.session.onNotice(({ operation, body }) => {
  if (operation !== "DeliverMessage") return;
  const ciphertext = Buffer.from(body.ciphertext).toString("base64");
  tell({ what: "delivered", sequence: body.sequence, ciphertext });
});
const manager = await ChannelManager.over(agent);
const channel = await manager.joinOrOpen(name, invite);
let acknowledged = 0;
setInterval(async () => {
  const sequence = (await storedChannel(agent.parts.store, channel.id)).position?.sequence ?? 0;
  if (sequence <= acknowledged) return;
  acknowledged = sequence;
  tell({ what: "acknowledged", sequence });
}, lookMs);
let count = 0;
for await (const payload of channel.messages()) {
  const isAnswer = new TextDecoder().decode(payload).startsWith("answer");
  if (!isAnswer && ++count % answerEvery === 0) void channel.send(`answer ${count}`);
}
