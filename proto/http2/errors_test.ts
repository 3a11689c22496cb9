import { assertEquals } from "@std/assert";
import { errorCodeName } from "./errors.ts";

Deno.test("errorCodeName() names known codes and shows unknown ones", () => {
  assertEquals([errorCodeName(8), errorCodeName(77)], ["cancel", "code 77"]);
});
