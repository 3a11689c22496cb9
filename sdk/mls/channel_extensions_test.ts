import { assertEquals, assertThrows } from "@std/assert";
import { agentIdOf, binaryIdFromBytes, type ChannelId, parseChannelName } from "../../proto/mod.ts";
import { toStaticError } from "../channel/faults.ts";
import { type ChannelBinding, decodeBinding, encodeBinding } from "./channel_extensions.ts";
import { MlsFault, MlsVersionFault } from "./codec.ts";
import type { Extension } from "./ts_mls.ts";

const owners = [1, 2].map((seed) => agentIdOf(new Uint8Array(32).fill(seed), Uint8Array.of(seed)))
  .sort();
const versioned: ChannelBinding = {
  name: parseChannelName("acme/ops/deploy"),
  owners,
  chain: { version: 3, lastChange: new Uint8Array(32).fill(4) },
};
const nothing = new Uint8Array(0);

function extensionsOf(binding: ChannelBinding): readonly [name: Extension, owners: Extension] {
  const [name, owners] = encodeBinding(binding);
  if (name === undefined || owners === undefined) {
    throw new TypeError("a binding has two extensions");
  }
  return [name, owners];
}

Deno.test("decodeBinding() gives back what encodeBinding() was given", () => {
  assertEquals(decodeBinding(encodeBinding(versioned)), versioned);
  assertEquals(extensionsOf(versioned).map(({ extensionType }) => extensionType), [0xf5c0, 0xf5c2]);
});

Deno.test("an extension of channels that only newer versions know is refused with what to update", () => {
  const [name, owners] = extensionsOf(versioned);
  const newer = { extensionType: 0xf5cf, extensionData: nothing };
  for (const extensions of [[name, newer], [name, owners, newer], [newer]]) {
    const fault = assertThrows(() => decodeBinding(extensions), MlsVersionFault, "0xf5cf");
    assertEquals(toStaticError(fault, "Cannot join").code, "unsupported_version");
  }
});

Deno.test("an extension that is no channel's is refused as such, as are two of one, none, and another order", () => {
  const [name, owners] = extensionsOf(versioned);
  const foreign = { extensionType: 0xf777, extensionData: nothing };
  const wrong = [
    [name, owners, foreign],
    [name, foreign],
    [name, name],
    [name, owners, owners],
    [owners, name],
    [name],
    [],
  ];
  for (const extensions of wrong) {
    const fault = assertThrows(() => decodeBinding(extensions), MlsFault);
    assertEquals(toStaticError(fault, "Cannot join").code, "mls_error");
  }
});

Deno.test("a policy stands last, behind versions of owners, and in one form", () => {
  const policy = { admission: "owners", posting: "members" } as const;
  const generation = {
    channelId: binaryIdFromBytes<ChannelId>(new Uint8Array(16)),
    generation: 1,
    founding: new Uint8Array(32),
    absent: [],
  };
  for (const binding of [{ ...versioned, policy }, { ...versioned, generation, policy }]) {
    assertEquals(decodeBinding(encodeBinding(binding)), binding);
  }
  const [name, owners, last] = encodeBinding({ ...versioned, policy });
  const [, , later] = encodeBinding({ ...versioned, generation });
  if (!name || !owners || !last || !later) {
    throw new TypeError("a binding with a policy has three extensions");
  }
  assertEquals(last, { extensionType: 0xf5c4, extensionData: Uint8Array.of(1, 1, 0) });
  for (
    const extensions of [[name, last, owners], [name, owners, last, later], [
      name,
      owners,
      last,
      last,
    ]]
  ) {
    assertThrows(() => decodeBinding(extensions), MlsFault);
  }
  for (
    const extensionData of [
      nothing,
      Uint8Array.of(2, 0, 0),
      Uint8Array.of(1, 0, 2),
      Uint8Array.of(1, 0, 0, 0),
    ]
  ) {
    assertThrows(
      () => decodeBinding([name, owners, { ...last, extensionData }]),
      MlsFault,
      "malformed",
    );
  }
});

Deno.test("owners that are cut, out of order or behind another format are refused", () => {
  const [name, { extensionType, extensionData }] = extensionsOf(versioned);
  const wrong = [
    nothing,
    extensionData.subarray(0, -1),
    new Uint8Array([...extensionData, 0]),
    extensionData.with(0, 2),
    extensionsOf({ ...versioned, owners: owners.toReversed() })[1].extensionData,
  ];
  for (const data of wrong) {
    assertThrows(
      () => decodeBinding([name, { extensionType, extensionData: data }]),
      MlsFault,
      "malformed",
    );
  }
});
