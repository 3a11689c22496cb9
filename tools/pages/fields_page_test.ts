import { assertEquals } from "@std/assert";
import { limits } from "../../proto/mod.ts";

const [KiB, MiB, dayMs] = [1024, 1024 * 1024, 86_400_000];

Deno.test("limits are those that were decided", () => {
  const decided = {
    payloadBytes: MiB,
    keyPackageBytes: 16 * KiB,
    commitBytes: 256 * KiB,
    welcomeBytes: 2 * MiB,
    membersPerChannel: 1000,
    queueBytesPerChannel: 64 * MiB,
    queueAgeMs: 7 * dayMs,
    cellBytes: 4096,
    challengeMs: 30_000,
    emailBytes: 254,
  };
  assertEquals({ ...limits, ...decided }, { ...limits });
});

Deno.test("docs/protocol.md tells limits as the code has them", () => {
  const prose = Deno.readTextFileSync(new URL("../../docs/protocol.md", import.meta.url)).replace(
    /\s+/g,
    " ",
  );
  const grouped = (value: number): string => value.toLocaleString("en-US");
  const sentences = [
    `no envelope is longer than ${grouped(limits.envelopeBytes)} bytes`,
    `or ${grouped(limits.handshakeEnvelopeBytes)} before authentication`,
    `up to the cell's size (${limits.cellBytes} unless the relay says otherwise)`,
    `The first cell each way has ${limits.cellBytes} bytes`,
    `at most ${limits.cborDepth} levels deep`,
    `A value has at most ${grouped(limits.cborItems)} CBOR items`,
    `a nonce (single use, ${limits.challengeMs / 1000} s)`,
    `within ${limits.challengeMs / 1000} s of the challenge`,
    `the identity is at most ${limits.identityBytes} bytes`,
    `A KeyPackage is valid for at most ${limits.keyPackageLifetimeMs / dayMs} days`,
  ];
  assertEquals(sentences.filter((sentence) => !prose.includes(sentence)), []);
});
