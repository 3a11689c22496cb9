import { assertEquals } from "@std/assert";
import { type ParentPipe, readVariables, untilLetGo } from "./parent_pipe.ts";

function inputOf(...pieces: readonly string[]): ParentPipe {
  return ReadableStream.from(pieces.map((piece) => new TextEncoder().encode(piece))).getReader();
}

Deno.test("a part is told variables in one line, in whatever pieces it comes, and lives until it is let go", async () => {
  const input = inputOf('{"STATIC_API_URL":"http://127.', '0.0.1:8080"}', "\n");
  assertEquals(await readVariables(input), { STATIC_API_URL: "http://127.0.0.1:8080" });
  await untilLetGo(input);
});

Deno.test("a part that is let go before it is told anything knows", async () => {
  assertEquals(await readVariables(inputOf()), undefined);
  assertEquals(await readVariables(inputOf('{"STATIC_API_URL":')), undefined);
});
