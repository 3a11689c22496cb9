import { assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { faultsEverywhere } from "./faults_everywhere.ts";
import { heartFaults } from "./heart_faults.ts";
import { withFault } from "./planted_fault.ts";

Deno.test("each fault can be planted in the product as it is, and no two have one name", async () => {
  const faults = [...faultsEverywhere, ...heartFaults];
  assertEquals(new Set(faults.map(({ name }) => name)).size, faults.length);
  for (const fault of faults) {
    const text = await Deno.readTextFile(new URL(`../${fault.path}`, import.meta.url));
    assertNotEquals(withFault(text, fault), text);
  }
});

Deno.test("withFault() refuses a text that has the place twice, or not at all", () => {
  const fault = { name: "f", path: "p", from: "a", to: "b" };
  assertEquals(withFault("xay", fault), "xby");
  for (const text of ["xy", "aa"]) {
    assertThrows(() => withFault(text, fault), Error, "mend it in tools/");
  }
});
