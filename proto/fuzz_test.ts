/**
 * Decoders against random and mutated input: nothing but `WireError` may come out, and memory stays
 * bounded.
 * 100,000 inputs in the default run; `STATIC_STRESS=1` runs twenty million.
 */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { assertGreater, assertLess } from "@std/assert";
import {
  createKeyPackage,
  createPrivateMessage,
  createRandom,
  type Random,
  sampleBody,
  seedFromEnvironment,
} from "../tests/support/mod.ts";
import { decodeBase64url, encodeBase64url } from "./base/base64url.ts";
import { decodeCbor, encodeCbor } from "./base/cbor.ts";
import { cellHeaderBytes, CellPacker, CellReader, writeRider } from "./wire/cell.ts";
import { decodeBundle, encodeBundle } from "./content/bundle.ts";
import { decodeConfirmation } from "./content/confirmation.ts";
import {
  noticeFromDelivery,
  noticeToDelivery,
  requestFromMessage,
  requestToMessage,
} from "./wire/convert.ts";
import { decodeContent } from "./content/content.ts";
import { decodeCreatorWelcome } from "./wire/creator_welcome.ts";
import {
  decodeClientEnvelope,
  decodeRelayEnvelope,
  encodeNotice,
  encodeReply,
  encodeRequest,
} from "./wire/envelope.ts";
import { WireError } from "./base/errors.ts";
import { DeliverySchema, Relay } from "./wire/descriptors.ts";
import { decodeBadges } from "./people/badge.ts";
import { formatInviteToken, parseInviteToken } from "./people/invite_token.ts";
import {
  binaryIdFromBytes,
  type MessageId,
  parseAgentId,
  parseChannelId,
  parseChannelName,
} from "./base/ids.ts";
import { formatJoinLink, parseJoinLink } from "./people/join_link.ts";
import { limits } from "./base/limits.ts";
import { decodeMessageAad, encodeMessageAad, readMessageWord } from "./statements/message_aad.ts";
import { readKeyPackage } from "./mls/key_package.ts";
import { readPrivateMessageHeader, readWelcomeHeader } from "./mls/message.ts";
import { decodeIssuers, encodeIssuers } from "./statements/issuers.ts";
import { decodeOwnersChanges } from "./statements/owners.ts";
import {
  type CallName,
  calls,
  creatorWelcome,
  type NoticeName,
  notices,
} from "./wire/operations.ts";

const inputs = Deno.env.get("STATIC_STRESS") === "1" ? 20_000_000 : 100_000;
const poolSize = 400;
/** Heap and buffers together, above what the pool of valid inputs holds. */
const memoryCapBytes = 192 * 1024 * 1024;

type Target = {
  readonly name: string;
  readonly valid: readonly Uint8Array[];
  readonly decode: (bytes: Uint8Array) => void;
};

const callNames = Object.keys(calls) as CallName[];
const noticeNames = Object.keys(notices) as NoticeName[];

function many<T>(create: () => T): T[] {
  return Array.from({ length: poolSize }, create);
}

