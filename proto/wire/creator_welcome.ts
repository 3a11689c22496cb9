/**
 * The Welcome that CreateChannel returns: deterministic CBOR of the channel's public parameters.
 */
import { decodeCbor, encodeCbor } from "../base/cbor.ts";
import { limits } from "../base/limits.ts";
import { type CreatorWelcome, creatorWelcome } from "./operations.ts";

export function encodeCreatorWelcome(parameters: CreatorWelcome): Uint8Array<ArrayBuffer> {
  return encodeCbor(creatorWelcome.encode(parameters));
}

/** Throws `WireError`. */
export function decodeCreatorWelcome(bytes: Uint8Array): CreatorWelcome {
  return creatorWelcome.parse(decodeCbor(bytes, limits.creatorWelcomeBytes), "CreatorWelcome");
}
