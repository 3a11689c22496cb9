import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { decodeBase64url, encodeBase64url } from "../base/base64url.ts";
import { equalBytes } from "../base/equal_bytes.ts";
import { WireError } from "../base/errors.ts";
import { agentIdOf, binaryIdFromBytes, type ChannelId, parseChannelName } from "../base/ids.ts";
import { formatInviteToken, parseInviteToken } from "../people/invite_token.ts";
import {
  authenticationStatement,
  type CommitStatement,
  commitStatement,
  inviteIdOf,
  joinMac,
  leaveStatement,
  rejoinStatement,
} from "./statements.ts";

const agentId = agentIdOf(new Uint8Array(32).fill(1), Uint8Array.of(1));
const other = agentIdOf(new Uint8Array(32).fill(2), Uint8Array.of(1));
const channelId = binaryIdFromBytes<ChannelId>(new Uint8Array(16).fill(7));
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

Deno.test("an authentication statement changes with every field", () => {
  const base = authenticationStatement(authentication);
  assertEquals(authenticationStatement({ ...authentication }), base);
  const changes: Partial<typeof authentication>[] = [
    { origin: "quic://relay.example:4434" },
    { relayNonce: new Uint8Array(32).fill(3) },
    { clientNonce: new Uint8Array(32).fill(3) },
    { token: "a.b.d" },
    { agentId: other },
  ];
  for (const change of changes) {
    assertNotEquals(authenticationStatement({ ...authentication, ...change }), base);
  }
});

Deno.test("fields cannot flow into each other", () => {
  const a = authenticationStatement({
    ...authentication,
    relayNonce: Uint8Array.of(1, 2),
    clientNonce: Uint8Array.of(3),
  });
  const b = authenticationStatement({
    ...authentication,
    relayNonce: Uint8Array.of(1),
    clientNonce: Uint8Array.of(2, 3),
  });
  assertNotEquals(a, b);
});

Deno.test("leave and rejoin statements change with every field, and never coincide", () => {
  const leaf = { channelId, agentId, leafHash: new Uint8Array(32).fill(1) };
  const claim = { ...leaf, keyPackageHash: sha256(keyPackage) };
  const [leave, rejoin] = [leaveStatement(leaf), rejoinStatement(claim)];
  assertNotEquals(leave, rejoin);
  const elsewhere = binaryIdFromBytes<ChannelId>(new Uint8Array(16));
  for (
    const change of [{ channelId: elsewhere }, { agentId: other }, { leafHash: new Uint8Array(32) }]
  ) {
    assertNotEquals(leaveStatement({ ...leaf, ...change }), leave);
    assertNotEquals(rejoinStatement({ ...claim, ...change }), rejoin);
  }
  assertNotEquals(
    rejoinStatement({ ...claim, keyPackageHash: sha256(Uint8Array.of(1, 2, 4)) }),
    rejoin,
  );
});

Deno.test("a commit statement changes with every field, and tells no owners from unchanged ones", () => {
  const commit = {
    channelId,
    generation: 0,
    epoch: 1,
    commitHash: new Uint8Array(32).fill(1),
    added: [agentId],
    removed: [other],
    owners: [agentId],
    state: new Uint8Array(32).fill(2),
    nextState: new Uint8Array(32).fill(3),
  };
  const changes: Partial<CommitStatement>[] = [
    { channelId: binaryIdFromBytes<ChannelId>(new Uint8Array(16)) },
    { generation: 1 },
    { epoch: 2 },
    { commitHash: new Uint8Array(32) },
    { added: [] },
    { added: [agentId, other], removed: [] },
    { removed: [] },
    { owners: [other] },
    { owners: [] },
    { owners: undefined },
    { state: commit.nextState },
    { nextState: commit.state },
  ];
  const statements = [commit, ...changes.map((change) => ({ ...commit, ...change }))].map(
    commitStatement,
  );
  assertEquals(new Set(statements.map(String)).size, statements.length);
});

Deno.test("a join MAC needs the secret and covers channel, name, inviter and KeyPackage", () => {
  const statement = { channelId, name, inviter: agentId, keyPackage };
  const mac = joinMac(secret, statement);
  assertEquals(mac.length, 32);
  assert(equalBytes(mac, joinMac(secret, { ...statement })));
  const changed = [
    joinMac(new Uint8Array(32).fill(6), statement),
    joinMac(secret, { ...statement, channelId: binaryIdFromBytes<ChannelId>(new Uint8Array(16)) }),
    joinMac(secret, { ...statement, name: parseChannelName("acme/ops/other") }),
    joinMac(secret, { ...statement, inviter: other }),
    joinMac(secret, { ...statement, keyPackage: Uint8Array.of(9) }),
  ];
  for (const forged of changed) assert(!equalBytes(mac, forged));
});

Deno.test("an invite's id and its MAC key are different derivations of the secret", () => {
  assertEquals(inviteIdOf(secret), inviteIdOf(secret));
  assertNotEquals(inviteIdOf(secret), inviteIdOf(new Uint8Array(32)));
  assert(!equalBytes(secret, new Uint8Array(31)) && equalBytes(secret, secret.slice()));
});

Deno.test("an invite token survives formatting and parsing", () => {
  const invite = { channelId, name, inviter: agentId, secret };
  const token = formatInviteToken(invite);
  assert(token.startsWith("inv_"));
  assertEquals(parseInviteToken(token), invite);
});

Deno.test("parseInviteToken() refuses every truncation and every changed character, and never shows the secret", () => {
  const token = formatInviteToken({ channelId, name, inviter: agentId, secret });
  for (let length = 0; length < token.length; length++) {
    const error = assertThrows(
      () => parseInviteToken(token.slice(0, length)),
      WireError,
      "Ask the inviter",
    );
    assert(!error.message.includes(token.slice(60, 80)));
  }
  for (let i = 4; i < token.length; i++) {
    const changed = token.slice(0, i) + (token[i] === "A" ? "B" : "A") + token.slice(i + 1);
    assertThrows(() => parseInviteToken(changed), WireError);
  }
  assertThrows(() => parseInviteToken(`inv_${"A".repeat(1_000_000)}`), WireError);
  assertThrows(() => parseInviteToken(` ${token}`), WireError);
});

Deno.test("parseInviteToken() refuses a token of another version with what to update", () => {
  const token = formatInviteToken({ channelId, name, inviter: agentId, secret });
  const content = (decodeBase64url(token.slice(4)) ?? new Uint8Array(0)).slice(0, -4);
  content[0] = 2;
  const newer = `inv_${encodeBase64url(concatBytes(content, sha256(content).subarray(0, 4)))}`;
  assertEquals(
    assertThrows(() => parseInviteToken(newer), WireError, "Update").code,
    "unsupported_version",
  );
});
