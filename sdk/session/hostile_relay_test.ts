// A relay that breaks the contract in every way we could think of: the session refuses, says why,
// and comes back to an honest one.
import { assert, assertEquals } from "@std/assert";
import {
  type CborValue,
  cellHeaderBytes,
  type ClientEnvelope,
  encodeCbor,
  encodeReply,
  type ErrorCode,
  errorCodes,
  limits,
  parseAgentId,
  protocolVersion,
} from "../../proto/mod.ts";
import { createRandom, seedFromEnvironment } from "../../tests/support/mod.ts";
import { Bench } from "./testing/bench.ts";
import { relayLimits, type RelayLink } from "./testing/scripted_relay.ts";

const rounds = Deno.env.get("STATIC_STRESS") === "1" ? 5_000 : 150;

interface Attack {
  readonly what: string;
  /** On the request that it answers; true when it has dealt with it. */
  readonly script: (link: RelayLink, request: ClientEnvelope) => boolean | void;
  readonly code: ErrorCode;
  /** Whether the session is online before it happens. */
  readonly online?: boolean;
}

/** One cell with this header and content. */
function cell(header: readonly number[], content: Uint8Array = new Uint8Array(0)): Uint8Array {
  const bytes = new Uint8Array(limits.cellBytes);
  bytes.set(header);
  bytes.set(content, cellHeaderBytes);
  return bytes;
}

/** Makes the relay answer one operation with a chosen act. */
function on(
  operation: ClientEnvelope["operation"],
  act: (link: RelayLink, id: number) => void,
): Attack["script"] {
  return (link, request) => {
    if (request.operation !== operation) return false;
    act(link, request.id);
    return true;
  };
}

const challenge = {
  version: protocolVersion,
  nonce: new Uint8Array(32),
  expiresInMs: 30_000,
  relayTimeMs: 1,
  cellBytes: limits.cellBytes,
  features: [],
};
const authenticated = {
  agentId: parseAgentId("A".repeat(22)),
  expiresAtMs: 1_000_000_000,
  relayTimeMs: 1,
  sessionToken: new Uint8Array(0),
  keyPackages: 0,
  limits: relayLimits,
  hasLastResort: false,
};
const low = { remaining: 0, wanted: 1, hasLastResort: false };

const attacks: readonly Attack[] = [
  {
    what: "a cell of a lane that does not exist",
    script: on("GetChallenge", (link) => link.sendBytes(cell([7, 0, 1]))),
    code: "protocol_error",
  },
  {
    what: "a cell that claims more content than it holds",
    script: on("GetChallenge", (link) => link.sendBytes(cell([0, 0xff, 0xff]))),
    code: "protocol_error",
  },
  {
    what: "an envelope without bytes",
    script: on("GetChallenge", (link) => link.sendBytes(cell([0, 0, 5], new Uint8Array(5)))),
    code: "protocol_error",
  },
  {
    what: "an envelope above the limit of the handshake",
    script: on(
      "GetChallenge",
      (link) => link.sendBytes(cell([0, 0x0f, 0xfd], Uint8Array.of(0, 1, 0, 0))),
    ),
    code: "protocol_error",
  },
  {
    what: "an envelope that is not our CBOR",
    script: on(
      "GetChallenge",
      (link) => link.sendBytes(...link.cells("control", Uint8Array.of(0xa1, 0x01, 0xfb))),
    ),
    code: "protocol_error",
  },
  {
    what: "an envelope of another version",
    script: on(
      "GetChallenge",
      (link) => link.sendBytes(...link.cells("control", encodeCbor(new Map([[1, 2]])))),
    ),
    code: "protocol_error",
  },
  {
    what: "a nonce of the wrong length",
    script: on(
      "GetChallenge",
      (link, id) => link.reply(id, "GetChallenge", { ...challenge, nonce: new Uint8Array(31) }),
    ),
    code: "protocol_error",
  },
  {
    what: "a cell size out of bounds",
    script: on(
      "GetChallenge",
      (link, id) => link.reply(id, "GetChallenge", { ...challenge, cellBytes: 100_000 }),
    ),
    code: "protocol_error",
  },
  {
    what: "cells that go on in the old size",
    script: on("GetChallenge", (link, id) => {
      const reply = encodeReply(id, "GetChallenge", { ...challenge, cellBytes: 2048 });
      link.sendBytes(...link.cells("control", reply), cell([7, 0, 0]).fill(9, 5));
    }),
    code: "protocol_error",
  },
  {
    what: "a version that was not offered",
    script: on(
      "GetChallenge",
      (link, id) => link.reply(id, "GetChallenge", { ...challenge, version: protocolVersion + 1 }),
    ),
    code: "unsupported_version",
  },
  {
    what: "a reply to a request that was never made",
    script: on("GetChallenge", (link, id) => link.reply(id + 1, "GetChallenge", challenge)),
    code: "protocol_error",
  },
  {
    what: "a reply of another operation",
    script: on("GetChallenge", (link, id) => link.reply(id, "Ping", { relayTimeMs: 1 })),
    code: "protocol_error",
  },
  {
    what: "a notice before authentication",
    script: on("GetChallenge", (link) => link.notice("KeyPackagesLow", low)),
    code: "protocol_error",
  },
  {
    what: "another agent's id",
    script: on("Authenticate", (link, id) => link.reply(id, "Authenticate", authenticated)),
    code: "protocol_error",
  },
  {
    what: "notices without end and no answer to Authenticate",
    script: on("Authenticate", (link) => {
      for (let i = 0; i < 100; i++) link.notice("KeyPackagesLow", low);
    }),
    code: "protocol_error",
  },
  {
    what: "an error about no request",
    script: on("Authenticate", (link) => link.error(0, "overloaded")),
    code: "overloaded",
  },
  {
    what: "silence after GetChallenge",
    script: on("GetChallenge", () => {}),
    code: "connection_error",
  },
  {
    what: "silence after Authenticate",
    script: on("Authenticate", () => {}),
    code: "connection_error",
  },
  {
    what: "an end after GetChallenge",
    script: on("GetChallenge", (link) => link.hangUp()),
    code: "transport_error",
  },
  {
    what: "an end with a close code after Authenticate",
    script: on("Authenticate", (link) => link.hangUpWith(errorCodes.overloaded.close)),
    code: "overloaded",
  },
  {
    what: "an envelope above every limit",
    script: on(
      "Unsubscribe",
      (link) => link.sendBytes(cell([1, 0x0f, 0xfd], Uint8Array.of(0xff, 0, 0, 0))),
    ),
    code: "protocol_error",
    online: true,
  },
  {
    what: "a second answer of another size to GetChallenge",
    script: on(
      "Unsubscribe",
      (link, id) => link.reply(id, "GetChallenge", { ...challenge, cellBytes: 2048 }),
    ),
    code: "protocol_error",
    online: true,
  },
  {
    what: "an unknown notice",
    script: on("Unsubscribe", (link) => {
      const envelope = encodeCbor(
        new Map<CborValue, CborValue>([[1, 1], [2, 4], [3, 0], [4, 99], [5, new Map()]]),
      );
      link.sendBytes(...link.cells("control", envelope));
    }),
    code: "protocol_error",
    online: true,
  },
];

