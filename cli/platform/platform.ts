/**
 * Everything that the CLI needs from the machine. `host.ts` is the one implementation: it is
 * written on `node:` modules, which Node and Deno both have; tests bring their own terminal,
 * folders and environment.
 */
import type { HttpFetch } from "../../proto/mod.ts";
import type { ChildOptions, ChildProgram } from "./child_program.ts";
import type { CommandInput } from "./run_command.ts";

export interface CommandPlatform {
  /** How the user started this program, for commands that are shown to be copied. */
  readonly program: string;
  /** Whether an agent can be left to a host. */
  readonly hasHosts: boolean;
  /** An environment variable; an empty one counts as none. */
  variable(name: string): string | undefined;
  /** Names of all variables. */
  readonly variableNames: readonly string[];
  readonly stdin: Input;
  readonly stdout: Sink;
  readonly stderr: Sink;
  /** Aborted by Ctrl-C, SIGTERM, or when nobody reads the output any more. */
  readonly interrupted: AbortSignal;
  readonly folders: UserFolders;
  readonly files: UserFiles;
  /**
   * `fetch` that trusts these certificates, in PEM form, beyond the runtime's own. Redirects are
   * not followed.
   */
  openHttp(caCerts: readonly string[]): HttpFetch;
  /** A deadline that starts now. */
  deadline(ms: number): AbortSignal;
  /** Looks at the certificate behind an address without believing it. */
  inspectCertificate(
    target: { readonly host: string; readonly port: number },
    caCerts: readonly string[],
  ): Promise<
    SeenCertificate
  >;
  nowMs(): number;
  /** The id of this process. */
  readonly pid: number;
  /** Whether a process of this id is there, of whichever user. */
  isRunning(pid: number): boolean;
  /** Runs it again and again; returns a function to stop it. */
  every(ms: number, run: () => void): () => void;
  randomBytes(length: number): Uint8Array;
  /**
   * Runs a program that the user named. Resolves with its exit code, or undefined when a signal
   * ended it.
   */
  runCommand(argv: readonly string[], given: CommandInput): Promise<number | undefined>;
  /** Starts a program that the user named, and that is spoken with in lines. */
  startChild(argv: readonly string[], options: ChildOptions): ChildProgram;
}

export interface Sink {
  readonly isTerminal: boolean;
  /** Width in characters; 80 where it is not known. */
  readonly columns: number;
  write(content: string | Uint8Array): Promise<void>;
}

export interface Input {
  readonly isTerminal: boolean;
  /** Returns the input that has arrived, in pieces; undefined at the end. */
  read(): Promise<Uint8Array | undefined>;
  /** A line without its end; undefined at the end. */
  readLine(options?: ReadLineOptions): Promise<string | undefined>;
}

export interface ReadLineOptions {
  /** Hides what is typed at a terminal. */
  readonly hidden?: boolean;
  /** Asks for it, once the terminal is in the state that the answer needs. */
  readonly prompt?: () => Promise<void>;
}

export interface UserFolders {
  /** `credentials.json` of this user, where the SDK looks for it too. */
  readonly credentialsFile: string;
  /** `trust.json` of this user, beside it. */
  readonly trustFile: string;
  /** Holds a folder for each agent of the CLI. */
  readonly agents: string;
  /** The folder in which the user stands. */
  readonly current: string;
}

export interface UserFiles {
  /** Undefined when there is none. */
  read(path: string): Promise<string | undefined>;
  /** Writes a file for its owner alone (0600, folders 0700), and never half-written. */
  writePrivate(path: string, text: string): Promise<void>;
  remove(path: string): Promise<void>;
  list(folder: string): Promise<string[]>;
  /** Permission bits; undefined when there is none or the system has no such thing. */
  mode(path: string): Promise<number | undefined>;
  makePrivateFolder(path: string): Promise<void>;
  makeTemporaryFolder(): Promise<string>;
  absolute(path: string): string;
  join(...parts: readonly string[]): string;
}

export interface SeenCertificate {
  readonly expiresAtMs: number;
  /** Why it is not believed; undefined when it is. */
  readonly refused: string | undefined;
  readonly protocol: string;
}
