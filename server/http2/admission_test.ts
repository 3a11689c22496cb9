import { assert, assertEquals } from "@std/assert";
import { addressKey, Admission } from "./admission.ts";

Deno.test("addressKey() counts IPv4 by address, also mapped, and IPv6 by its /64", () => {
  const keys = ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::9", "::1", "fe80::1%eth0"];
  assertEquals(keys.map(addressKey), [
    "192.0.2.1",
    "192.0.2.1",
    "2001:db8:1:2",
    "2001:db8:1:2",
    "0:0:0:0",
    "fe80:0:0:0",
  ]);
});

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
