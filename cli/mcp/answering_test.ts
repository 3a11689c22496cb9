import { assertEquals } from "@std/assert";
import { Answering } from "./answering.ts";

Deno.test("a failure of a tool is heard before the model is told", async () => {
  const heard: unknown[] = [];
  const onFailure = (error: unknown): Promise<void> => Promise.resolve(void heard.push(error));
  const answering = new Answering({ secrets: [], onFailure });
  const error = new Error("no messages are left");
  const { isError } = await answering.run(() => Promise.reject(error));
  assertEquals([isError, heard], [true, [error]]);
  await answering.run(() => Promise.resolve({}));
  assertEquals(heard.length, 1);
});
