/**
 * The API that an agent uses, for what is none of the relay's business: where everything is, and
 * passes for guests.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import {
  type AgentId,
  type ApiAccess,
  type ApiOutcome,
  certificateOfPem,
  certificatesOfPem,
  createApiKey,
  createBadge,
  type IssuerDocument,
  type JoinLink,
  type LinkAuthority,
  listBadges,
  maxLinkRelays,
  parseApiKey,
  parseIssuerDocument,
  readDiscovery,
  readServiceIssuer,
  revokeApiKey,
  type ServiceDiscovery,
  someRelays,
} from "../../proto/mod.ts";
import { codeOfHttp, createError, type StaticError } from "../base/errors.ts";
import { uniform } from "../base/runtime.ts";
import type { Platform } from "../platform/platform.ts";
import type { CertificateTrust } from "../transport/transport.ts";

export interface AgentService {
  /** The API's address as `parseApiUrl` returns it. */
  readonly apiUrl: string;
  /**
   * SHA-256, in hexadecimal, of the authorities by which this agent knows API and relay;
   * `noAuthority` for the public ones alone. None when it knows the relay by its own certificate.
   */
  readonly authorities: readonly string[];
  /** The beginning of the API key, which is no secret. */
  readonly keyPrefix: string | undefined;
  /** Returns the description of the service that a link carries. Throws `StaticError`. */
  describe(): Promise<ServicePlace>;
  /** An API key for an agent without an account, good for one channel. Throws `StaticError`. */
  createPass(pass: NewPass): Promise<{ readonly id: string; readonly apiKey: string }>;
  /** Also when it is revoked already. Throws `StaticError`. */
  revokePass(id: string): Promise<void>;
  /** The keys of the badges that this service issues. Throws `StaticError`, and `WireError`. */
  readIssuer(): Promise<IssuerDocument>;
  /** A badge of the account of the key, as text. Throws `StaticError`. */
  askBadge(agentId: AgentId): Promise<string>;
  /**
   * All agents that have a badge of that account; undefined if they are too many to be listed.
   * Throws `StaticError`.
   */
  badgedAgents(): Promise<ReadonlySet<AgentId> | undefined>;
}

export type ServicePlace = Pick<JoinLink, "apiUrl" | "relayUrls" | "authority">;

export interface NewPass {
  readonly name: string;
  readonly channelId: string;
  readonly expiresAtMs: number;
  /** A month. */
  readonly messages: number;
}

/** How to reach an API, and whom to trust. */
export interface ServiceParts extends Pick<Platform, "openHttp" | "after"> {
  /** The API's address as `parseApiUrl` returns it. */
  readonly apiUrl: string;
  readonly apiKey: string | undefined;
  readonly trust: { readonly api: CertificateTrust; readonly relay: CertificateTrust };
}

const timeoutMs = 15_000;
/** In place of an authority's SHA-256: the public authorities are enough. */
export const noAuthority = "none";

export function createService(parts: ServiceParts & Pick<Platform, "randomBytes">): AgentService {
  const { apiUrl, apiKey, trust, randomBytes } = parts;
  const keyed = async <T>(
    action: string,
    call: (api: ApiAccess, key: string) => Promise<ApiOutcome<T>>,
  ): Promise<T> => {
    if (apiKey === undefined) {
      throw createError(
        "auth_failed",
        `${action}: this agent has a token and no API key; connect it with apiKey`,
      );
    }
    return done(await askApi(parts, (api) => call(api, apiKey)), action, apiUrl);
  };
  return {
    apiUrl,
    authorities: authoritiesOf(trust),
    keyPrefix: apiKey === undefined ? undefined : parseApiKey(apiKey)?.keyPrefix,
    describe: async () => {
      const action = "Cannot make a link";
      const found = done(await askApi(parts, readDiscovery), action, apiUrl);
      const relayUrls = relayUrlsOf(found);
      if (relayUrls.length === 0) {
        const text =
          `${action}: the API at ${apiUrl} does not tell where its relay is; its operator sets STATIC_RELAY_URL`;
        throw createError("invalid_request", text);
      }
      const authority = authorityOf(apiUrl, found, trust);
      // A link has room for some of them; by chance, so that guests spread too.
      const some = someRelays(relayUrls, {
        max: maxLinkRelays,
        random: () => uniform({ randomBytes }),
      });
      return { apiUrl, relayUrls: some, authority };
    },
    createPass: ({ name, channelId, expiresAtMs, messages }) => {
      const traits = {
        kind: "guest",
        channel_id: channelId,
        expires_at: new Date(Math.floor(expiresAtMs)).toISOString(),
        message_limit: messages,
      };
      return keyed(
        "Cannot make a guest pass",
        (api, key) => createApiKey(api, { apiKey: key, name, traits }),
      );
    },
    revokePass: async (id) => {
      const revoke = (api: ApiAccess, key: string): Promise<ApiOutcome<void>> =>
        revokeApiKey(api, { apiKey: key, id });
      await keyed("Cannot revoke the guest pass", async (api, key) => {
        const answer = await revoke(api, key);
        return answer.outcome === "refused" && answer.status === 404
          ? { outcome: "done", value: undefined }
          : answer;
      });
    },
    readIssuer: async () => {
      const found = await askApi(parts, readServiceIssuer);
      const { domain, text } = done(found, "Cannot read the keys of badges", apiUrl);
      return parseIssuerDocument(text, domain);
    },
    askBadge: (agentId) =>
      keyed("Cannot get a badge", (api, key) => createBadge(api, { apiKey: key, agentId })),
    badgedAgents: async () => {
      const action = "Cannot list the agents of this account";
      const { agents, isComplete } = await keyed(action, listBadges);
      return isComplete ? new Set(agents.map(({ agentId }) => agentId)) : undefined;
    },
  };
}

