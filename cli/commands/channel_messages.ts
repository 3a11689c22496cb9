/** Talking: `channel send`, `channel listen`. */
import type { Channel, ChannelEvent, Envelope, MissedEvents, ReceiptState } from "../../sdk/mod.ts";
import { agentInWords, limits } from "../../proto/mod.ts";
import { agentFlag, withAgent } from "../agent.ts";
import { payloadFields, payloadLines, senderFields } from "../texts/channel_texts.ts";
import type { Command, Context } from "../command.ts";
import { badInput, Failure, interrupted } from "../failure.ts";
import { usesHost } from "../agent_access.ts";
import { clockTime, isoTime } from "../texts/amounts.ts";
import { parseCount } from "../arguments/values.ts";
import { watchConnection } from "../channel_warnings.ts";
import { findChannel, nameArgument } from "./channel.ts";

/** Messages that may be under way at once. */
const window = 32;

export const sendMessage: Command = {
  path: "channel send",
  summary: "send a message to all members of a channel",
  details: [
    "Without TEXT it sends standard input as one message, without the final line break. At a terminal, and with --lines, it",
    "sends each line that is not empty as a message. With --receipt it waits until the member says what became of the",
    "message: delivered, held or refused.",
  ],
  arguments: [nameArgument, { name: "TEXT", summary: "the message", optional: true }],
  flags: [{
    name: "lines",
    summary: "send each line of the input as a message, as soon as it is read",
  }, {
    name: "to",
    value: "AGENT",
    summary: "for this member: its agent id, or the name that you gave it",
  }, {
    name: "receipt",
    summary: "wait until the member of --to has it, or a rule keeps it from that",
  }, agentFlag],
  examples: [
    { command: "echo hi | {} channel send acme/ops/deploy", what: "" },
    {
      command: "tail -f app.log | {} channel send acme/ops/deploy --lines",
      what: "each line as soon as it is written",
    },
    { command: 'channel send acme/ops/deploy "build 7 is out"', what: "" },
    {
      command: 'channel send acme/ops/deploy "build 7?" --to "Alice\'s laptop" --receipt',
      what: "wait until Alice's agent has read it",
    },
  ],
  run: (context) =>
    withAgent(context, async (client) => {
      const { given, platform, output } = context;
      const channel = await findChannel(context, client);
      const [text, to] = [given.value("TEXT"), given.value("to")];
      const isAsking = given.has("receipt");
      if (isAsking && to === undefined) {
        throw badInput("--receipt asks one member", "Name it with --to AGENT");
      }
      if (to !== undefined && given.has("lines")) {
        throw badInput("--lines sends to all members", "Leave out --lines or --to");
      }
      if (
        text === undefined && to === undefined && (given.has("lines") || platform.stdin.isTerminal)
      ) {
        return await sendLines(context, channel);
      }
      const payload = text ?? await readAll(context);
      const receipts = channel.events({ signal: platform.interrupted });
      const sending = channel.send(payload, { to, ...(isAsking && { receipt: "delivered" }) });
      const sent = await output.progress("sending", sending);
      const { id } = sent;
      const receipt = sent.receipts === "asked"
        ? await output.progress("waiting for the receipt", heardOf(channel, id, receipts))
        : sent.receipts;
      await receipts.return?.();
      // A person sees that it is done; a script has the exit code.
      const told = platform.stdout.isTerminal
        ? [`${output.paint("green", "✓")} Sent to ${channel.name}`]
        : [];
      const lines = receipt === undefined ? told : [...told, receipt];
      await output.result({ channel: channel.name, id, ...(receipt && { receipt }) }, lines);
      if (isAsking && receipt === undefined) throw interrupted();
    }),
};

/** The state of the message at its only addressee. Undefined when the user has interrupted. */
async function heardOf(
  channel: Channel,
  id: string,
  events: AsyncIterable<ChannelEvent | MissedEvents>,
): Promise<ReceiptState | undefined> {
  const state = async (): Promise<ReceiptState | undefined> =>
    (await channel.receiptsOf(id))[0]?.state;
  const known = await state();
  if (known !== undefined) return known;
  for await (const event of events) {
    if (event.type !== "receipt" && event.type !== "missed") continue;
    const heard = await state();
    if (heard !== undefined) return heard;
  }
  return undefined;
}

