/**
 * From a link to the options that connect an agent. The relay, and whom to trust, come from the API that the link names and are
 * compared with the link: a link alone sends no token anywhere. Its authority is trusted with its own pass and never with a key
 * of the user: a forged link must not win one. A data directory belongs to the service that it was last connected to, and a link
 * does not lead it to another: that one would learn its id and its channels.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import {
  certificateOfPem,
  type JoinLink,
  parseApiUrl,
  parseJoinLink,
  pemOfCertificate,
  readDiscovery,
  type ServiceDiscovery,
} from "../proto/mod.ts";
import { createError, isCode, type StaticError } from "./base/errors.ts";
import type { Platform } from "./platform/platform.ts";
import { decodeFields, encodeFields, type RecordStore } from "./store/mod.ts";
import type { RelayOptions } from "./session/open_session.ts";
import { askApi, done, relayUrlsOf } from "./session/service.ts";
import type { TlsOptions } from "./session/tls_options.ts";

/** The service that this agent is of, and the authority by which a link knew it. */
const [kind, id] = ["service", "link"] as const;
const noAuthority = "none";
/** Instead of an authority, when the agent was connected with a key of its own: then the user's settings say whom to trust. */
const ownKey = "own";

type Store = Pick<RecordStore, "get" | "put">;

/** The options from a link, or from the user. */
export interface LinkedOptions<Options> {
  readonly options: Options;
  /** To be called when the connection stands, with the address of the API if it is known. */
  readonly remember: (apiUrl: string | undefined) => Promise<void>;
  /** An error of connecting, in words about the link. */
  readonly explain: (error: unknown) => unknown;
}

/** Without a link, the options as they are. Throws `StaticError`, and `WireError` for a link that is none. */
export async function readLinkOptions<Options extends RelayOptions>(
  given: Options,
  store: Store,
  platform: Platform,
): Promise<LinkedOptions<Options>> {
  const remember = (apiUrl: string | undefined): Promise<void> => rememberOwn(store, apiUrl);
  const asGiven = { options: given, remember, explain: (error: unknown) => error };
  if (given.link === undefined) return asGiven;
  const link = parseJoinLink(given.link);
  const { apiUrl, pass } = link;
  const before = await readService(store);
  // An address that the user gives beside the link is the user's own word.
  if (before !== undefined && before.apiUrl !== apiUrl && given.apiUrl === undefined) throw elsewhere(apiUrl, before);
  if (await hasOwnKey(given, apiUrl, platform)) return { ...asGiven, options: { ...given, apiUrl } };
  if (pass === undefined) {
    const text =
      `Cannot use the link: it has no guest pass, and this agent has no key for ${apiUrl}; ask for a link with a ` +
      `pass, or make an account there (static signup --api-url ${apiUrl}) and give apiUrl and apiKey`;
    throw createError("auth_failed", text);
  }
  const fingerprint = fingerprintOf(link);
  if (before !== undefined) compareWithBefore(before, { apiUrl, fingerprint });
  const found = await discover(link, platform, given.signal);
  const tls = trustOf(link, found, platform);
  const { token: _, ...rest } = given;
  return {
    options: { ...rest, apiUrl, apiKey: pass, endpoint: relayOf(link, found), tls } as Options, // cast: only the token is gone, which is optional
    remember: () => store.put(kind, id, encodeFields([apiUrl, fingerprint])),
    explain: (error) => isCode(error, "auth_key_invalid", "account_suspended") ? passRefused(error) : error,
  };
}

/** One that was given, or saved, together with this very address: no other is sent there. */
async function hasOwnKey(given: RelayOptions, apiUrl: string, platform: Platform): Promise<boolean> {
  const isHere = (url: string | undefined): boolean => url !== undefined && parseApiUrl(url) === apiUrl;
  if (given.apiKey !== undefined || given.token !== undefined) return isHere(given.apiUrl);
  const settings = await platform.readSettings().catch(() => platform.readSettings({ withoutFile: true }));
  return settings.apiKey !== undefined && isHere(settings.apiUrl) &&
    (given.apiUrl === undefined || isHere(given.apiUrl));
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
  const answer = await askApi({ ...platform, openHttp, apiUrl, trust: { api, relay: api } }, readDiscovery, signal);
  signal?.throwIfAborted();
  return done(answer, "Cannot use the link", apiUrl);
}

/** Those of the API, as far as the link names them. */
function relayOf({ apiUrl, relayUrls }: JoinLink, found: ServiceDiscovery): string {
  const told = relayUrlsOf(found);
  const shared = relayUrls.length === 0 ? told : told.filter((each) => relayUrls.includes(each));
  if (shared.length > 0) return shared.join(",");
  const text = `Cannot use the link: the API at ${apiUrl} names other relays than the link does; ask for a new link`;
  throw createError("link_invalid", text);
}

function trustOf(link: JoinLink, { ca, certificateHashes }: ServiceDiscovery, { runtime }: Platform): TlsOptions {
  const { apiUrl, authority } = link;
  const isBrowser = runtime === "browser";
  if (authority?.kind === "certificate") {
    // A browser takes no authority from a page; it takes the hash of the relay's own certificate.
    return isBrowser ? { certificateHashes } : { caCerts: [pemOfCertificate(authority.der)] };
  }
  const der = ca && certificateOfPem(ca.pem);
  const told = ca === undefined ? noAuthority : der === undefined ? "unreadable" : bytesToHex(sha256(der));
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
  readonly apiUrl: string;
  readonly fingerprint: string;
}

async function readService(store: Store): Promise<KnownService | undefined> {
  const stored = await store.get(kind, id);
  if (stored === undefined) return undefined;
  const fields = decodeFields(stored, kind);
  return { apiUrl: fields.text(0), fingerprint: fields.text(1) };
}

/** The service of an agent with a key of its own. An authority that a link has shown for the same address is kept. */
async function rememberOwn(store: Store, apiUrl: string | undefined): Promise<void> {
  if (apiUrl === undefined || (await readService(store))?.apiUrl === apiUrl) return;
  await store.put(kind, id, encodeFields([apiUrl, ownKey]));
}

/** A data directory is of one service, known by one authority: another relay would know nothing of its channels. */
function compareWithBefore(before: KnownService, { apiUrl, fingerprint }: KnownService): void {
  if (before.apiUrl !== apiUrl) throw elsewhere(apiUrl, before);
  if (before.fingerprint === ownKey || before.fingerprint === fingerprint) return;
  throw changed(apiUrl, { wanted: before.fingerprint, found: fingerprint });
}

function elsewhere(apiUrl: string, before: KnownService): StaticError {
  const text =
    `Cannot use the link: it is for ${apiUrl}, and this data directory for ${before.apiUrl}; give the agent ` +
    "of another service a directory of its own";
  return createError("invalid_request", text);
}

function changed(apiUrl: string, { wanted, found }: { readonly wanted: string; readonly found: string }): StaticError {
  const text = `Cannot use the link: the authority of ${apiUrl} is another one than it should be. Expected SHA-256 ` +
    `${wanted}, found ${found}. Nothing was sent there; ask its operator which is right`;
  return createError("certificate_changed", text);
}

function passRefused(cause: unknown): StaticError {
  const text =
    "The link's guest pass has expired, is used up or was revoked; ask for a new link, or use an account of " +
    "your own";
  return createError("auth_key_invalid", text, { cause });
}
