import { assertEquals, assertThrows } from "@std/assert";
import { parseArguments } from "./parse_arguments.ts";
import type { Command } from "../command.ts";
import { globalFlags } from "../command.ts";
import { commands } from "../command_table.ts";
import { Failure } from "../failure.ts";

const parse = (...argv: string[]): ReturnType<typeof parseArguments> =>
  parseArguments(argv, commands);

function refusal(...argv: string[]): Failure {
  return assertThrows(() => parse(...argv), Failure);
}

Deno.test("parseArguments() takes flags of every command anywhere, and a command's own after its words", () => {
  const { command, given, exposed } = parse(
    "--json",
    "channel",
    "join",
    "a/b/c",
    "--timeout=5s",
    "--agent",
    "bob",
    "inv_x",
  );
  assertEquals(command?.path, "channel join");
  assertEquals(
    ["NAME", "TOKEN", "timeout", "agent"].map((name) => given.value(name)),
    ["a/b/c", "inv_x", "5s", "bob"],
  );
  assertEquals(exposed, ["TOKEN"]);
});

Deno.test("parseArguments() takes everything after -- as it is, and a flag's value whatever it looks like", () => {
  assertEquals(
    parse("channel", "send", "a/b/c", "--", "--not-a-flag").given.value("TEXT"),
    "--not-a-flag",
  );
  assertEquals(parse("keys", "create", "--name", "--odd").given.value("name"), "--odd");
});

Deno.test("parseArguments() takes an id for one, also when it begins with a dash", () => {
  for (const id of ["-fDs6WcRQRylLnm2InxlAQ", "--Ds6WcRQRylLnm2InxlAQ"]) {
    assertEquals(parse("invites", "revoke", id).given.value("ID"), id);
  }
  const held = "-2jgHb33tOSr7ekknVta3H.5K7M0UdixT0E_QNO1PU0Qg";
  assertEquals(parse("mcp", "held", "release", held).given.value("ID"), held);
  const flags = [...globalFlags, ...commands.flatMap((command) => command.flags ?? [])];
  assertEquals(flags.filter(({ name }) => name.length > 19), [], "no flag looks like an id");
});

Deno.test("parseArguments() refuses what is not on the list and suggests what was meant", () => {
  const cases: readonly [string[], string | undefined][] = [
    [["sigup"], 'Did you mean "signup"?'],
    [["chanel"], 'Did you mean "channel"?'],
    [["channel", "crate", "a/b/c"], 'Did you mean "channel create"?'],
    [["keys", "create", "--nmae", "x"], "Did you mean --name?"],
    [["usage", "--jsno"], "Did you mean --json?"],
    [["frobnicate"], "See: {} --help"],
    [["usage", "extra"], "See: {} usage --help"],
    [["channel", "create"], "See: {} channel create --help"],
    [["keys", "create", "--name"], undefined],
    [["keys", "create", "--name="], undefined],
    [["keys", "create", "--name", "a", "--name", "b"], undefined],
    [["usage", "--json=yes"], undefined],
  ];
  for (const [argv, advice] of cases) {
    const failure = refusal(...argv);
    assertEquals([failure.exit, failure.advice], ["usage", advice], argv.join(" "));
  }
});

Deno.test("parseArguments() asks for no argument when help is wanted", () => {
  assertEquals(parse("channel", "create", "--help").command?.path, "channel create");
  assertEquals(parse("channel", "create", "-h").given.has("help"), true);
});

Deno.test("a group without a word is no command, and neither is nothing", () => {
  const none = parse();
  assertEquals([none.command, none.words.length], [undefined, 0]);
  assertEquals(parse("keys").words, ["keys"]);
});

Deno.test("every command has a summary, an example and names that nothing else has", () => {
  const paths = commands.map(({ path }) => path);
  assertEquals(new Set(paths).size, paths.length);
  for (const command of commands) checkCommand(command);
});

function checkCommand(
  { path, summary, examples, arguments: args = [], flags = [] }: Command,
): void {
  assertEquals(summary.length > 0 && examples.length > 0, true, path);
  const names = [...args, ...flags].map(({ name }) => name);
  assertEquals(new Set(names).size, names.length, path);
  const firstOptional = args.findIndex(({ optional }) => optional === true);
  assertEquals(
    firstOptional < 0 || args.slice(firstOptional).every(({ optional }) => optional === true),
    true,
    path,
  );
}
