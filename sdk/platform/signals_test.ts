// Supervisors send one signal that asks a program to end, and later one that ends it.
import { assertEquals } from "@std/assert";

const program = `
  import { onSignal } from "${new URL("signals.ts", import.meta.url)}";
  const other = onSignal(() => console.log("forgotten"));
  onSignal(() => console.log("closing"));
  other();
  setInterval(() => {}, 1000);
  console.log("ready");
`;

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.test(`onSignal() runs at the first ${signal}, and the next one ends the program`, async () => {
    const args = ["eval", "--no-config", program];
    const child = new Deno.Command(Deno.execPath(), { args, stdout: "piped", stderr: "inherit" })
      .spawn();
    const said: string[] = [];
    const lines = child.stdout.pipeThrough(new TextDecoderStream());
    for await (const text of lines) {
      said.push(...text.trim().split("\n"));
      child.kill(signal);
    }
    assertEquals(said, ["ready", "closing"]);
    assertEquals((await child.status).signal, signal);
  });
}
