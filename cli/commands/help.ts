/** `help`: the same as `--help`, for those who ask for it as a command. */
import type { Command } from "../command.ts";
import { badInput } from "../failure.ts";
import { commandHelp, groupHelp, overview } from "../help/help.ts";
import { withBlanks } from "../wrapping.ts";

export function helpCommand(all: () => readonly Command[]): Command {
  return {
    path: "help",
    summary: "show help for a command, with examples",
    arguments: [{
      name: "COMMAND",
      summary: "name of the command, as in: channel send",
      optional: true,
      rest: true,
    }],
    examples: [{ command: "help channel send", what: "" }],
    run: async ({ given, platform: { program }, output }) => {
      const words = [given.value("COMMAND") ?? "", ...given.rest].join(" ").trim();
      const command = all().find(({ path }) => path === words);
      const isGroup = all().some(({ path }) => path.startsWith(`${words} `));
      if (words !== "" && command === undefined && !isGroup) {
        throw badInput(`"${words}" is not a command`, "See: {} help");
      }
      const lines = command !== undefined
        ? commandHelp(command, program)
        : words === ""
        ? overview(all(), program)
        : groupHelp(all(), words, program);
      await output.text({ help: lines.map(withBlanks).join("\n") }, lines);
    },
  };
}
