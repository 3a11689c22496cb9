/**
 * A part of the stack lives for as long as whoever started it holds its standard input open. So it ends in order when it is
 * let go, it ends too when its supervisor is killed, and a Ctrl-C, which a terminal gives to every process, is not its affair.
 */

export async function untilLetGo(): Promise<void> {
  Deno.addSignalListener("SIGINT", () => {});
  const reader = Deno.stdin.readable.getReader();
  while (!(await reader.read()).done);
}
