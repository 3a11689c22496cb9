/** `completion`: a script that teaches a shell the commands. */
import type { Command } from "../command.ts";
import { completionScript, shells } from "../help/completion.ts";
import { badInput } from "../failure.ts";

/** Takes the table of all commands, of which it is one. */
export function completionCommand(commands: () => readonly Command[]): Command {
  return {
    path: "completion",
    summary: "print a script that completes commands and flags in bash, zsh or fish",
    arguments: [{ name: "SHELL", summary: shells.join(", ") }],
    examples: [
      { command: 'eval "$({} completion bash)"', what: "in ~/.bashrc" },
      { command: 'eval "$({} completion zsh)"', what: "in ~/.zshrc" },
      { command: "{} completion fish | source", what: "in config.fish" },
    ],
    run: async ({ given, output }) => {
      const shell = shells.find((each) => each === given.value("SHELL"));
      if (shell === undefined) {
        throw badInput(
          `"${given.value("SHELL")}" is not a supported shell`,
          `Use one of: ${shells.join(", ")}`,
        );
      }
      const script = completionScript(shell, commands());
      await output.result({ shell, script }, [script.trimEnd()]);
    },
  };
}
