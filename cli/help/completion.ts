/** Completion for shells, from the table of commands: words of commands, then their flags. */
import { type Command, type FlagSpec, globalFlags } from "../command.ts";

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = typeof shells[number];

export function completionScript(shell: Shell, commands: readonly Command[]): string {
  switch (shell) {
    case "bash":
      return bash(commands);
    case "zsh":
      // zsh runs bash's way of completion by itself, on top of its own, which a new user's zsh has
      // not loaded.
      return `(( $+functions[compdef] )) || { autoload -U compinit && compinit -i; }
autoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`;
    case "fish":
      return fish(commands);
  }
}

/**
 * Words that may follow others: `"" → first words`, `channel → its commands`, `channel create →
 * flags`.
 */
function followers(commands: readonly Command[]): Map<string, string[]> {
  const map = new Map<string, string[]>();
  const add = (before: string, word: string): void => {
    const words = map.get(before) ?? [];
    if (!words.includes(word)) map.set(before, [...words, word]);
  };
  for (const { path, flags = [] } of commands) {
    const words = path.split(" ");
    words.forEach((word, index) => add(words.slice(0, index).join(" "), word));
    for (const flag of flags) add(path, `--${flag.name}`);
  }
  return map;
}

function bash(commands: readonly Command[]): string {
  const cases = Array.from(
    followers(commands),
    ([before, words]) => `    "${before}") words="${words.join(" ")}" ;;`,
  );
  return `_static() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="" word words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    [[ "$word" == -* ]] && continue
    case "\${before:+$before }$word" in
      ${
    commands.flatMap(({ path }) => [path, path.split(" ")[0] ?? ""]).filter(unique).map((p) =>
      `"${p}"`
    ).join(" | ")
  })
        before="\${before:+$before }$word" ;;
    esac
  done
  case "$before" in
${cases.join("\n")}
  esac
  [[ "$current" == -* || "$words" == "" ]] && words="$words ${
    globalFlags.map(({ name }) => `--${name}`).join(" ")
  }"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _static static
`;
}

function fish(commands: readonly Command[]): string {
  const lines = ["complete -c static -f"];
  for (const [before, words] of followers(commands)) {
    const condition = before === ""
      ? "__fish_use_subcommand"
      : before.split(" ").map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ");
    const plain = words.filter((word) => !word.startsWith("--"));
    if (plain.length > 0) {
      lines.push(`complete -c static -n "${condition}" -a "${plain.join(" ")}"`);
    }
  }
  for (const { path, flags = [] } of commands) {
    const condition = path.split(" ").map((word) => `__fish_seen_subcommand_from ${word}`).join(
      "; and ",
    );
    for (const flag of flags) lines.push(fishFlag(flag, ` -n "${condition}"`));
  }
  for (const flag of globalFlags) lines.push(fishFlag(flag, ""));
  return `${lines.join("\n")}\n`;
}

function fishFlag({ name, value, summary }: FlagSpec, condition: string): string {
  const quoted = summary.replaceAll("'", "\\'");
  return `complete -c static${condition} -l ${name}${
    value === undefined ? "" : " -r"
  } -d '${quoted}'`;
}

function unique(word: string, index: number, words: readonly string[]): boolean {
  return words.indexOf(word) === index;
}
