/**
 * The description of a command: its words, arguments, help and function. Help, completion and docs
 * read it.
 */
import type { Output } from "./output.ts";
import type { CommandPlatform } from "./platform/platform.ts";

export interface FlagSpec {
  /** Without the dashes. */
  readonly name: string;
  /** Placeholder of its value in help; a flag without one is a switch. */
  readonly value?: string;
  readonly summary: string;
}

export interface ArgumentSpec {
  /** As it stands in help. */
  readonly name: string;
  readonly summary: string;
  readonly optional?: boolean;
  /** The flag's value is a secret, which on a command line other users of the machine can see. */
  readonly secret?: boolean;
  /** The last one: whatever follows it is taken too. */
  readonly rest?: boolean;
  /** Throws what is wrong with it, before anything is done or anybody asked. */
  readonly check?: (text: string) => void;
}

export interface Example {
  /** The command line after the program's name; a `{}` in it stands for the program's name. */
  readonly command: string;
  readonly what: string;
}

export interface Command {
  /** One word, or a group and a word. */
  readonly path: string;
  readonly summary: string;
  /** More lines for its own help. */
  readonly details?: readonly string[];
  readonly arguments?: readonly ArgumentSpec[];
  readonly flags?: readonly FlagSpec[];
  readonly examples: readonly Example[];
  readonly run: (context: Context) => Promise<void>;
}

/** The user's arguments and flags, checked against the command's list. */
export interface ParsedArguments {
  /** An argument or the value of a flag. */
  value(name: string): string | undefined;
  /** Whether a switch was given. */
  has(name: string): boolean;
  /** Words after the last argument, of a command that takes more. */
  readonly rest: readonly string[];
}

export interface Context {
  readonly given: ParsedArguments;
  readonly platform: CommandPlatform;
  readonly output: Output;
}

export const globalFlags: readonly FlagSpec[] = [
  { name: "json", summary: "print the result as JSON, and errors as JSON on standard error" },
  {
    name: "api-url",
    value: "URL",
    summary:
      "address of the API (or STATIC_API_URL; then the saved one; then http://127.0.0.1:8080)",
  },
  {
    name: "relay-url",
    value: "URL",
    summary:
      "address of the relay, several with commas (or STATIC_RELAY_URL; then the saved one; then the one that the API names)",
  },
  {
    name: "ca-file",
    value: "FILE",
    summary: "file of certificates to trust (or STATIC_CA_FILE; then the saved one)",
  },
  { name: "help", summary: "show help for a command, with examples" },
  { name: "version", summary: "show the version" },
];
