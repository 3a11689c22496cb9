/** The reference in `docs/cli.md`: what `--help` says, command by command. */
import type { Command } from "../command.ts";
import { withBlanks } from "../wrapping.ts";
import { commandHelp, overview } from "./help.ts";

const program = "static";

export function renderReference(commands: readonly Command[]): string {
  const sections = commands.map((command) => section(command.path, commandHelp(command, program)));
  return [section("static", overview(commands, program)), ...sections].join("\n");
}

function section(title: string, lines: readonly string[]): string {
  return ["## " + title, "", "```text", ...lines.map(withBlanks), "```", ""].join("\n");
}
