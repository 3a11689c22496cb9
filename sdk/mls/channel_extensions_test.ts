import { assertEquals, assertThrows } from "@std/assert";
import { agentIdOf, parseChannelName } from "../../proto/mod.ts";
import { toStaticError } from "../channel/faults.ts";
import { decodeBinding, encodeBinding } from "./channel_extensions.ts";
import { MlsFault, MlsVersionFault } from "./codec.ts";

const binding = {
  name: parseChannelName("acme/ops/deploy"),
  owners: [1, 2].map((seed) => agentIdOf(new Uint8Array(32).fill(seed), Uint8Array.of(seed))),
};
const nothing = new Uint8Array(0);

Deno.test("decodeBinding() gives back what encodeBinding() was given", () => {
  assertEquals(decodeBinding(encodeBinding(binding)), binding);
});

Deno.test("an extension of channels that only newer versions know is refused with what to update", () => {
  const [name, owners] = encodeBinding(binding);
  if (name === undefined || owners === undefined) throw new TypeError("a binding has two extensions");
  const newer = { extensionType: 0xf5c2, extensionData: nothing };
  for (const extensions of [[name, newer], [name, owners, newer], [newer]]) {
    const fault = assertThrows(() => decodeBinding(extensions), MlsVersionFault, "0xf5c2");
    assertEquals(toStaticError(fault, "Cannot join").code, "unsupported_version");
  }
});

Deno.test("an extension that is no channel's is refused as such, as are two of one and none", () => {
  const [name, owners] = encodeBinding(binding);
  if (name === undefined || owners === undefined) throw new TypeError("a binding has two extensions");
  const foreign = { extensionType: 0xf777, extensionData: nothing };
  for (const extensions of [[name, owners, foreign], [name, foreign], [name, name], [name], []]) {
    const fault = assertThrows(() => decodeBinding(extensions), MlsFault);
    assertEquals(toStaticError(fault, "Cannot join").code, "mls_error");
  }
});
