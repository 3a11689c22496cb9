import { assert, assertEquals } from "@std/assert";
import { Admission } from "./admission.ts";

Deno.test("Admission limits each address and all together", () => {
  const admission = new Admission({ connections: 3, connectionsPerAddress: 2 });
  const leave = admission.admit("192.0.2.1");
  assert(admission.admit("192.0.2.1") !== undefined);
  assertEquals(admission.admit("192.0.2.1"), undefined);
  assert(admission.admit("192.0.2.2") !== undefined);
  assertEquals(admission.admit("192.0.2.3"), undefined);
  leave?.();
  assert(admission.admit("192.0.2.3") !== undefined);
  assertEquals(admission.total, 3);
});

Deno.test("Admission gives the networks of one /56 as much as four addresses, and takes it back", () => {
  const admission = new Admission({ connections: 100, connectionsPerAddress: 2 });
  const admit = (number: number): (() => void) | undefined => admission.admit(`2001:db8:1:${number.toString(16)}::1`);
  const open = Array.from({ length: 256 }, (_, i) => admit(i)).filter((leave) => leave !== undefined);
  assertEquals(open.length, 8);
  assert(admission.admit("2001:db8:1:100::1") !== undefined);
  for (const leave of open) leave();
  assertEquals(admission.total, 1);
  assert(admit(99) !== undefined);
});
