import { assert, assertEquals } from "@std/assert";
import { email, keyName, password } from "./fields.ts";

Deno.test("a text of a whole body is refused at once: normalising 32,000 marks would hold up everybody for seconds", () => {
  const marks = `a${"\u0301".repeat(16_000)}${"\u0323".repeat(16_000)}`;
  for (const [name, field] of Object.entries({ email, keyName, password })) {
    const started = performance.now();
    const { error } = field.safeParse(marks);
    const ms = performance.now() - started;
    assert(ms < 200, `${name} took ${ms} ms`);
    assert(error?.issues[0]?.message.startsWith("must have at most"), name);
  }
  assertEquals(password.safeParse(`12345678${"\u0301\u0323".repeat(100)}`).success, true);
});
