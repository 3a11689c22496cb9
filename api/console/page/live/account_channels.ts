/**
 * The channels of the account as the relay lists them, also those that this tab's agent is not in.
 * The SDK has no such question, so the relay is asked by typed calls over HTTPS (Connect with
 * JSON), as an agent that lives for this question alone.
 */
import {
  agentIdOf,
  authenticationStatement,
  binaryIdFromBytes,
  type ChannelId,
  encodeBase64url,
  limits,
  protocolVersion,
} from "../../../../proto/mod.ts";

export interface AccountChannel {
  readonly id: ChannelId;
  readonly name: string;
  readonly members: number;
  readonly createdAt: string;
}

/** A relay's TCP address, and a token of the account. */
export interface RelayAccess {
  readonly origin: string;
  readonly token: string;
}

interface ChannelListPage {
  readonly channels?: readonly {
    readonly channelId: string;
    readonly name: string;
    readonly members?: number;
    readonly createdAtMs?: string;
    readonly owned?: boolean;
  }[];
  readonly more?: boolean;
}

type CallBody = Readonly<Record<string, unknown>>;

const service = "/static.relay.v1.Relay";
const identity = "console-list";
const deadlineMs = 20_000;
const [nonceBytes, maxPages] = [32, 20];

/** Throws with words for a person. */
export async function listAccountChannels(asking: RelayAccess): Promise<readonly AccountChannel[]> {
  const session = await authenticate(asking);
  try {
    const found: AccountChannel[] = [];
    let after: CallBody = {};
    for (let pages = 0; pages < maxPages; pages++) {
      const body = { limit: limits.channelsPerPage, ...after };
      const { channels = [], more } = await call<ChannelListPage>(
        asking,
        "ListChannels",
        body,
        session,
      );
      for (const { channelId, name, members = 0, createdAtMs = "0", owned } of channels) {
        const id = binaryIdFromBytes<ChannelId>(fromBase64(channelId));
        const createdAt = new Date(Number(createdAtMs)).toISOString();
        if (owned === true) found.push({ id, name, members, createdAt });
      }
      const last = channels.at(-1)?.channelId;
      if (more !== true || last === undefined) break;
      after = { after: last };
    }
    return found.sort((a, b) => a.name < b.name ? -1 : 1);
  } finally {
    await call(asking, "EndSession", {}, session).catch(() => {}); // it ends by itself, too
  }
}

/** Returns what later calls carry. */
async function authenticate(asking: RelayAccess): Promise<string> {
  const { origin, token } = asking;
  const { privateKey, publicKey: key } = await crypto.subtle.generateKey("Ed25519", false, [
    "sign",
    "verify",
  ])
    .catch(() => {
      throw new Error("This browser cannot sign with Ed25519. Use a newer one");
    });
  const publicKey = new Uint8Array(await crypto.subtle.exportKey("raw", key));
  const name = new TextEncoder().encode(identity);
  const { nonce } = await call<{ nonce: string }>(asking, "GetChallenge", {
    versions: [protocolVersion],
  });
  const [relayNonce, clientNonce] = [
    fromBase64(nonce),
    crypto.getRandomValues(new Uint8Array(nonceBytes)),
  ];
  const statement = authenticationStatement({
    origin,
    relayNonce,
    clientNonce,
    token,
    agentId: agentIdOf(publicKey, name),
  });
  const signature = new Uint8Array(
    await crypto.subtle.sign("Ed25519", privateKey, new Uint8Array(statement)),
  );
  const { sessionToken } = await call<{ sessionToken: string }>(asking, "Authenticate", {
    token,
    origin,
    publicKey: toBase64(publicKey),
    identity: toBase64(name),
    clientNonce: toBase64(clientNonce),
    relayNonce: nonce,
    signature: toBase64(signature),
  });
  return encodeBase64url(fromBase64(sessionToken));
}

async function call<T>(
  { origin }: RelayAccess,
  operation: string,
  body: CallBody,
  session?: string,
): Promise<T> {
  const response = await fetch(`${origin}${service}/${operation}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "connect-protocol-version": "1",
      ...(session !== undefined && { "static-session": session }),
    },
    body: padded(body),
    credentials: "omit",
    referrerPolicy: "no-referrer",
    signal: AbortSignal.timeout(deadlineMs),
  }).catch(() => {
    const text =
      `The relay does not answer at ${origin}, or this browser does not trust its certificate. ` +
      `Open ${origin}/health in this browser: it shows which, and lets you accept a certificate of your own machine`;
    throw new Error(text);
  });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(`The relay refused: ${answer.message ?? response.status}`);
  return answer;
}

/** Requests fill whole cells, as everywhere: their length tells nothing of them. */
function padded(body: CallBody): string {
  const text = JSON.stringify(body);
  return text + " ".repeat((limits.cellBytes - text.length % limits.cellBytes) % limits.cellBytes);
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}
