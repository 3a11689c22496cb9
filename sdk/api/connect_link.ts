/**
 * From a link to the options that connect an agent. The relay, and whom to trust, come from the API
 * that the link names and are compared with the link: a link alone sends no token anywhere. Its
 * authority is trusted with its own pass and never with a key of the user: a forged link must not
 * win one. A data directory belongs to the service that it was last connected to, and a link does
 * not lead it to another: that one would learn its id and its channels. Nor does a link change the
 * authorities by which a user's own key has known the service.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import {
  certificateOfPem,
  isSameApi,
  type JoinLink,
  parseJoinLink,
  pemOfCertificate,
  readDiscovery,
  type ServiceDiscovery,
} from "../../proto/mod.ts";
import { createError, isCode, type StaticError } from "../base/errors.ts";
import type { Platform } from "../platform/platform.ts";
import { decodeFields, encodeFields, type RecordStore } from "../store/mod.ts";
import type { RelayOptions } from "../session/open_session.ts";
import { type AgentService, askApi, done, noAuthority, relayUrlsOf } from "../session/service.ts";
import type { TlsOptions } from "../session/tls_options.ts";

/** The service that this agent is of, and the authority by which it was known. */
const [kind, id] = ["service", "link"] as const;
/** Before the authorities of an agent that was connected with a key or token of its own. */
const ownMark = "own";
/**
 * In place of an address: the agent was connected with a token, and nothing said which API the
 * token is of.
 */
const unknownApi = "unknown";
/** The most items that an error lists. */
const maxShown = 3;

type LinkStore = Pick<RecordStore, "get" | "put">;

type ServiceAddress = Pick<AgentService, "apiUrl" | "authorities">;

/** The options from a link, or from the user. */
export interface LinkedOptions<Options> {
  readonly options: Options;
  /** The agent has the pass of a link: the account of its key is another's. */
  readonly isGuest: boolean;
  /** To be called when the connection stands, with the API if it is known. */
  readonly remember: (service: ServiceAddress | undefined) => Promise<void>;
  /** An error of connecting, in words about the link. */
  readonly explain: (error: unknown) => unknown;
}

/**
 * Without a link, the options as they are. Throws `StaticError`, and `WireError` for a link that is
 * none.
 */
export async function readLinkOptions<Options extends RelayOptions>(
  given: Options,
  store: LinkStore,
  platform: Platform,
): Promise<LinkedOptions<Options>> {
  const remember = (service: ServiceAddress | undefined): Promise<void> =>
    rememberOwn(store, service);
  const asGiven = { options: given, isGuest: false, remember, explain: (error: unknown) => error };
  if (given.link === undefined) return asGiven;
  const link = parseJoinLink(given.link);
  const { apiUrl, pass } = link;
  const before = await readService(store);
  // An address that the user gives beside the link is the user's own word.
  const isNamed = isSameApi(given.apiUrl, apiUrl);
  if (before !== undefined && before.apiUrl !== apiUrl && !isNamed) throw elsewhere(apiUrl, before);
  if (await hasOwnKey(given, apiUrl, platform)) {
    return { ...asGiven, options: { ...given, apiUrl } };
  }
  if (pass === undefined) {
    const text =
      `Cannot use the link: it has no guest pass, and this agent has no key for ${apiUrl}; ask for a link with a ` +
      `pass, or make an account there (static signup --api-url ${apiUrl}) and give apiUrl and apiKey`;
    throw createError("auth_failed", text);
  }
  if (before !== undefined) compareWithBefore(before, link, platform);
  const found = await discover(link, platform, given.signal);
  const tls = trustOf(link, found, platform);
  const { token: _, ...rest } = given;
  return {
    // cast: only the token is gone, which is optional
    options: { ...rest, apiUrl, apiKey: pass, endpoint: relayOf(link, found), tls } as Options,
    isGuest: true,
    remember: () => rememberLink(store, link),
    explain: (error) =>
      isCode(error, "auth_key_invalid", "account_suspended") ? passRefused(error) : error,
  };
}

/** One that was given, or saved, together with this very address: no other is sent there. */
async function hasOwnKey(
  given: RelayOptions,
  apiUrl: string,
  platform: Platform,
): Promise<boolean> {
  if (given.apiKey !== undefined || given.token !== undefined) {
    return isSameApi(given.apiUrl, apiUrl);
  }
  const settings = await platform.readSettings().catch(() =>
    platform.readSettings({ withoutFile: true })
  );
  return settings.apiKey !== undefined && isSameApi(settings.apiUrl, apiUrl) &&
    (given.apiUrl === undefined || isSameApi(given.apiUrl, apiUrl));
}

async function discover(
  { apiUrl, authority }: JoinLink,
  platform: Platform,
  signal: AbortSignal | undefined,
): Promise<ServiceDiscovery> {
  const isOwn = authority?.kind === "certificate" && platform.runtime !== "browser";
  const api = { caCerts: isOwn ? [pemOfCertificate(authority.der)] : [], certificateHashes: [] };
  const openHttp: Platform["openHttp"] = (trust) => {
    try {
      return platform.openHttp(trust);
    } catch (cause) {
      const text = "Cannot use the link: its authority is not a certificate; ask for a new link";
      throw createError("link_invalid", text, { cause });
    }
  };
  const answer = await askApi(
    { ...platform, openHttp, apiUrl, trust: { api, relay: api } },
    readDiscovery,
    signal,
  );
  signal?.throwIfAborted();
  return done(answer, "Cannot use the link", apiUrl);
}

