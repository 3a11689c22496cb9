import { assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { faults, withFault } from "./fault_list.ts";

Deno.test("there are twenty faults, and each can be planted in the product as it is", async () => {
  assertEquals(new Set(faults.map(({ name }) => name)).size, 20);
  for (const fault of faults) {
    const text = await Deno.readTextFile(new URL(`../${fault.path}`, import.meta.url));
    assertNotEquals(withFault(text, fault), text);
  }
});

Deno.test("withFault() refuses a text that has the place twice, or not at all", () => {
  const fault = { name: "f", path: "p", from: "a", to: "b" };
  assertEquals(withFault("xay", fault), "xby");
  for (const text of ["xy", "aa"]) assertThrows(() => withFault(text, fault), Error, "mend tools/fault_list.ts");
});