export const listen: Command = {
  path: "channel listen",
  summary: "print the messages of a channel, one per line, until Ctrl-C",
  details: [
    "Starts with the first unread message. In a pipe it prints only messages; at a terminal also time and sender; with",
    "--json one object per line. While it listens, agents holding an invite from this agent are admitted.",
  ],
  arguments: [nameArgument],
  flags: [
    { name: "count", value: "N", summary: "stop after N messages" },
    {
      name: "as",
      value: "READER",
      summary: "read as a named reader, with its own position: it gets every message",
    },
    { name: "tail", summary: "print only new messages; acknowledge nothing" },
    agentFlag,
  ],
  examples: [
    { command: "channel listen acme/ops/deploy", what: "" },
    { command: "{} channel listen acme/ops/deploy --json | jq .text", what: "" },
    { command: "channel listen acme/ops/deploy --count 1", what: "wait for one message" },
  ],
  run: (context) => {
    const count = context.given.value("count");
    const wanted = count === undefined ? Infinity : parseCount("count", count);
    return withAgent(context, async (manager) => {
      const { platform, output } = context;
      const channel = await findChannel(context, manager);
      if (platform.stdout.isTerminal) {
        await output.note(output.onStderr("dim", `Listening on ${channel.name}; Ctrl-C ends`));
      }
      await using _ = watchConnection(context, channel);
      await printMessages(context, channel, wanted);
    });
  },
};

async function printMessages(context: Context, channel: Channel, wanted: number): Promise<void> {
  const { given, platform } = context;
  const [as, tail] = [given.value("as"), given.has("tail")];
  if ((as !== undefined || tail) && !usesHost(context)) {
    throw badInput("--as and --tail need a host, but STATIC_HOST is off", "Unset STATIC_HOST");
  }
  const reader = channel.envelopes({ signal: platform.interrupted, as, ...(tail && { tail }) });
  for (let printed = 0; printed < wanted; printed++) {
    // Asking for the next message acknowledges the one before, so what was printed does not come
    // again.
    const { done, value } = await reader.next();
    if (done === true) return;
    await printMessage(context, channel, value);
  }
  await reader.finish();
}

export async function printMessage(
  { platform, output }: Context,
  channel: Channel,
  message: Envelope,
): Promise<void> {
  const { bytes: payload, sender, id, timeMs } = message;
  if (output.json) {
    const [from, time] = [senderFields(sender), isoTime(timeMs)];
    return await output.result({
      channel: channel.name,
      id,
      sender: from,
      time,
      ...payloadFields(payload),
    }, []);
  }
  if (platform.stdout.isTerminal) {
    const id = sender.knownAs === undefined ? `${sender.agentId}  ` : "";
    const head = `${output.paint("dim", clockTime(timeMs))} ${
      output.paint("cyan", id + agentInWords(sender))
    }`;
    return await output.result({}, [`${head}  ${payloadLines(payload)}`]);
  }
  await platform.stdout.write(payload);
  await platform.stdout.write("\n");
}

async function sendLines(context: Context, channel: Channel): Promise<void> {
  const { platform, output } = context;
  if (platform.stdin.isTerminal) {
    await output.note(output.onStderr("dim", "Each line is a message; Ctrl-D ends"));
  }
  const underWay: Promise<unknown>[] = [];
  for (let messages = 0;;) {
    const line = await platform.stdin.readLine().catch(async (error) => {
      await Promise.allSettled(underWay);
      throw error;
    });
    if (line === undefined) {
      await output.progress("sending", Promise.all(underWay));
      if (platform.interrupted.aborted) throw interrupted();
      return await output.result({ channel: channel.name, messages }, []);
    }
    if (line === "") continue;
    messages++;
    const sending = channel.send(line);
    // A failure is met below; until then it is nobody's surprise.
    sending.catch(() => {});
    underWay.push(sending);
    if (underWay.length > window) await underWay.shift();
  }
}

/** All of the input, as long as it can be one message. */
async function readAll({ platform }: Context): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (
    let chunk = await platform.stdin.read();
    chunk !== undefined;
    chunk = await platform.stdin.read()
  ) {
    length += chunk.length;
    // One more for the line break that is left out.
    if (length > limits.payloadBytes + 2) {
      const text = `A message has at most ${limits.payloadBytes} bytes, and the input is longer`;
      throw new Failure("payload_too_large", text, { advice: "Send it in parts, or with --lines" });
    }
    chunks.push(chunk);
  }
  if (platform.interrupted.aborted) throw interrupted();
  const all = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    all.set(chunk, offset);
    offset += chunk.length;
  }
  if (length === 0) {
    throw new Failure("invalid_request", "There is nothing to send: the input is empty");
  }
  return all.subarray(0, length - (all.at(-1) === 0x0a ? (all.at(-2) === 0x0d ? 2 : 1) : 0));
}
