/**
 * Frozen bytes. `testdata/golden.json` was written once and is the format: a change that breaks one
 * of these lines breaks every client in the field. New operations add lines; only a new version of
 * the protocol changes one.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { assertEquals, assertThrows } from "@std/assert";
import { decodeShownAdmissions, encodeShownAdmissions } from "./statements/admissions.ts";
import { CellPacker, CellReader } from "./wire/cell.ts";
import { decodeCommitAad, encodeCommitAad } from "./statements/commit_aad.ts";
import { decodeCreatorWelcome, encodeCreatorWelcome } from "./wire/creator_welcome.ts";
import {
  decodeClientEnvelope,
  decodeRelayEnvelope,
  encodeClientNotice,
  encodeError,
  encodeNotice,
  encodeReply,
  encodeRequest,
} from "./wire/envelope.ts";
import { WireError } from "./base/errors.ts";
import {
  type MessageId,
  parseAgentId,
  parseBinaryId,
  parseChannelId,
  parseChannelName,
} from "./base/ids.ts";
import { formatInviteToken } from "./people/invite_token.ts";
import { limits } from "./base/limits.ts";
import { decodeMessageAad, encodeMessageAad, readMessageWord } from "./statements/message_aad.ts";
import { calls, type Lane, notices } from "./wire/operations.ts";
import {
  admissionStatement,
  authenticationStatement,
  commitStatement,
  epochStatement,
  foundingHash,
  foundingStatement,
  inviteIdOf,
  joinMac,
  leaveStatement,
  rejoinStatement,
} from "./statements/statements.ts";

interface GoldenEnvelope {
  readonly from: "client" | "relay";
  readonly kind: "request" | "reply" | "notice" | "error";
  readonly id?: number;
  readonly operation?: string;
  readonly body: unknown;
  readonly hex: string;
}

interface Golden {
  readonly envelopes: readonly GoldenEnvelope[];
  readonly creatorWelcome: { readonly value: unknown; readonly hex: string };
  readonly cells: {
    readonly cellBytes: number;
    readonly envelopes: readonly { readonly lane: Lane; readonly hex: string }[];
    readonly cells: readonly { readonly startsWith: string; readonly bytes: number }[];
  };
  readonly statements: Readonly<Record<string, string>>;
  /** The fields of each statement. */
  readonly statementInputs: Readonly<Record<string, unknown>>;
  readonly refused: readonly {
    readonly why: string;
    readonly hex: string;
    readonly code: string;
  }[];
  readonly refusedCells: readonly {
    why: string;
    startsWith: string;
    bytes: number;
    code: string;
  }[];
}

const golden: Golden = JSON.parse(
  Deno.readTextFileSync(new URL("testdata/golden.json", import.meta.url)),
);

/** Byte strings as `{hex}`, so that the file can be read by eye. */
function readable(value: unknown): unknown {
  if (value instanceof Uint8Array) return { hex: bytesToHex(value) };
  if (Array.isArray(value)) return value.map(readable);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, readable(item)]));
}

function encodeAgain(
  envelope: ReturnType<typeof decodeClientEnvelope> | ReturnType<typeof decodeRelayEnvelope>,
): Uint8Array {
  if (envelope.kind === "error") return encodeError(envelope.id, envelope.body);
  if (!("id" in envelope)) return encodeNotice(envelope.operation, envelope.body as never);
  const encode =
    { request: encodeRequest, notice: encodeClientNotice, reply: encodeReply }[envelope.kind];
  return encode(envelope.id, envelope.operation, envelope.body as never);
}

for (const { from, hex, ...expected } of golden.envelopes) {
  Deno.test(`golden: ${from} ${expected.kind} ${expected.operation ?? JSON.stringify(expected.body)}`, () => {
    const decoded = from === "client"
      ? decodeClientEnvelope(hexToBytes(hex))
      : decodeRelayEnvelope(hexToBytes(hex));
    assertEquals(readable(decoded), expected);
    assertEquals(bytesToHex(encodeAgain(decoded)), hex);
  });
}

Deno.test("golden: every request, reply and notice has a line", () => {
  const lines = new Set(
    golden.envelopes.map(({ from, kind, operation }) => `${from} ${kind} ${operation}`),
  );
  const expected = [
    ...Object.keys(calls).flatMap((name) => [`client request ${name}`, `relay reply ${name}`]),
    ...Object.keys(notices).map((name) => `relay notice ${name}`),
  ];
  assertEquals(expected.filter((line) => !lines.has(line)), []);
});

for (const { why, hex, code } of golden.refused) {
  Deno.test(`golden: refused with ${code}: ${why}`, () => {
    assertEquals(
      assertThrows(() => decodeClientEnvelope(hexToBytes(hex)), WireError).code as string,
      code,
    );
  });
}

function cellOf({ startsWith, bytes }: { startsWith: string; bytes: number }): Uint8Array {
  return hexToBytes(startsWith.padEnd(2 * bytes, "0"));
}

Deno.test("golden: cells", () => {
  const { cellBytes, envelopes, cells } = golden.cells;
  const packer = new CellPacker(cellBytes);
  for (const { lane, hex } of envelopes) packer.push(lane, hexToBytes(hex));
  const reader = new CellReader({ cellBytes, maxEnvelopeBytes: limits.envelopeBytes });
  const read: { lane: Lane; hex: string }[] = [];
  for (const expected of cells) {
    const cell = packer.next();
    assertEquals(cell, cellOf(expected));
    reader.read(
      cellOf(expected),
      (envelope, lane) => read.push({ lane, hex: bytesToHex(envelope) }),
    );
  }
  assertEquals(packer.next(), undefined);
  assertEquals(read, [...envelopes]);
});