/** Returns the relays of the API, as far as the link names them. */
function relayOf({ apiUrl, relayUrls }: JoinLink, found: ServiceDiscovery): string {
  const told = relayUrlsOf(found);
  const shared = relayUrls.length === 0 ? told : told.filter((each) => relayUrls.includes(each));
  if (shared.length > 0) return shared.join(",");
  const text =
    `Cannot use the link: the API at ${apiUrl} names other relays than the link does; ask for a new link`;
  throw createError("link_invalid", text);
}

function trustOf(
  link: JoinLink,
  { ca, certificateHashes }: ServiceDiscovery,
  { runtime }: Platform,
): TlsOptions {
  const { apiUrl, authority } = link;
  const isBrowser = runtime === "browser";
  if (authority?.kind === "certificate") {
    // A browser takes no authority from a page; it takes the hash of the relay's own certificate.
    return isBrowser ? { certificateHashes } : { caCerts: [pemOfCertificate(authority.der)] };
  }
  const der = ca && certificateOfPem(ca.pem);
  const told = ca === undefined
    ? noAuthority
    : der === undefined
    ? "unreadable"
    : bytesToHex(sha256(der));
  const wanted = fingerprintOf(link);
  if (told !== wanted) throw changed(apiUrl, { wanted, found: told });
  if (ca === undefined) return {};
  return isBrowser ? { certificateHashes } : { relayCaCerts: [ca.pem] };
}

/** SHA-256 of the authority, in hexadecimal. */
function fingerprintOf({ authority }: JoinLink): string {
  if (authority === undefined) return noAuthority;
  return bytesToHex(authority.kind === "hash" ? authority.sha256 : sha256(authority.der));
}

interface KnownService {
  /** Or `unknownApi`. */
  readonly apiUrl: string;
  /** With a key or token of the user's own, not with a link. */
  readonly isOwn: boolean;
  /** The authorities as `AgentService` has them; from a link exactly one. */
  readonly authorities: readonly string[];
}

async function readService(store: LinkStore): Promise<KnownService | undefined> {
  const stored = await store.get(kind, id);
  if (stored === undefined) return undefined;
  const fields = decodeFields(stored, kind);
  const [first = "", ...others] = fields.text(1).split(" ");
  const isOwn = first === ownMark;
  return { apiUrl: fields.text(0), isOwn, authorities: isOwn ? others : [first] };
}

/**
 * The service of an agent with a key or token of its own. The user's word replaces everything that
 * links have shown.
 */
async function rememberOwn(store: LinkStore, service: ServiceAddress | undefined): Promise<void> {
  const before = await readService(store);
  if (service === undefined && before !== undefined) return;
  const { apiUrl, authorities } = service ?? { apiUrl: unknownApi, authorities: [] };
  const text = [ownMark, ...authorities].join(" ");
  if (
    before?.isOwn === true && before.apiUrl === apiUrl &&
    [ownMark, ...before.authorities].join(" ") === text
  ) return;
  await store.put(kind, id, encodeFields([apiUrl, text]));
}

/** The service of a guest. Authorities of the user's own key stay: anybody can make a link. */
async function rememberLink(store: LinkStore, link: JoinLink): Promise<void> {
  const before = await readService(store);
  if (before?.isOwn === true && before.apiUrl === link.apiUrl) return;
  await store.put(kind, id, encodeFields([link.apiUrl, fingerprintOf(link)]));
}

/**
 * A data directory is of one service, known by the same authorities: another relay would know
 * nothing of its channels.
 */
function compareWithBefore(before: KnownService, link: JoinLink, { runtime }: Platform): void {
  const { apiUrl, authority } = link;
  const { authorities, isOwn } = before;
  if (before.apiUrl === unknownApi) return;
  if (before.apiUrl !== apiUrl) throw elsewhere(apiUrl, before);
  const found = fingerprintOf(link);
  if (authorities.includes(found)) return;
  // The user has known the relay by its own certificate. A link that makes nobody an authority of
  // the API does no harm.
  const addsNone = authority?.kind !== "certificate" || runtime === "browser";
  if (isOwn && authorities.length === 0 && addsNone) return;
  throw changed(apiUrl, {
    wanted: authorities.slice(0, maxShown).join(" or ") || noAuthority,
    found,
  });
}

function elsewhere(apiUrl: string, before: KnownService): StaticError {
  if (before.apiUrl === unknownApi) {
    const text =
      `Cannot use the link: it is for ${apiUrl}, and this data directory was used with a token of a service ` +
      "that is not known; if both are the same service, give its address as apiUrl, otherwise another directory";
    return createError("invalid_request", text);
  }
  const text =
    `Cannot use the link: it is for ${apiUrl}, and this data directory for ${before.apiUrl}; give the agent ` +
    "of another service a directory of its own";
  return createError("invalid_request", text);
}

function changed(
  apiUrl: string,
  { wanted, found }: { readonly wanted: string; readonly found: string },
): StaticError {
  const text =
    `Cannot use the link: the authority of ${apiUrl} is another one than it should be. Expected SHA-256 ` +
    `${wanted}, found ${found}. Nothing was sent there; ask its operator which is right`;
  return createError("certificate_changed", text);
}

function passRefused(cause: unknown): StaticError {
  const text =
    "The link's guest pass has expired, is used up or was revoked; ask for a new link, or use an account of " +
    "your own";
  return createError("auth_key_invalid", text, { cause });
}
