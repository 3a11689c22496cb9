/** A driver in a process of its own, and this one as the program that holds it. */
import { HostConnection } from "../../sdk/testing/host.ts";

export interface DriverProcess extends AsyncDisposable {
  readonly connection: HostConnection;
  readonly pid: number;
  /** Its arguments. */
  readonly command: readonly string[];
  /** Bytes as they are, for what is no frame. */
  write(bytes: Uint8Array): void;
  /** The program goes without a word. */
  closeInput(): Promise<void>;
  kill(): void;
  readonly status: Promise<Deno.CommandStatus>;
  readonly stderr: Promise<string>;
}

export function startDriver(command: readonly string[]): DriverProcess {
  const [program = "", ...args] = command;
  const child = new Deno.Command(program, {
    args,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  const write = (bytes: Uint8Array): void =>
    void writer.write(Uint8Array.from(bytes)).catch(() => {});
  const connection = new HostConnection({ write, close: () => {} });
  const reading = (async (): Promise<void> => {
    for await (const chunk of child.stdout) connection.receive(chunk);
    connection.end();
  })();
  const stderr = new Response(child.stderr).text();
  const closeInput = (): Promise<void> => writer.close().catch(() => {});
  return {
    connection,
    pid: child.pid,
    command,
    write,
    closeInput,
    kill: () => child.kill("SIGKILL"),
    status: child.status,
    stderr,
    [Symbol.asyncDispose]: async () => {
      await closeInput();
      await child.status;
      await reading;
      await stderr;
    },
  };
}
