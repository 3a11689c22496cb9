/** Decisions of a person about a model: `mcp policy`, `mcp held`, `mcp held release`, `mcp held drop`. */
import { parseAgentId } from "../../proto/mod.ts";
import { agentFlag } from "../agent.ts";
import type { Command, Context } from "../command.ts";
import { badInput, Failure } from "../failure.ts";
import { heldId, HeldMessages } from "../mcp/held_messages.ts";
import { modelFolder, others, parseRule, readPolicy, rules, writeRule } from "../mcp/policy.ts";
import { printable, table } from "../output.ts";
import { isoTime } from "../texts/amounts.ts";
import { payloadFields, payloadLines } from "../texts/channel_texts.ts";

const idArgument = { name: "ID", summary: "of the message, as mcp held shows it" };

export const mcpPolicy: Command = {
  path: "mcp policy",
  summary: "decide whose messages reach the model: accept, hold or refuse",
  details: [
    "Held messages wait until you release them. SENDER is an agent id, as channel members shows it, or * for all without a",
    "rule of their own. Without arguments the rules are shown. A change counts at once, for every session.",
  ],
  arguments: [
    { name: "SENDER", summary: "an agent id, or *", optional: true },
    { name: "RULE", summary: rules.join(", "), optional: true },
  ],
  flags: [agentFlag],
  examples: [{ command: "mcp policy '*' hold", what: "nothing reaches the model that you have not seen" }],
  run: async (context) => {
    const { given, output } = context;
    const [sender, text] = [given.value("SENDER"), given.value("RULE")];
    if (sender !== undefined) {
      const rule = parseRule(text);
      if (rule === undefined) throw badInput(`"${text ?? ""}" is not a rule`, `Use one of ${rules.join(", ")}`);
      await writeRule(context, sender === others ? sender : parseAgentId(sender), rule);
    }
    const policy = await readPolicy(context);
    const rows = Object.entries(policy).map(([each, rule]) => [each, rule]);
    const lines = rows.length === 0
      ? ["There are no rules: every message reaches the model"]
      : table([["SENDER", "RULE"], ...rows]);
    await output.result({ policy }, lines);
  },
};

export const listHeld: Command = {
  path: "mcp held",
  summary: "show the messages that are held from the model",
  flags: [agentFlag],
  examples: [{ command: "mcp held", what: "" }],
  run: async (context) => {
    const held = (await heldOf(context).list()).map(({ channel, message }) => ({ channel, message }));
    const shown = held.map(({ channel, message, message: { id, sender, timeMs, bytes } }) => ({
      id: heldId(message),
      message_id: id,
      channel,
      sender: { agent_id: sender.agentId, identity: sender.identity },
      time: isoTime(timeMs),
      ...payloadFields(bytes),
    }));
    const lines = held.flatMap(({ channel, message, message: { sender, timeMs, bytes } }) => [
      `${heldId(message)}  ${channel}  ${isoTime(timeMs)}  ${printable(sender.identity)}`,
      `  ${payloadLines(bytes)}`,
    ]);
    await context.output.result({ held: shown }, lines.length === 0 ? ["Nothing is held"] : lines);
  },
};

export const releaseHeld: Command = {
  path: "mcp held release",
  summary: "hand a held message over to the model",
  arguments: [idArgument],
  flags: [agentFlag],
  examples: [{ command: "mcp held release 3q2-7wAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA", what: "" }],
  run: (context) => decide(context, (held, id) => held.release(id), "is released: the next wait has it"),
};

export const dropHeld: Command = {
  path: "mcp held drop",
  summary: "throw a held message away",
  arguments: [idArgument],
  flags: [agentFlag],
  examples: [{ command: "mcp held drop 3q2-7wAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA", what: "" }],
  run: (context) => decide(context, (held, id) => held.drop(id), "is thrown away"),
};

async function decide(
  context: Context,
  act: (held: HeldMessages, id: string) => Promise<boolean>,
  words: string,
): Promise<void> {
  const { output, given } = context;
  const id = given.value("ID") ?? "";
  if (!await act(heldOf(context), id)) {
    throw new Failure("not_found", `No message ${printable(id)} is held`, { advice: "See them with: {} mcp held" });
  }
  await output.result({ id, done: true }, [`${output.paint("green", "✓")} Message ${id} ${words}`]);
}

function heldOf(context: Context): HeldMessages {
  return new HeldMessages(context.platform.files, modelFolder(context));
}
