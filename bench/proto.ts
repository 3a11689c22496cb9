/**
 * The cost of the wire contract per message: a 1 KiB payload as an envelope through cells, both
 * ways. Prints microseconds and the ratio to the target; asserts nothing, machines differ.
 */
import { requestFromMessage, requestToMessage } from "../proto/wire/grpc.ts";
import {
  binaryIdFromBytes,
  CellPacker,
  CellReader,
  type ChannelId,
  type Content,
  decodeClientEnvelope,
  decodeContent,
  decodeRelayEnvelope,
  encodeContent,
  encodeNotice,
  encodeRequest,
  limits,
  type MessageId,
  parseAgentId,
  readPrivateMessageHeader,
} from "../proto/mod.ts";
import { reportRatio } from "./ratio.ts";

const targetUs = 20;
const contentUs = 5;
/** Short enough that most of them run through, also beside busy neighbours. */
const callsInStretch = 500;
const stretches = 500;

const channelId = binaryIdFromBytes<ChannelId>(new Uint8Array(16).fill(7));
const messageId = binaryIdFromBytes<MessageId>(new Uint8Array(16).fill(9));
const sender = parseAgentId("A".repeat(22));
const ciphertext = new Uint8Array(1024 + 200).fill(0xab);
const request = { channelId, epoch: 12, messageId, ciphertext };
const notice = {
  channelId,
  sequence: 1234567,
  epoch: 12,
  sender,
  timeMs: 1_790_000_000_000,
  messageId,
  ciphertext,
};
const content: Content = {
  kind: "message",
  fields: { contentType: "application/json" },
  body: new Uint8Array(1024).fill(0x20),
};
const cellBytes = limits.cellBytes;

/**
 * Microseconds per call, of many short stretches the tenth of a hundred: slower ones were
 * interrupted by neighbours.
 */
function measure(act: () => void): number {
  for (let i = 0; i < 10 * callsInStretch; i++) act();
  const times = Array.from({ length: stretches }, () => {
    const started = performance.now();
    for (let i = 0; i < callsInStretch; i++) act();
    return (performance.now() - started) * 1000 / callsInStretch;
  });
  return times.sort((a, b) => a - b)[Math.floor(stretches / 10)] ?? NaN;
}

const packer = new CellPacker(cellBytes);
/** Handed back after each send, as a session's writer does once the transport took it. */
const buffer = new Uint8Array(cellBytes);
const reader = new CellReader({ cellBytes, maxEnvelopeBytes: limits.envelopeBytes });
const encodedRequest = encodeRequest(77, "SendMessage", request);
const encodedNotice = encodeNotice("DeliverMessage", notice);
const protobuf = requestToMessage("SendMessage", request);
const header = privateMessage();

const results: readonly [name: string, microseconds: number, target?: number][] = [
  [
    "SendMessage: encode, pack, read, decode",
    measure(() => {
      packer.push("data", encodeRequest(77, "SendMessage", request));
      const cell = packer.next(buffer);
      if (cell !== undefined) reader.read(cell, (bytes) => decodeClientEnvelope(bytes));
    }),
    targetUs,
  ],
  [
    "DeliverMessage: pack, read, decode (encoded once per fan-out)",
    measure(() => {
      packer.push("data", encodedNotice);
      const cell = packer.next(buffer);
      if (cell !== undefined) reader.read(cell, (bytes) => decodeRelayEnvelope(bytes));
    }),
  ],
  ["  encode SendMessage", measure(() => encodeRequest(77, "SendMessage", request))],
  ["  decode SendMessage", measure(() => decodeClientEnvelope(encodedRequest))],
  [
    "  pack and read one cell",
    measure(() => {
      packer.push("data", encodedRequest);
      const cell = packer.next(buffer);
      if (cell !== undefined) reader.read(cell, () => {});
    }),
  ],
  [
    "content: envelope a JSON message, and read it",
    measure(() => decodeContent(encodeContent(content))),
    contentUs,
  ],
  ["  protobuf to body", measure(() => requestFromMessage("SendMessage", protobuf))],
  ["  MLS header of a PrivateMessage", measure(() => readPrivateMessageHeader(header))],
];

console.log(
  `proto, 1 KiB payload, ${cellBytes}-byte cells, ${Deno.build.arch}, Deno ${Deno.version.deno}`,
);
for (const [name, microseconds, target] of results) {
  if (target !== undefined) {
    const figures = { unit: "µs", ours: microseconds, peer: "what was allowed", theirs: target };
    reportRatio({
      bench: "proto",
      what: name,
      ...figures,
      ratio: target / microseconds,
      target: 1,
    });
  }
  const verdict = target === undefined
    ? ""
    : `   ${(microseconds / target).toFixed(2)} x of the ${target} µs allowed`;
  console.log(`${name.padEnd(62)} ${microseconds.toFixed(2).padStart(7)} µs${verdict}`);
}

/** A well-formed PrivateMessage of content type application around the ciphertext. */
function privateMessage(): Uint8Array {
  const body = [
    0,
    1,
    0,
    2,
    16,
    ...new Uint8Array(16),
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    12,
    1,
    24,
    ...new Uint8Array(24),
    28,
  ];
  const size = [0x40 | (ciphertext.length >> 8), ciphertext.length & 0xff];
  return Uint8Array.of(...body, ...new Uint8Array(28), ...size, ...ciphertext);
}
