/**
 * From a fresh connection to an authenticated one: GetChallenge, then Authenticate with the signed
 * statement. From there on everything travels under the session's cover.
 */
import {
  agentIdOf,
  authenticationStatement,
  knownFeatures,
  protocolVersion,
  type ReplyBody,
} from "../../proto/mod.ts";
import { createError } from "../base/errors.ts";
import type { RelayConnection } from "./connection.ts";
import type { Cover } from "./cover.ts";
import type { SessionOptions } from "./options.ts";

export interface HandshakeCredentials
  extends Pick<SessionOptions, "identity" | "publicKey" | "sign"> {
  readonly token: string;
  /** The relay's origin, as the user configured it. */
  readonly origin: string;
  readonly clientNonce: Uint8Array;
  readonly cover: Cover;
}

export interface AuthenticatedConnection {
  readonly cellBytes: number;
  readonly features: readonly number[];
  readonly reply: ReplyBody<"Authenticate">;
  /** The steady clock when the relay read its own, as good as the round trip tells. */
  readonly steadyMs: number;
}

/** `onAuthenticated` runs before anything that the relay sent behind its answer is looked at. */
export async function authenticate(
  connection: RelayConnection,
  { token, origin, identity, publicKey, sign, clientNonce, cover }: HandshakeCredentials,
  steadyMs: () => number,
  onAuthenticated: (authenticated: AuthenticatedConnection) => void,
): Promise<void> {
  const { version, nonce: relayNonce, cellBytes, features } = await connection.request(
    "GetChallenge",
    {
      versions: [protocolVersion],
      features: knownFeatures,
    },
  );
  if (version !== protocolVersion) {
    const text =
      `The relay speaks protocol version ${version}, this SDK ${protocolVersion}: update the older one`;
    throw createError("unsupported_version", text);
  }
  const agentId = agentIdOf(publicKey, identity);
  const statement = authenticationStatement({ origin, relayNonce, clientNonce, token, agentId });
  const signature = sign(statement);
  const sentMs = steadyMs();
  // Before Authenticate and in the same cell, so that cover begins with the session, both ways.
  connection.cover(cover);
  // A relay that refuses gives no cover of its own.
  connection.request("ConfigureCover", cover).catch(() => {});
  await connection.request("Authenticate", {
    token,
    publicKey,
    identity,
    clientNonce,
    relayNonce,
    origin,
    signature,
  }, {
    onReply: (reply) => {
      if (reply.agentId !== agentId) {
        throw createError(
          "protocol_error",
          "The relay took this agent for another; it is broken or not what it claims",
        );
      }
      onAuthenticated({ cellBytes, features, reply, steadyMs: (sentMs + steadyMs()) / 2 });
    },
  });
}
