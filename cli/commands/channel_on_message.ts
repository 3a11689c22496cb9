/** `channel on-message`: a command for each message. Its exit code acknowledges. */
import { shown } from "../../proto/mod.ts";
import type { Channel, Envelope } from "../../sdk/mod.ts";
import { agentFlag, withAgent } from "../agent.ts";
import { agentName } from "../agent_record.ts";
import { parseCount } from "../arguments/values.ts";
import type { Command, Context } from "../command.ts";
import { usesHost } from "../agent_access.ts";
import { isoTime } from "../texts/amounts.ts";
import { encodeBase64, senderFields } from "../texts/channel_texts.ts";
import { watchConnection } from "../channel_warnings.ts";
import { findChannel, nameArgument } from "./channel.ts";

const [firstPauseMs, maxPauseMs] = [1_000, 60_000];

export const onMessage: Command = {
  path: "channel on-message",
  summary: "run a command for each message of a channel, until Ctrl-C",
  details: [
    "The command gets the message on standard input. Sender, time and properties are in variables:",
    "STATIC_CHANNEL, STATIC_MESSAGE_ID, STATIC_SENDER, STATIC_SENDER_IDENTITY, STATIC_TIME, STATIC_ATTEMPT and, where",
    "present, STATIC_SENDER_KNOWN_AS, STATIC_CONTENT_TYPE, STATIC_CONVERSATION, STATIC_REPLY_TO. Exit code 0 acknowledges",
    "the message. After any other code the command runs again, with growing pauses. After the last try the message is",
    "written to the folder for dead letters. Ctrl-C waits two seconds for running commands. A message whose command takes",
    "longer is delivered again at the next start.",
  ],
  arguments: [nameArgument, {
    name: "COMMAND",
    summary: "the program and its arguments, after --",
    rest: true,
  }],
  flags: [
    {
      name: "concurrency",
      value: "N",
      summary: "number of commands at once; 1 when not given, which keeps the order",
    },
    { name: "tries", value: "N", summary: "number of tries for each message; 5 when not given" },
    {
      name: "dead-letters",
      value: "FOLDER",
      summary: "folder for messages whose last try failed; in the agent's folder when not given",
    },
    { name: "as", value: "READER", summary: 'name of the reader; "on-message" when not given' },
    agentFlag,
  ],
  examples: [
    { command: "channel on-message acme/ops/deploy -- ./deploy.sh", what: "" },
    {
      command: "channel on-message acme/ops/deploy --concurrency 4 -- sh -c 'cat >> all.txt'",
      what: "",
    },
  ],
  run: (context) => {
    const { given } = context;
    const concurrency = parseCount("concurrency", given.value("concurrency") ?? "1");
    const tries = parseCount("tries", given.value("tries") ?? "5");
    return withAgent(context, async (agent) => {
      const channel = await findChannel(context, agent);
      await using _ = watchConnection(context, channel);
      await handleAll(context, channel, { concurrency, tries });
    });
  },
};

interface HandlingOptions {
  readonly concurrency: number;
  readonly tries: number;
}

async function handleAll(
  context: Context,
  channel: Channel,
  { concurrency, tries }: HandlingOptions,
): Promise<void> {
  const { platform: { interrupted: signal }, given } = context;
  const failure = new AbortController();
  const reader = channel.envelopes({
    signal: AbortSignal.any([signal, failure.signal]),
    ack: "manual",
    ...(usesHost(context) && { as: given.value("as") ?? "on-message" }),
  });
  const running = new Set<Promise<void>>();
  for (;;) {
    if (running.size >= concurrency) await Promise.race(running);
    const { done, value } = await reader.next();
    if (done === true) break;
    const handling: Promise<void> = handle(context, channel, value, tries)
      .catch((error) => failure.abort(error))
      .finally(() => running.delete(handling));
    running.add(handling);
  }
  await Promise.all(running);
  failure.signal.throwIfAborted();
}

/**
 * Throws only when the command cannot be started, or the dead letter cannot be written: then
 * nothing is acknowledged.
 */
async function handle(
  context: Context,
  channel: Channel,
  message: Envelope,
  tries: number,
): Promise<void> {
  const { platform, output, given } = context;
  const argv = [given.value("COMMAND") ?? "", ...given.rest];
  for (let attempt = 1;; attempt++) {
    const variables = { ...variablesOf(channel, message), STATIC_ATTEMPT: String(attempt) };
    const code = await platform.runCommand(argv, { input: message.bytes, variables });
    if (code === 0) return await message.ack();
    // The message comes again when this is started again.
    if (platform.interrupted.aborted) return;
    const how = code === undefined ? "was ended by a signal" : `ended with exit code ${code}`;
    if (attempt >= tries) {
      const path = await buryLetter(context, channel, message);
      await output.warn(
        `${argv[0]} ${how} for message ${message.id}, ${tries} times; the message is in ${path}`,
      );
      return await message.ack();
    }
    await output.warn(`${argv[0]} ${how} for message ${message.id}; trying again`);
    await pause(context, Math.min(maxPauseMs, firstPauseMs * 2 ** (attempt - 1)));
    if (platform.interrupted.aborted) return;
  }
}

function variablesOf({ name }: Channel, message: Envelope): Record<string, string> {
  const { id, sender, timeMs, contentType, conversation, replyTo } = message;
  const known = {
    STATIC_CHANNEL: name,
    STATIC_MESSAGE_ID: id,
    STATIC_SENDER: sender.agentId,
    STATIC_SENDER_IDENTITY: shown(sender.identity),
    STATIC_SENDER_KNOWN_AS: sender.knownAs,
    STATIC_TIME: isoTime(timeMs),
    STATIC_CONTENT_TYPE: contentType,
    STATIC_CONVERSATION: conversation && shown(conversation),
    STATIC_REPLY_TO: replyTo,
  };
  return Object.fromEntries(
    Object.entries(known).flatMap(([key, value]) => value === undefined ? [] : [[key, value]]),
  );
}

/** With everything that is known about it, for its owner alone. */
async function buryLetter(context: Context, channel: Channel, message: Envelope): Promise<string> {
  const { platform: { files, folders }, given } = context;
  const folder = given.value("dead-letters") ??
    files.join(folders.agents, agentName(context), "dead-letters");
  // Senders choose the ids of their messages: with its own name, none can put a letter in another's
  // place.
  const path = files.join(files.absolute(folder), `${message.sender.agentId}.${message.id}.json`);
  const { id, sender, timeMs, contentType, conversation, replyTo, headers } = message;
  const about = { id, channel: channel.name, sender: senderFields(sender), time: isoTime(timeMs) };
  const letter = {
    ...about,
    contentType,
    conversation,
    replyTo,
    headers,
    base64: encodeBase64(message.bytes),
  };
  await files.writePrivate(path, `${JSON.stringify(letter)}\n`);
  return path;
}

function pause({ platform: { deadline, interrupted } }: Context, ms: number): Promise<void> {
  const over = AbortSignal.any([deadline(ms), interrupted]);
  return new Promise((resolve) => {
    if (over.aborted) return resolve();
    over.addEventListener("abort", () => resolve(), { once: true });
  });
}