function createTargets(random: Random): readonly Target[] {
  const requests = many(() => {
    const name = random.pick(callNames);
    const body = calls[name].request.parse(sampleBody(calls[name].request, random), name);
    return { name, body };
  });
  const noticeSamples = many(() => {
    const name = random.pick(noticeNames);
    return { name, body: notices[name].body.parse(sampleBody(notices[name].body, random), name) };
  });
  const clientEnvelopes = requests.map(({ name, body }) =>
    encodeRequest(1 + random.below(1000), name, body as never)
  );
  const relayEnvelopes = [
    ...noticeSamples.map(({ name, body }) => encodeNotice(name, body as never)),
    ...many(() => {
      const name = random.pick(callNames);
      return encodeReply(
        5,
        name,
        calls[name].reply.parse(sampleBody(calls[name].reply, random), name) as never,
      );
    }),
  ];
  const welcome = Uint8Array.of(
    0,
    1,
    0,
    3,
    0,
    3,
    39,
    32,
    ...random.bytes(32),
    2,
    2,
    2,
    2,
    3,
    3,
    2,
    9,
    9,
  );
  const keyPackage = createKeyPackage({
    secretKey: random.bytes(32),
    notBeforeMs: 0,
    notAfterMs: 1e12,
  });
  const creatorWelcomes = many(() => encodeCbor(sampleBody(creatorWelcome, random)));
  const invite = {
    channelId: parseChannelId("BwcHBwcHBwcHBwcHBwcHBw"),
    inviter: parseAgentId("A".repeat(22)),
    name: parseChannelName("acme/ops/deploy"),
    secret: random.bytes(32),
  };
  const token = formatInviteToken(invite);
  const link = formatJoinLink({
    invite,
    apiUrl: "https://api.example",
    relayUrls: ["quic://relay.example:4433"],
    authority: { kind: "hash", sha256: random.bytes(32) },
    expiresAtMs: 1e12,
  });
  return [
    {
      name: "decodeClientEnvelope",
      valid: clientEnvelopes,
      decode: (bytes) => decodeClientEnvelope(bytes),
    },
    {
      name: "decodeRelayEnvelope",
      valid: relayEnvelopes,
      decode: (bytes) => decodeRelayEnvelope(bytes),
    },
    { name: "decodeCbor", valid: clientEnvelopes, decode: (bytes) => decodeCbor(bytes) },
    {
      name: "CellReader",
      valid: cellStreams(clientEnvelopes, random),
      decode: (bytes) => readInChunks(bytes, random),
    },
    ...protobufTargets(requests, noticeSamples),
    {
      name: "readPrivateMessageHeader",
      valid: [createPrivateMessage()],
      decode: readPrivateMessageHeader,
    },
    { name: "readWelcomeHeader", valid: [welcome], decode: readWelcomeHeader },
    { name: "readKeyPackage", valid: [keyPackage], decode: readKeyPackage },
    { name: "decodeCreatorWelcome", valid: creatorWelcomes, decode: decodeCreatorWelcome },
    { name: "decodeOwnersChanges", valid: ownersChanges(), decode: decodeOwnersChanges },
    { name: "decodeBadges", valid: badges(), decode: (bytes) => void decodeBadges(bytes) },
    {
      name: "decodeIssuers",
      valid: [encodeIssuers({ required: true, issuers: [issuer] })],
      decode: decodeIssuers,
    },
    { name: "decodeContent", valid: contents(), decode: (bytes) => void decodeContent(bytes) },
    {
      name: "decodeConfirmation",
      valid: [new Uint8Array(120)],
      decode: (bytes) => void decodeConfirmation(bytes),
    },
    {
      name: "decodeMessageAad",
      valid: [new Uint8Array(24), messageAad()],
      decode: decodeMessageAad,
    },
    {
      name: "readMessageWord",
      valid: [messageAad()],
      decode: (bytes) => void readMessageWord(bytes),
    },
    { name: "decodeBundle", valid: [bundle()], decode: (bytes) => decodeBundle(bytes, 2) },
    {
      name: "parseInviteToken",
      valid: [new TextEncoder().encode(token)],
      decode: (bytes) => parseInviteToken(String.fromCharCode(...bytes.subarray(0, 1000))),
    },
    {
      name: "parseJoinLink",
      valid: [new TextEncoder().encode(link)],
      decode: (bytes) => void parseJoinLink(String.fromCharCode(...bytes.subarray(0, 8000))),
    },
    {
      name: "parseJoinLink, content",
      valid: [
        decodeBase64url(link.slice(link.indexOf("#") + 1))?.slice(3, -4) ?? new Uint8Array(0),
      ],
      decode: (bytes) => void parseJoinLink(sealLink(bytes.subarray(0, 4096))),
    },
  ];
}

/** With the frame and checksum of a link. */
function sealLink(content: Uint8Array): string {
  const bytes = concatBytes(Uint8Array.of(1, content.length >> 8, content.length & 0xff), content);
  return `static://join/#${encodeBase64url(concatBytes(bytes, sha256(bytes).subarray(0, 4)))}`;
}

/** The bytes of the golden test. */
function messageAad(): Uint8Array {
  const messageId = binaryIdFromBytes<MessageId>(new Uint8Array(16));
  const word = {
    seen: { place: 7, count: 2, hash: new Uint8Array(16).fill(1) },
    before: new Uint8Array(16).fill(2),
  };
  return encodeMessageAad({
    messageId,
    counter: 9,
    count: 3,
    keyNumber: 1,
    gone: { first: 4, count: 5 },
    word,
  });
}

function bundle(): Uint8Array {
  const plaintext = new Uint8Array(5);
  return encodeBundle(
    [1, 2].map((fill) => ({ id: binaryIdFromBytes(new Uint8Array(16).fill(fill)), plaintext })),
  );
}

function contents(): Uint8Array[] {
  const file = new URL("testdata/content.json", import.meta.url);
  const golden: Readonly<Record<string, string>> = JSON.parse(Deno.readTextFileSync(file));
  return ["text", "request", "reply", "error", "tagged"].map((name) =>
    hexToBytes(golden[name] ?? "")
  );
}

function protobufTargets(
  requests: readonly { name: CallName; body: unknown }[],
  noticeSamples: readonly { name: NoticeName; body: unknown }[],
): Target[] {
  const sendMessage = Relay.method.sendMessage.input;
  const sends = requests.filter(({ name }) => name === "SendMessage");
  const deliveries = noticeSamples.map(({ name, body }) =>
    toBinary(DeliverySchema, noticeToDelivery({ kind: "notice", operation: name, body } as never))
  );
  return [
    {
      name: "protobuf SendMessage",
      valid: sends.map(({ body }) =>
        toBinary(sendMessage, requestToMessage("SendMessage", body as never))
      ),
      decode: (bytes) =>
        requestFromMessage("SendMessage", parseProtobuf(() => fromBinary(sendMessage, bytes))),
    },
    {
      name: "protobuf Delivery",
      valid: deliveries,
      decode: (bytes) => noticeFromDelivery(parseProtobuf(() => fromBinary(DeliverySchema, bytes))),
    },
  ];
}

