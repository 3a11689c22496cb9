/**
 * Invite tokens: `inv_` and base64url of a version byte, the channel's id and name, the inviter's
 * agent id, a secret of 32 bytes and four bytes of checksum, so that a token cut short by copying
 * is told from one that is wrong.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { decodeBase64url, encodeBase64url } from "../base/base64url.ts";
import { WireError } from "../base/errors.ts";
import {
  type AgentId,
  binaryIdFromBytes,
  binaryIdToBytes,
  type ChannelId,
  type ChannelName,
  parseAgentId,
  parseChannelName,
} from "../base/ids.ts";

export interface Invite {
  readonly channelId: ChannelId;
  readonly name: ChannelName;
  readonly inviter: AgentId;
  readonly secret: Uint8Array;
}

const prefix = "inv_";
const version = 1;
const secretBytes = 32;
const agentIdBytes = 22;
const channelIdBytes = 16;
const checksumBytes = 4;
/** Version, channel id, agent id, secret; then the name, then the checksum. */
const fixedBytes = 1 + channelIdBytes + agentIdBytes + secretBytes;
const maxTokenLength = 512;

export function formatInviteToken({ channelId, name, inviter, secret }: Invite): string {
  if (secret.length !== secretBytes) {
    throw new RangeError(`An invite's secret has ${secretBytes} bytes`);
  }
  const content = concatBytes(
    Uint8Array.of(version),
    binaryIdToBytes(channelId),
    utf8ToBytes(inviter),
    secret,
    utf8ToBytes(name),
  );
  return prefix + encodeBase64url(concatBytes(content, checksum(content)));
}

/**
 * Throws `WireError` with code `invalid_request`, `unsupported_version`, or `channel_error` for a
 * name that is none. Never shows the secret.
 */
export function parseInviteToken(token: string): Invite {
  if (token.length > maxTokenLength || !token.startsWith(prefix)) {
    throw invalid(`it does not start with ${prefix} or is far too long`);
  }
  const bytes = decodeBase64url(token.slice(prefix.length));
  if (bytes === undefined || bytes.length < fixedBytes + checksumBytes) {
    throw invalid("it is cut short or mistyped");
  }
  const content = bytes.subarray(0, bytes.length - checksumBytes);
  if (!checksum(content).every((byte, i) => byte === bytes[content.length + i])) {
    throw invalid("its checksum is wrong; copy it again in full");
  }
  if (content[0] !== version) {
    const text =
      `Cannot use the invite token: it has version ${
        content[0]
      }, this client knows ${version}. Update this ` +
      "client, or the inviter's, and ask for a new one";
    throw new WireError("unsupported_version", text);
  }
  const ascii = new TextDecoder();
  const afterId = 1 + channelIdBytes;
  const afterAgent = afterId + agentIdBytes;
  return {
    channelId: binaryIdFromBytes(content.subarray(1, afterId)),
    inviter: parseAgentId(ascii.decode(content.subarray(afterId, afterAgent))),
    secret: content.slice(afterAgent, fixedBytes),
    name: parseChannelName(ascii.decode(content.subarray(fixedBytes))),
  };
}

function checksum(content: Uint8Array): Uint8Array {
  return sha256(content).subarray(0, checksumBytes);
}

function invalid(why: string): WireError {
  return new WireError(
    "invalid_request",
    `Not a usable invite token: ${why}. Ask the inviter for a new one`,
  );
}
