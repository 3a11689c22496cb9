import { assertEquals } from "@std/assert";
import { argumentsOf } from "./arguments.ts";
import { z } from "zod";

Deno.test("an argument that does not exist is refused by name, with those that do and the nearest one", () => {
  const names = {
    channel: z.string(),
    text: z.string(),
    to: z.string(),
    reply_to: z.string(),
    max_messages: z.number(),
  };
  const schema = argumentsOf(names).partial();
  const wordsFor = (...given: string[]): string | undefined =>
    schema.safeParse(Object.fromEntries(given.map((each) => [each, 1]))).error?.issues.at(-1)
      ?.message;
  const all = "The arguments are channel, text, to, reply_to, max_messages";
  assertEquals(wordsFor("recipient"), `there is no argument "recipient". ${all}`);
  assertEquals(wordsFor("token"), `there is no argument "token". ${all}`);
  assertEquals(wordsFor("txet"), `there is no argument "txet", did you mean text? ${all}`);
  assertEquals(
    wordsFor("channel_name"),
    `there is no argument "channel_name", did you mean channel? ${all}`,
  );
  assertEquals(
    wordsFor("inReplyTo"),
    `there is no argument "inReplyTo", did you mean reply_to? ${all}`,
  );
  assertEquals(
    wordsFor("a", "maxMessages"),
    `there is no argument "a"; there is no argument "maxMessages", did you ` +
      `mean max_messages? ${all}`,
  );
  assertEquals(
    wordsFor('x"\n', "b"),
    `there is no argument "x\\u{22}\\u{a}"; there is no argument "b". ${all}`,
  );
});
