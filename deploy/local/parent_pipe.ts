/**
 * A part of the stack lives for as long as its starter holds its standard input open. So it ends in
 * order when it is let go, it ends too when its supervisor is killed, and a Ctrl-C or the end of a
 * terminal, which every process is told of, is not its affair.
 */

export async function untilLetGo(
  input: ParentPipe = Deno.stdin.readable.getReader(),
): Promise<void> {
  for (const signal of ["SIGINT", "SIGHUP"] as const) Deno.addSignalListener(signal, () => {});
  while (!(await input.read()).done);
}

/** Standard input, or what stands for it. */
export type ParentPipe = Pick<ReadableStreamDefaultReader<Uint8Array>, "read">;

/**
 * The first line: variables that were not known when the process was started, so that it loads its
 * code meanwhile. Undefined when it is let go before.
 */
export async function readVariables(
  input: ParentPipe,
): Promise<Readonly<Record<string, string>> | undefined> {
  const decoder = new TextDecoder();
  for (let text = "";;) {
    const { done, value } = await input.read();
    if (done) return undefined;
    text += decoder.decode(value, { stream: true });
    // Nothing follows it.
    if (text.endsWith("\n")) return JSON.parse(text);
  }
}
