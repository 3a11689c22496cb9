/** A line whenever something waits for the agent. It has nothing of a message in it. */
export async function* wakes() {
  const { stdout } = new Deno.Command("static", {
    args: ["wake", "--stdout"],
    stdin: "null",
    stdout: "piped",
  }).spawn();
  for await (const text of stdout.pipeThrough(new TextDecoderStream())) {
    yield* text.split("\n").filter((line) => line !== "");
  }
}
