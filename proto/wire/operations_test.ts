import { assertEquals } from "@std/assert";
import { calls, notices } from "./operations.ts";

/** Every operation that the interface names. */
const namedByInterface = [
  ...["CreateChannel", "UploadKeyPackage", "AddMember", "SendCommit", "SendWelcome", "SendMessage"],
  ...["DeliverMessage", "DeliverWelcome", "DeliverCommit"],
];

Deno.test("every operation of the interface exists", () => {
  const names = [...Object.keys(calls), ...Object.keys(notices)];
  assertEquals(namedByInterface.filter((name) => !names.includes(name)), []);
});

Deno.test("operation numbers are unique, and calls and notices do not overlap", () => {
  const numbers = [...Object.values(calls), ...Object.values(notices)].map(({ number }) => number);
  assertEquals(new Set(numbers).size, numbers.length);
});