/** Bytes that are not protobuf are refused by the gRPC layer before they reach our conversion. */
function parseProtobuf<T>(parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new WireError("invalid_request", "not protobuf", { cause });
  }
}

const cellBytes = limits.minCellBytes;

function cellStreams(envelopes: readonly Uint8Array[], random: Random): Uint8Array[] {
  return many(() => {
    const packer = new CellPacker(cellBytes);
    for (let i = random.below(4); i >= 0; i--) {
      packer.push(random.pick(["control", "data"]), random.pick(envelopes));
    }
    const cells: number[] = [];
    for (let cell = packer.next(); cell !== undefined; cell = packer.next()) cells.push(...cell);
    const cover = new Uint8Array(cellBytes);
    const rider = random.pick(envelopes);
    if (rider.length < cellBytes / 2) writeRider(cover, cellHeaderBytes, rider);
    return random.chance(0.5) ? Uint8Array.from(cells) : Uint8Array.of(...cover, ...cells);
  });
}

function readInChunks(bytes: Uint8Array, random: Random): void {
  const reader = new CellReader({ cellBytes, maxEnvelopeBytes: 100_000 });
  const step = 1 + random.below(2 * cellBytes);
  for (let at = 0; at < bytes.length; at += step) {
    reader.read(bytes.subarray(at, at + step), () => {});
  }
}

/** Noise, or a valid input with bytes flipped, cut, doubled or spliced with another. */
function mutate(valid: readonly Uint8Array[], random: Random): Uint8Array {
  if (valid.length === 0 || random.chance(0.15)) {
    return random.bytes(random.below(random.pick([4, 40, 400])));
  }
  const original = random.pick(valid);
  const at = random.below(original.length + 1);
  switch (random.below(5)) {
    case 0:
      return original.slice(0, at);
    case 1:
      return Uint8Array.of(
        ...original.subarray(0, 60),
        ...random.bytes(random.below(8)),
        ...original.subarray(60, 400),
      );
    case 2: {
      const other = random.pick(valid);
      const spliced = new Uint8Array(at + other.length - Math.min(at, other.length));
      spliced.set(original.subarray(0, at));
      spliced.set(other.subarray(Math.min(at, other.length)), at);
      return spliced;
    }
    default: {
      const changed = original.slice();
      // Most structure is at the front.
      for (let i = random.below(4); i >= 0; i--) {
        changed[random.below(random.chance(0.7) ? Math.min(80, changed.length) : changed.length)] =
          random.uint32();
      }
      return changed;
    }
  }
}

Deno.test(`decoders survive ${inputs.toLocaleString("en")} random and mutated inputs with nothing but the typed error`, () => {
  const random = createRandom(seedFromEnvironment());
  const targets = createTargets(random);
  const accepted = new Map(targets.map(({ name }) => [name, 0]));
  const memory = (): number => Deno.memoryUsage().heapUsed + Deno.memoryUsage().external;
  const before = memory();
  let peak = 0;
  for (let i = 0; i < inputs; i++) {
    const target = targets[i % targets.length];
    if (target === undefined) break;
    const bytes = mutate(target.valid, random);
    try {
      target.decode(bytes);
      accepted.set(target.name, (accepted.get(target.name) ?? 0) + 1);
    } catch (error) {
      if (error instanceof WireError) continue;
      const hex = Array.from(bytes.subarray(0, 4000), (byte) => byte.toString(16).padStart(2, "0"))
        .join("");
      throw new Error(`${target.name} threw ${error} for ${hex} (seed ${random.seed})`, {
        cause: error,
      });
    }
    if (i % 1000 === 0) peak = Math.max(peak, memory() - before);
  }
  assertLess(peak, memoryCapBytes, `memory grew by ${peak} bytes (seed ${random.seed})`);
  // A target that accepts nothing was never fuzzed beyond its first bytes.
  for (const [name, count] of accepted) {
    assertGreater(count, inputs / 100_000, `${name} accepted ${count} inputs`);
  }
  const counts = [...accepted].map(([name, count]) => `${name} ${count}`).join(", ");
  console.log(`seed ${random.seed}, peak ${(peak / 2 ** 20).toFixed(1)} MiB, accepted: ${counts}`);
});

/** The golden ones. */
const issuer = { domain: "acme.com", key: new Uint8Array(32), closed: false };

function badges(): readonly Uint8Array[] {
  const golden: { badges: string } = JSON.parse(
    Deno.readTextFileSync(new URL("testdata/badge.json", import.meta.url)),
  );
  return [hexToBytes(golden.badges)];
}

function ownersChanges(): Uint8Array[] {
  const golden: Readonly<Record<"signed" | "left", string>> = JSON.parse(
    Deno.readTextFileSync(new URL("testdata/owners.json", import.meta.url)),
  );
  return [golden.signed, golden.left, golden.signed + golden.left].map(hexToBytes);
}
