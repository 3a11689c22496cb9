/**
 * A part of the stack lives for as long as its starter holds its standard input open. So it ends in order when it is
 * let go, it ends too when its supervisor is killed, and a Ctrl-C or the end of a terminal, which every process is told of, is
 * not its affair.
 */

export async function untilLetGo(): Promise<void> {
  for (const signal of ["SIGINT", "SIGHUP"] as const) Deno.addSignalListener(signal, () => {});
  const reader = Deno.stdin.readable.getReader();
  while (!(await reader.read()).done);
}