for (const refused of golden.refusedCells) {
  Deno.test(`golden: cell refused with ${refused.code}: ${refused.why}`, () => {
    const reader = new CellReader({
      cellBytes: refused.bytes,
      maxEnvelopeBytes: limits.envelopeBytes,
    });
    const error = assertThrows(() => reader.read(cellOf(refused), () => {}), WireError);
    assertEquals(error.code as string, refused.code);
  });
}

Deno.test("golden: the creator's Welcome", () => {
  const decoded = decodeCreatorWelcome(hexToBytes(golden.creatorWelcome.hex));
  assertEquals(readable(decoded), golden.creatorWelcome.value);
  assertEquals(bytesToHex(encodeCreatorWelcome(decoded)), golden.creatorWelcome.hex);
});

Deno.test("golden: statements, invite token and authenticated data", () => {
  const channelId = parseChannelId("BwcHBwcHBwcHBwcHBwcHBw");
  const [agentId, other] = [parseAgentId("A".repeat(22)), parseAgentId(`${"B".repeat(21)}A`)];
  const name = parseChannelName("acme/ops/deploy");
  const secret = new Uint8Array(32).fill(5);
  const keyPackage = Uint8Array.of(1, 2, 3);
  const authentication = {
    origin: "quic://relay.example:4433",
    relayNonce: new Uint8Array(32).fill(1),
    clientNonce: new Uint8Array(32).fill(2),
    token: "a.b.c",
    agentId,
  };
  const leave = { channelId, agentId, leafHash: new Uint8Array(32).fill(3) };
  const lists = { added: [agentId], removed: [other, agentId], owners: [other] };
  const states = { state: new Uint8Array(32).fill(8), nextState: new Uint8Array(32).fill(9) };
  const commit = {
    channelId,
    generation: 0,
    epoch: 258,
    commitHash: new Uint8Array(32).fill(4),
    ...lists,
    ...states,
  };
  const epoch = { channelId, epoch: 258, state: new Uint8Array(32).fill(8) };
  const founding = {
    channelId,
    generation: 1,
    baseEpoch: 258,
    transcriptHash: new Uint8Array(32).fill(1),
    badCommit: new Uint8Array(32).fill(2),
    blamed: other,
    signatureKey: new Uint8Array(32).fill(3),
    identity: Uint8Array.of(4, 5),
    members: [agentId, other],
    without: [agentId],
    owners: [agentId],
    suite: 3,
  };
  const commitAad = {
    changes: Uint8Array.of(1, 2, 3),
    leaves: [{ agentId: other, signature: new Uint8Array(64).fill(6) }],
    rejoins: [{ agentId, signature: new Uint8Array(64).fill(7) }],
  };
  assertEquals(decodeCommitAad(encodeCommitAad(commitAad)), commitAad);
  const founded = { ...founding, state: new Uint8Array(32).fill(6) };
  const admission = { membership: new Uint8Array(16).fill(10), epoch: 258, agentId };
  const adder = { signatureKey: new Uint8Array(32).fill(3), identity: Uint8Array.of(4, 5) };
  const admitted = { ...adder, ...admission, signature: new Uint8Array(64).fill(11) };
  const added = [{ agentId: other, signature: new Uint8Array(64).fill(12) }];
  const shownAdmissions = { maker: [admitted], membership: new Uint8Array(16).fill(13), added };
  assertEquals(decodeShownAdmissions(encodeShownAdmissions(shownAdmissions)), shownAdmissions);
  const rejoin = { ...leave, keyPackageHash: sha256(keyPackage) };
  const invite = { channelId, name, inviter: agentId };
  const messageId = parseBinaryId<MessageId>(channelId);
  const messageAad = {
    messageId,
    counter: 258,
    count: 3,
    keyNumber: 4,
    gone: { first: 256, count: 2 },
  };
  assertEquals(decodeMessageAad(encodeMessageAad(messageAad)), messageAad);
  const seen = { place: 2 ** 32 + 1, count: 258, hash: new Uint8Array(16).fill(14) };
  const word = { seen, before: new Uint8Array(16).fill(15) };
  assertEquals(readMessageWord(encodeMessageAad({ ...messageAad, word })), word);
  assertEquals({
    authenticate: bytesToHex(authenticationStatement(authentication)),
    leave: bytesToHex(leaveStatement(leave)),
    rejoin: bytesToHex(rejoinStatement(rejoin)),
    commit: bytesToHex(commitStatement(commit)),
    commitWithoutOwners: bytesToHex(commitStatement({ ...commit, owners: undefined })),
    epoch: bytesToHex(epochStatement(epoch)),
    founding: bytesToHex(foundingStatement(founded)),
    foundingHash: bytesToHex(foundingHash(founding)),
    admission: bytesToHex(admissionStatement({ channelId, ...admission })),
    shownAdmissions: bytesToHex(encodeShownAdmissions(shownAdmissions)),
    joinMac: bytesToHex(joinMac(secret, { ...invite, keyPackage })),
    inviteId: inviteIdOf(secret),
    inviteToken: formatInviteToken({ ...invite, secret }),
    commitAad: bytesToHex(encodeCommitAad(commitAad)),
    messageAad: bytesToHex(encodeMessageAad({ ...messageAad, word })),
  }, golden.statements);
  const { owners: _, ...withoutOwners } = commit;
  const inputs = {
    authenticate: authentication,
    leave,
    rejoin,
    commit,
    commitWithoutOwners: withoutOwners,
    epoch,
    founding: founded,
    foundingHash: founding,
    admission: { channelId, ...admission },
    shownAdmissions,
    joinMac: { secret, ...invite, keyPackage },
    inviteId: { secret },
    inviteToken: { ...invite, secret },
    commitAad,
    messageAad: { ...messageAad, word },
  };
  assertEquals(readable(inputs), golden.statementInputs);
});