/** One call, with a deadline. */
export async function askApi<T>(
  { apiUrl: url, trust, openHttp, after }: Omit<ServiceParts, "apiKey">,
  call: (api: ApiAccess) => Promise<ApiOutcome<T>>,
  signal?: AbortSignal,
): Promise<ApiOutcome<T>> {
  const [http, late] = [openHttp(trust.api), new AbortController()];
  const cancel = after(
    timeoutMs,
    () => late.abort(new Error(`No answer within ${timeoutMs / 1000} s`)),
  );
  try {
    const signals = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
    return await call({
      url,
      fetch: (address, init) => http.request(address, init),
      signal: signals,
    });
  } finally {
    cancel();
    http.close();
  }
}

export function relayUrlsOf({ relayUrl }: ServiceDiscovery): string[] {
  return (relayUrl ?? "").split(",").map((each) => each.trim().replace(/\/$/, "")).filter((each) =>
    each !== ""
  );
}

/**
 * An API whose own certificate is of a private authority cannot be asked without it, so that the
 * link has it whole. Elsewhere the API tells of the relay's authority, and the link says which one
 * it has to be.
 */
function authorityOf(
  apiUrl: string,
  { ca }: ServiceDiscovery,
  { api, relay }: ServiceParts["trust"],
): LinkAuthority | undefined {
  if (apiUrl.startsWith("https:") && api.caCerts.length > 0) return whole(api.caCerts);
  if (ca !== undefined) return { kind: "hash", sha256: sha256(derOf(ca.pem)) };
  return relay.caCerts.length > 0 ? whole(relay.caCerts) : undefined;
}

function authoritiesOf({ api, relay }: ServiceParts["trust"]): string[] {
  const certificates = [...api.caCerts, ...relay.caCerts].flatMap(certificatesOfPem);
  const found = certificates.flatMap((der) => der === undefined ? [] : [bytesToHex(sha256(der))]);
  if (found.length === 0 && relay.certificateHashes.length === 0) return [noAuthority];
  return [...new Set(found)];
}

function whole(pems: readonly string[]): LinkAuthority {
  return { kind: "certificate", der: derOf(pems.join("\n")) };
}

function derOf(pem: string): Uint8Array {
  const der = certificateOfPem(pem);
  if (der !== undefined) return der;
  throw createError(
    "invalid_request",
    "Cannot make a link: it takes one authority, and here are several or none in PEM form",
  );
}

/** Throws `StaticError`. */
export function done<T>(answer: ApiOutcome<T>, action: string, apiUrl: string): T {
  if (answer.outcome === "done") return answer.value;
  throw faultOf(answer, action, apiUrl);
}

function faultOf(
  answer: Exclude<ApiOutcome<unknown>, { readonly outcome: "done" }>,
  action: string,
  apiUrl: string,
): StaticError {
  if (answer.outcome === "unreachable") {
    const text =
      `${action}: cannot reach the API at ${apiUrl}; check the network, and that the API is running`;
    return createError("connection_error", text, {
      cause: answer.cause,
      unreachable: { service: "api", url: apiUrl },
    });
  }
  if (answer.outcome === "unusable") {
    return createError(
      "connection_error",
      `${action}: ${apiUrl} sent ${answer.problem}; is it the address of the API?`,
    );
  }
  const { code, text = `it returned HTTP status ${answer.status}`, retryAfterMs } = answer;
  const options = retryAfterMs === undefined ? {} : { retryAfterMs };
  return createError(
    codeOfHttp(answer.status, code) ?? "connection_error",
    `${action}: the API at ${apiUrl} refused (${text})`,
    options,
  );
}
