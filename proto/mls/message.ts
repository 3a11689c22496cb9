/**
 * The part of an MLS message that a relay reads: the header that RFC 9420 leaves in the clear
 * (sections 6 and 12.4.3.1). No key is involved and nothing is verified; members do that.
 */
import { binaryIdBytes, binaryIdFromBytes, type ChannelId } from "../base/ids.ts";
import { limits } from "../base/limits.ts";
import { MlsReader } from "./reader.ts";

const mls10 = 1;
const wireFormat = { privateMessage: 2, welcome: 3, keyPackage: 5 } as const;
const contentTypes = ["application", "proposal", "commit"] as const;

export type ContentType = (typeof contentTypes)[number];

export interface PrivateMessageHeader {
  readonly channelId: ChannelId;
  readonly epoch: number;
  readonly contentType: ContentType;
  /** Sent in the clear and authenticated to members: message id and counter of the sender. */
  readonly authenticatedData: Uint8Array;
}

/** An MLSMessage with a PrivateMessage; everything else (PublicMessages too) is refused. */
export function readPrivateMessageHeader(message: Uint8Array): PrivateMessageHeader {
  const reader = openMessage(message, wireFormat.privateMessage, "PrivateMessage");
  const groupId = reader.vector();
  if (groupId.length !== binaryIdBytes) {
    reader.refuse(`its group id has ${groupId.length} bytes instead of 16`);
  }
  const epoch = reader.uint64();
  const contentType = contentTypes[reader.uint8() - 1] ?? reader.refuse("unknown content type");
  const authenticatedData = reader.vector();
  reader.vector(); // encrypted_sender_data
  reader.vector(); // ciphertext
  reader.end();
  return { channelId: binaryIdFromBytes(groupId), epoch, contentType, authenticatedData };
}

export interface WelcomeHeader {
  readonly cipherSuite: number;
  /** KeyPackageRefs of those it welcomes. */
  readonly recipients: readonly Uint8Array[];
}

/** An MLSMessage with a Welcome. */
export function readWelcomeHeader(message: Uint8Array): WelcomeHeader {
  const reader = openMessage(message, wireFormat.welcome, "Welcome");
  const cipherSuite = reader.uint16();
  const secrets = reader.nested();
  const recipients: Uint8Array[] = [];
  while (!secrets.done) {
    const reference = secrets.vector();
    if (reference.length !== 32) reader.refuse("a recipient's reference is not a SHA-256");
    if (recipients.length === limits.membersPerChannel) {
      reader.refuse("it has more recipients than a channel has members");
    }
    recipients.push(reference);
    secrets.vector(); // kem_output
    secrets.vector(); // ciphertext
  }
  reader.vector(); // encrypted_group_info
  reader.end();
  return { cipherSuite, recipients };
}

/** The KeyPackage inside an MLSMessage. */
export function openKeyPackageMessage(message: Uint8Array): MlsReader {
  return openMessage(message, wireFormat.keyPackage, "KeyPackage");
}

function openMessage(message: Uint8Array, format: number, what: string): MlsReader {
  const reader = new MlsReader(message, what);
  if (reader.uint16() !== mls10) reader.refuse("it is not MLS 1.0");
  if (reader.uint16() !== format) reader.refuse(`the message is not a ${what}`);
  return reader;
}
