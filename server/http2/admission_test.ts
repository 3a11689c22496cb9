import { assert, assertEquals } from "@std/assert";
import { addressKey, Admission, networkKey } from "./admission.ts";

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

Deno.test("networkKey() is the /56 of an IPv6 address, and nothing for IPv4", () => {
  const addresses = ["2001:db8:1:1234::1", "2001:db8:1:12ff::1", "2001:db8:1:1300::1", "2001:db8::1", "192.0.2.1"];
  assertEquals([...addresses, "::ffff:192.0.2.1", ""].map(networkKey), [
    "2001:db8:1:12/56",
    "2001:db8:1:12/56",
    "2001:db8:1:13/56",
    "2001:db8:0:0/56",
    undefined,
    undefined,
    undefined,
  ]);
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