for (const { what, script, code, online = false } of attacks) {
  Deno.test(`the session refuses ${what}, and comes back when the relay is honest`, async () => {
    let hostile = true;
    const bench = new Bench({
      relay: { script: (link, request) => hostile && script(link, request) },
    });
    if (online) {
      await bench.online();
      bench.session.call("Unsubscribe", { channelId: "AAAAAAAAAAAAAAAAAAAAAA" as never }).catch(
        () => {},
      );
    }
    for (
      let waitedMs = 0;
      bench.session.state.kind !== "offline" && waitedMs < 20_000;
      waitedMs += 100
    ) {
      await bench.clock.advance(100);
    }
    const { state } = bench.session;
    assert(state.kind === "offline", `the session is ${state.kind}`);
    const { cause } = state.error;
    const codes = [
      state.error.code,
      cause instanceof Error && "code" in cause ? cause.code : undefined,
    ];
    assert(codes.includes(code), `${codes}: ${state.error.message}`);
    assert(bench.relay.links.every(({ isOpen }) => !isOpen), "a link is left open");
    hostile = false;
    await bench.online();
    await bench.close();
  });
}

Deno.test("whatever bytes arrive, the session neither throws nor hangs", async () => {
  const random = createRandom(seedFromEnvironment());
  for (let round = 0; round < rounds; round++) {
    const bench = new Bench({
      relay: { cellBytes: 1024 },
      connectors: (relay) => {
        const connector = relay.connector();
        const connect: typeof connector.connect = async (target, signal) => {
          const stream = await connector.connect(target, signal);
          const read = async (): Promise<Uint8Array | undefined> => {
            const chunk = (await stream.read())?.slice();
            if (chunk !== undefined && random.chance(0.5)) {
              chunk[random.below(200)] = random.below(256);
            }
            return chunk;
          };
          return { ...stream, read };
        };
        return [{ ...connector, connect }];
      },
    });
    const call = bench.session.call("Ping", {}, { timeoutMs: 30_000 }).then(
      () => "answered",
      () => "refused",
    );
    await bench.clock.advance(31_000);
    assert(["answered", "refused"].includes(await call), `seed ${random.seed}`);
    assertEquals(
      bench.session.state.kind === "connecting" && bench.relay.links.length === 0,
      false,
    );
    await bench.close();
  }
});

Deno.test("limits above those of the protocol are not believed", async () => {
  const bench = new Bench({
    relay: { limits: { payloadBytes: 2 ** 32 - 1, queueAgeMs: Number.MAX_SAFE_INTEGER } },
  });
  const { payloadBytes, queueAgeMs } = (await bench.online()).limits;
  assertEquals([payloadBytes, queueAgeMs], [limits.payloadBytes, limits.queueAgeMs]);
  await bench.close();
});

Deno.test("replies of the session that the SDK does not read may say anything", async () => {
  const [odd, ids] = [
    { ...challenge, expiresInMs: 0, relayTimeMs: 0, features: [7, 8] },
    new Set<string>(),
  ];
  const bench = new Bench({
    relay: {
      script: (link, { operation, id }) => {
        ids.add(operation);
        if (operation === "GetChallenge") link.reply(id, operation, odd);
        else if (operation === "ConfigureCover") {
          link.reply(id, operation, { mode: "constant", intervalMs: 0 });
        } else return false;
        return true;
      },
    },
  });
  await bench.online();
  const aheadMs = bench.session.relayNowMs() - bench.clock.nowMs();
  await bench.clock.advance(120_000);
  assertEquals([bench.session.state.kind, Math.abs(aheadMs) < 1_000], ["online", true]);
  assertEquals(
    ["GetChallenge", "ConfigureCover"].filter((operation) => !ids.has(operation)),
    [],
  );
  await bench.close();
});
