/**
 * From what a user writes to a session: fills in what was not given from the platform's settings,
 * and puts the parts together.
 */
import { isSameApi, parseApiUrl, readUsage } from "../../proto/mod.ts";
import type { Platform, PlatformSettings } from "../platform/platform.ts";
import type { TransportChoice } from "../transport/endpoint.ts";
import { withOptions } from "../transport/tap.ts";
import type { CellTap, HttpClient } from "../transport/transport.ts";
import type { CoverOptions, CoverProfile } from "./cover.ts";
import type { SessionDeps, SessionOptions } from "./options.ts";
import { findRelay } from "./relay_place.ts";
import type { RelaySession } from "./relay_session.ts";
import { askApi, createService, type ServiceParts } from "./service.ts";
import { createRelaySession } from "./session.ts";
import { createTokenSource, type TokenOptions } from "./tokens.ts";
import {
  readCaFile,
  readTlsOptions,
  type TlsOptions,
  withRelayAuthorities,
} from "./tls_options.ts";

/** How to reach the relay and the API, and what the connection looks like from outside. */
export interface RelayOptions extends TokenOptions {
  /**
   * A link that a member has given: it says where the service is and whom to trust, and its guest
   * pass stands in for a key. A key of one's own is used instead when it is given, or saved,
   * together with the link's `apiUrl`.
   */
  readonly link?: string | undefined;
  /**
   * Where the relay is. Several relays of one service are separated by commas: one is taken by
   * chance, and another one when it ends or refuses. When not given, `STATIC_RELAY_URL`, the
   * credentials file if it is of the same API, or what the API at `apiUrl` tells. Of a relay that
   * this API names, the API also tells the TCP address and, without `tls`, whom to trust.
   */
  readonly endpoint?: string | undefined;
  /** `auto` when not given: what the runtime has, in the order in which it serves best. */
  readonly transport?: TransportChoice | undefined;
  /**
   * Whom to trust as the relay and the API beside the authorities that the runtime trusts; `{}` for
   * nobody.
   */
  readonly tls?: TlsOptions | undefined;
  /** Cover traffic, `standard` when not given: a profile by name, or in detail. */
  readonly cover?: CoverProfile | CoverOptions | undefined;
  /**
   * Is shown every cell that goes to the relay, as the relay sees it, and what comes from it. For
   * demonstrations and tests.
   */
  readonly tap?: CellTap | undefined;
  /**
   * In browsers: the address of `static-sdk/browser_worker.js`, of this version, on the page's own
   * origin. With constant cover a worker schedules the cells. Without this option it is started
   * from a `blob:` address, which many security policies refuse; with it `worker-src 'self'` is
   * enough. Other runtimes ignore it.
   */
  readonly workerUrl?: string | undefined;
  /** Gives up connecting when it is aborted; `connect` then rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Exchanges the key for a token, so that a wrong one is told at once, and starts to connect. An API
 * that cannot be reached is an error here; a relay that cannot be is not: the session goes on
 * trying. Throws `StaticError`.
 */
export async function openRelaySession(
  options: RelayOptions,
  agent: Pick<SessionOptions, "identity" | "publicKey" | "sign" | "timing" | "untilMs">,
  platform: Platform,
): Promise<RelaySession> {
  const settings = await settingsFor(options, platform);
  const { nowMs, steadyMs, after, randomBytes, openHttp, dials } = platform;
  const trusted = await readTrusted(options, settings, platform);
  const openApi = (): HttpClient => openHttp(trusted.api);
  const credentials = credentialsOf(options, settings);
  const tokens = createTokenSource(credentials, { openHttp: openApi, nowMs, after });
  if (tokens.renewable) await tokens.get({ signal: options.signal });
  const apiUrl = apiOf(options, credentials, settings);
  const { trust, ...place } = await findRelay({
    endpoint: options.endpoint ?? settings.relayUrl,
    apiUrl,
    trust: trusted,
    isTrustGiven: isTrustGiven(options, settings),
    signal: options.signal,
  }, platform);
  const { transport, cover, tap, workerUrl } = options;
  const connectors = platform.connectors.map((connector) =>
    withOptions(connector, { tap, workerUrl })
  );
  return createRelaySession({ ...agent, ...place, transport, cover }, {
    connectors,
    ...(dials && { dials }),
    tokens,
    nowMs,
    steadyMs,
    after,
    randomBytes,
    ...serviceOf(apiUrl, credentials.apiKey, { api: trusted.api, relay: trust }, platform),
  });
}

/**
 * Undefined when nothing says which API is that of the relay: stored settings belong together, and
 * to no endpoint of the user.
 */
function apiOf(
  options: RelayOptions,
  credentials: TokenOptions,
  settings: PlatformSettings,
): string | undefined {
  const stored = options.endpoint === undefined ? settings.apiUrl : undefined;
  return credentials.apiUrl ?? options.apiUrl ?? stored;
}

/** An authority that the API told of must not vouch for the API itself. */
type ServiceTrust = ServiceParts["trust"];

async function readTrusted(
  { tls }: RelayOptions,
  settings: PlatformSettings,
  platform: Platform,
): Promise<ServiceTrust> {
  const { caFile, relayCaFile } = settings;
  const api = await readTlsOptions(
    tls ?? (caFile === undefined ? {} : { caFile }),
    platform.readTextFile,
  );
  const isPinned = tls === undefined && caFile === undefined && relayCaFile !== undefined;
  const pinned = isPinned
    ? [await readCaFile(relayCaFile, platform.readTextFile)]
    : tls?.relayCaCerts ?? [];
  return { api, relay: withRelayAuthorities(api, pinned) };
}

/**
 * Also by saying that there is nobody beside the authorities of the runtime: `tls: {}`, or a saved
 * relay without one of its own.
 */
export function isTrustGiven({ tls, endpoint }: RelayOptions, settings: PlatformSettings): boolean {
  if (tls !== undefined || settings.caFile !== undefined || settings.relayCaFile !== undefined) {
    return true;
  }
  return endpoint === undefined && settings.isRelaySaved === true;
}

/** The calls to the API; with a key also the use of the plan. */
function serviceOf(
  apiUrl: string | undefined,
  apiKey: string | undefined,
  trust: ServiceTrust,
  { openHttp, after, randomBytes }: Platform,
): Pick<SessionDeps, "usage" | "service"> {
  const url = apiUrl === undefined ? undefined : parseApiUrl(apiUrl);
  if (url === undefined) return {};
  const parts = { apiUrl: url, apiKey, trust, openHttp, after };
  const service = createService({ ...parts, randomBytes });
  if (apiKey === undefined) return { service };
  return {
    service,
    usage: async () => {
      const answer = await askApi(parts, (api) => readUsage(api, apiKey));
      return answer.outcome === "done" ? answer.value : undefined;
    },
  };
}

/** A credentials file that cannot be used is an error only for callers that need it. */
async function settingsFor(
  { endpoint, apiKey, apiUrl, token }: RelayOptions,
  platform: Platform,
): Promise<PlatformSettings> {
  const complete = endpoint !== undefined &&
    (token !== undefined || (apiKey !== undefined && apiUrl !== undefined));
  try {
    return await platform.readSettings({ apiUrl });
  } catch (error) {
    if (!complete) throw error;
    return await platform.readSettings({ withoutFile: true, apiUrl });
  }
}

/**
 * Options of the user are never mixed with stored ones: a stored key belongs to the stored address,
 * not to another.
 */
function credentialsOf(
  { apiKey, apiUrl, token }: TokenOptions,
  stored: Pick<PlatformSettings, "apiKey" | "apiUrl">,
): TokenOptions {
  if (token !== undefined) return { token };
  const url = apiUrl ?? stored.apiUrl;
  const key = apiKey ??
    (apiUrl === undefined || isSameApi(apiUrl, stored.apiUrl) ? stored.apiKey : undefined);
  return { apiKey: key, apiUrl: url };
}
