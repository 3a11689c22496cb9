/**
 * Decisions of a person about a model: `mcp policy`, `mcp held`, `mcp held release`, `mcp held
 * drop`.
 */
import { agentInWords, quoted, shown } from "../../proto/mod.ts";
import { agentFlag } from "../agent.ts";
import type { Command, Context } from "../command.ts";
import { badInput, Failure } from "../failure.ts";
import { heldId, HeldMessages, recognisedNow } from "../mcp/held_messages.ts";
import { modelFolder, parseRule, readPolicy, rules, senderOf, writeRule } from "../mcp/policy.ts";
import { table } from "../output.ts";
import { isoTime } from "../texts/amounts.ts";
import { payloadFields, payloadLines, senderFields } from "../texts/channel_texts.ts";
import { readTrust } from "../trust.ts";

const idArgument = { name: "ID", summary: "id of the message, as shown by mcp held" };

export const mcpPolicy: Command = {
  path: "mcp policy",
  summary: "show or set the rules for senders: accept, hold or refuse",
  details: [
    "Accepted messages reach the model. Held messages wait until you release them. Refused messages are dropped. SENDER is",
    "an agent id, your own name for an agent, @named for all agents that you have named, @acme.com for those that this domain",
    "attests, @own-account for those of your account, or * for all others. The most exact rule counts, in this order. A rule",
    "for a name is about the agent that has it now. Changes take effect at once.",
  ],
  arguments: [
    {
      name: "SENDER",
      summary: "an agent id, your name for one, @named, @DOMAIN, @own-account or *",
      optional: true,
    },
    { name: "RULE", summary: rules.join(", "), optional: true },
  ],
  flags: [agentFlag],
  examples: [
    { command: "mcp policy '*' hold", what: "the model sees only messages that you release" },
    { command: "mcp policy @named accept", what: "and those of agents that you have named" },
    { command: "mcp policy @acme.com accept", what: "and those of agents that acme.com attests" },
  ],
  run: async (context) => {
    const { given, output } = context;
    const [sender, text] = [given.value("SENDER"), given.value("RULE")];
    if (sender !== undefined) {
      const rule = parseRule(text);
      if (rule === undefined) {
        throw badInput(`"${text ?? ""}" is not a rule`, `Use one of ${rules.join(", ")}`);
      }
      await writeRule(context, await senderOf(context, sender), rule);
    }
    const policy = await readPolicy(context);
    const { names } = await readTrust(context);
    const rows = Object.entries(policy).map((
      [each, rule],
    ) => [each, rule, wordsFor(names.get(each))]);
    const lines = rows.length === 0
      ? ["There are no rules: messages reach the model, unless a session has another --policy"]
      : table([["SENDER", "RULE"], ...rows]);
    await output.result({ policy }, lines);
  },
};

export const listHeld: Command = {
  path: "mcp held",
  summary: "list the messages that are held back from the model",
  flags: [agentFlag],
  examples: [{ command: "mcp held", what: "" }],
  run: async (context) => {
    const trust = await readTrust(context);
    const nowMs = context.platform.nowMs();
    const held = (await heldOf(context).list()).map((
      { channel, message, message: { sender } },
    ) => ({
      channel,
      message: { ...message, sender: recognisedNow(sender, trust, nowMs) },
    }));
    const listed = held.map(({ channel, message, message: { id, sender, timeMs, bytes } }) => ({
      id: heldId(message),
      message_id: id,
      channel,
      sender: senderFields(sender),
      time: isoTime(timeMs),
      ...payloadFields(bytes),
    }));
    const lines = held.flatMap(({ channel, message, message: { sender, timeMs, bytes } }) => [
      `${heldId(message)}  ${channel}  ${isoTime(timeMs)}  ${agentInWords(sender)}`,
      `  ${payloadLines(bytes)}`,
    ]);
    await context.output.result({ held: listed }, lines.length === 0 ? ["Nothing is held"] : lines);
  },
};

export const releaseHeld: Command = {
  path: "mcp held release",
  summary: "pass a held message to the model",
  arguments: [idArgument],
  flags: [agentFlag],
  examples: [{
    command: "mcp held release 3q2-7wAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA",
    what: "",
  }],
  run: (context) =>
    decide(
      context,
      (held, id) => held.release(id),
      "is released: the next call of wait returns it",
    ),
};

export const dropHeld: Command = {
  path: "mcp held drop",
  summary: "delete a held message",
  arguments: [idArgument],
  flags: [agentFlag],
  examples: [{ command: "mcp held drop 3q2-7wAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA", what: "" }],
  run: (context) => decide(context, (held, id) => held.drop(id), "is deleted"),
};

async function decide(
  context: Context,
  act: (held: HeldMessages, id: string) => Promise<boolean>,
  words: string,
): Promise<void> {
  const { output, given } = context;
  const id = given.value("ID") ?? "";
  if (!await act(heldOf(context), id)) {
    throw new Failure("not_found", `No message ${shown(id)} is held`, {
      advice: "List the messages with: {} mcp held",
    });
  }
  await output.result({ id, done: true }, [`${output.paint("green", "✓")} Message ${id} ${words}`]);
}

function wordsFor(name: string | undefined): string {
  return name === undefined ? "" : quoted(name);
}

function heldOf(context: Context): HeldMessages {
  return new HeldMessages(context.platform.files, modelFolder(context));
}
