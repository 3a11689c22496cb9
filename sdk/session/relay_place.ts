/**
 * Where the relay is and whom to trust there: what the user says, and what the API tells. An
 * authority that the API tells of vouches for the relays that it names, and for no other: an
 * endpoint that it does not name is used as it was given.
 */
import { parseApiUrl, readDiscovery, relaysOf, type ServiceDiscovery } from "../../proto/mod.ts";
import { codeOfHttp, createError } from "../base/errors.ts";
import type { Platform } from "../platform/platform.ts";
import { type Endpoint, parseEndpoints } from "../transport/endpoint.ts";
import type { CertificateTrust } from "../transport/transport.ts";
import { askApi, done, relayUrlsOf, type ServiceParts } from "./service.ts";
import { readTlsOptions } from "./tls_options.ts";

export interface RelayPlace {
  readonly endpoints: readonly Endpoint[];
  /** The authorities by which the service is known: the user's, or that of the API. */
  readonly trust: CertificateTrust;
  /** Added to the error when none of them leads to a relay. */
  readonly note?: string;
}

export interface PlaceOptions {
  /** The endpoint as the user wrote it. */
  readonly endpoint: string | undefined;
  readonly apiUrl: string | undefined;
  readonly trust: ServiceParts["trust"];
  /**
   * Whether somebody has said whom to trust as the relay at the endpoint: the API then says nothing
   * about that.
   */
  readonly isTrustGiven: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Throws `StaticError`, and the signal's reason. */
export async function findRelay(options: PlaceOptions, platform: Platform): Promise<RelayPlace> {
  const { endpoint, trust, isTrustGiven, signal } = options;
  const apiUrl = options.apiUrl === undefined ? undefined : parseApiUrl(options.apiUrl);
  if (endpoint === undefined) return await discover(apiUrl, options, platform);
  const given = { endpoints: parseEndpoints(endpoint, trust.relay), trust: trust.relay };
  if (apiUrl === undefined || (isTrustGiven && haveTcp(given.endpoints))) return given;
  const answer = await askApi({ ...platform, apiUrl, trust }, readDiscovery, signal);
  signal?.throwIfAborted();
  if (answer.outcome !== "done") {
    return { ...given, note: `the API at ${apiUrl} could not be asked for its relays` };
  }
  const authority = isTrustGiven
    ? trust.relay
    : await authorityOf(answer.value, trust.relay, platform);
  return nameRelays(given, { apiUrl, told: parseTold(answer.value, authority), trust: authority });
}

/** Whether each relay has a TCP address. */
function haveTcp(endpoints: readonly Endpoint[]): boolean {
  const relays = relaysOf(endpoints.map(({ origin }) => origin));
  return relays.every((relay) =>
    endpoints.some((each, index) => relays[index] === relay && isTcp(each))
  );
}

/**
 * Finds each endpoint among the relays that the API names. One that is found has that relay's TCP
 * address, unless the user named one, and its authority.
 */
export function nameRelays(
  { endpoints, trust }: RelayPlace,
  api: {
    readonly apiUrl: string;
    readonly told: readonly Endpoint[];
    readonly trust: CertificateTrust;
  },
): RelayPlace {
  const { apiUrl, told } = api;
  const relays = relaysOf(told.map(({ origin }) => origin));
  const isUnnamed = (one: Endpoint): boolean => !told.some((other) => isSamePort(one, other));
  // A browser's `fetch` can check no hash of a certificate: it trusts whom the browser trusts, as
  // without the API.
  const named = (one: Endpoint): Endpoint =>
    isTcp(one) && api.trust.certificateHashes.length > 0
      ? { ...one, trust }
      : { ...one, trust: api.trust };
  const found = endpoints.flatMap((one, index) => {
    if (isUnnamed(one)) return [one];
    const relay = relays[told.findIndex((other) => isSamePort(one, other))];
    // On the host that the user named: the API says which port, and never where else the agent goes
    // with its token.
    const tcp = told.filter((other, place) =>
      relays[place] === relay && isTcp(other) && other.host === one.host
    );
    if (isTcp(one)) return (tcp.length > 0 ? tcp : [one]).map(named);
    const next = endpoints[index + 1];
    return [one, ...(next !== undefined && isTcp(next) ? [] : tcp)].map(named);
  });
  const unnamed = endpoints.filter(isUnnamed);
  const place = { endpoints: found, trust: unnamed.length < endpoints.length ? api.trust : trust };
  if (unnamed.length === 0) return place;
  const [which, names] = [unnamed, told].map((list) => list.map(({ origin }) => origin).join(", "));
  const note = told.length === 0
    ? `the API at ${apiUrl} names no relay`
    : `the endpoint given, ${which}, is not among the relays that the API at ${apiUrl} names: ${names}`;
  return { ...place, note };
}

/**
 * Asks the API where its relay is, and, where nobody else has said it, whom to trust. Throws
 * `StaticError`.
 */
async function discover(
  apiUrl: string | undefined,
  { trust, isTrustGiven, signal }: PlaceOptions,
  platform: Platform,
): Promise<RelayPlace> {
  if (apiUrl === undefined) {
    throw createError("invalid_request", "Cannot find the relay: give endpoint, or apiUrl");
  }
  const answer = await askApi({ ...platform, apiUrl, trust }, readDiscovery, signal);
  signal?.throwIfAborted();
  if (answer.outcome === "unreachable") {
    throw createError("connection_error", `Cannot reach the API at ${apiUrl}`, {
      cause: answer.cause,
    });
  }
  if (answer.outcome === "refused" && codeOfHttp(answer.status) !== undefined) {
    done(answer, "Cannot find the relay", apiUrl);
  }
  if (answer.outcome !== "done" || answer.value.relayUrl === undefined) {
    throw createError(
      "invalid_request",
      `Cannot find the relay: the API at ${apiUrl} does not tell; give endpoint`,
    );
  }
  const authority = isTrustGiven
    ? trust.relay
    : await authorityOf(answer.value, trust.relay, platform);
  return { endpoints: parseEndpoints(answer.value.relayUrl, authority), trust: authority };
}

/** Returns the authority of the API, where nobody else has said whom to trust. */
async function authorityOf(
  { ca, certificateHashes }: ServiceDiscovery,
  trust: CertificateTrust,
  { runtime, readTextFile }: Platform,
): Promise<CertificateTrust> {
  if (ca === undefined || trust.caCerts.length + trust.certificateHashes.length > 0) return trust;
  // A page cannot give the browser an authority for certificates, so it gives the hash of the
  // relay's own certificate.
  return await readTlsOptions(
    runtime === "browser" ? { certificateHashes } : { caCerts: [ca.pem] },
    readTextFile,
  );
}

/** Without addresses that this version cannot read: none of them is the one that was given. */
function parseTold(found: ServiceDiscovery, trust: CertificateTrust): readonly Endpoint[] {
  return relayUrlsOf(found).flatMap((url) => {
    try {
      return parseEndpoints(url, trust);
    } catch {
      return [];
    }
  });
}

function isSamePort(one: Endpoint, other: Endpoint): boolean {
  return one.host === other.host && one.port === other.port;
}

function isTcp({ scheme }: Endpoint): boolean {
  return scheme !== "quic";
}
