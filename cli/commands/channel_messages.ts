/** Talking: `channel send`, `channel listen`. */
import type { Channel, Envelope } from "../../sdk/mod.ts";
import { agentInWords, limits } from "../../proto/mod.ts";
import { agentFlag, withAgent } from "../agent.ts";
import { payloadFields, payloadLines, senderFields } from "../texts/channel_texts.ts";
import type { Command, Context } from "../command.ts";
import { badInput, Failure, interrupted } from "../failure.ts";
import { usesHost } from "../hosting.ts";
import { clockTime, isoTime } from "../texts/amounts.ts";
import { parseCount } from "../arguments/values.ts";
import { watchConnection } from "../watching.ts";
import { findChannel, nameArgument } from "./channel.ts";

/** Messages that may be under way at once. */
const window = 32;

export const sendMessage: Command = {
  path: "channel send",
  summary: "send a message to all members of a channel",
  details: [
    "Without TEXT it sends standard input as one message, without the final line break. At a terminal, and with --lines, it",
    "sends each line that is not empty as a message.",
  ],
  arguments: [nameArgument, { name: "TEXT", summary: "the message", optional: true }],
  flags: [{
    name: "lines",
    summary: "send each line of the input as a message, as soon as it is read",
  }, agentFlag],
  examples: [
    { command: "echo hi | {} channel send acme/ops/deploy", what: "" },
    {
      command: "tail -f app.log | {} channel send acme/ops/deploy --lines",
      what: "each line as soon as it is written",
    },
    { command: 'channel send acme/ops/deploy "build 7 is out"', what: "" },
  ],
  run: (context) =>
    withAgent(context, async (client) => {
      const { given, platform, output } = context;
      const channel = await findChannel(context, client);
      const text = given.value("TEXT");
      if (text === undefined && (given.has("lines") || platform.stdin.isTerminal)) {
        return await sendLines(context, channel);
      }
      const payload = text ?? await readAll(context);
      const { id } = await output.progress("sending", channel.send(payload));
      // A person sees that it is done; a script has the exit code.
      const told = platform.stdout.isTerminal
        ? [`${output.paint("green", "✓")} Sent to ${channel.name}`]
        : [];
      await output.result({ channel: channel.name, id }, told);
    }),
};

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
    // Its failure is met below; until then it is nobody's surprise.
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
