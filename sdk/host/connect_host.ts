/**
 * An agent through its host. Options that only a new host needs are gathered when one has to be
 * started.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import { isSameApi } from "../../proto/mod.ts";
import type { Abortable } from "../base/abortable.ts";
import { createError, invalidArgument } from "../base/errors.ts";
import type { ConnectOptions } from "../api/connect_options.ts";
import { findHost, type HostOptions } from "./find_host.ts";
import type { LinkParts } from "./host_link.ts";
import { RemoteClient } from "./remote_client.ts";
import type { HostedPlatform } from "../platform/host_platform.ts";
import type { PlatformSettings } from "../platform/platform.ts";
import { isTrustGiven } from "../session/open_session.ts";

/** Options that are known before a host has to be started. */
export interface HostedOptions extends Abortable {
  readonly dataDir: string;
  /**
   * A short mark of what the host was started with: a host with another mark is asked to go when it
   * is idle.
   */
  readonly settings?: string | undefined;
  /** The rest, which only a new host needs. */
  readonly options: () => Promise<ConnectOptions>;
}

/** Throws `StaticError`. */
export async function connectHost(
  options: ConnectOptions,
  platform: HostedPlatform,
): Promise<RemoteClient> {
  const { dataDir, signal } = options;
  const whole = (): Promise<ConnectOptions> => Promise.resolve(options);
  return await connectHostWith({ dataDir, signal, options: whole }, platform);
}

/** Throws `StaticError`. */
export async function connectHostWith(
  hosted: HostedOptions,
  platform: HostedPlatform,
): Promise<RemoteClient> {
  const { hosts } = platform;
  if (hosts === undefined) {
    throw invalidArgument(
      'There are no hosts in browsers and on Windows; connect without host: "auto"',
    );
  }
  const { dataDir, settings, signal } = hosted;
  const options = async (): Promise<HostOptions> => {
    const { fields, identity } = await hostOptions(await hosted.options(), platform);
    return { identity, fields: { ...fields, settings } };
  };
  const finding = { hosts, runtime: platform, dataDir, options, settings };
  const find: LinkParts["find"] = (onEvent, stop) => findHost({ ...finding, onEvent }, stop);
  return await RemoteClient.open({ find, runtime: platform }, signal);
}

/**
 * The options for a host. A host may not read its user's files, so their content is passed to it.
 */
async function hostOptions(
  options: ConnectOptions,
  platform: HostedPlatform,
): Promise<HostOptions> {
  const { token, identity, tls, endpoint, passphrase, transport, cover, link } = options;
  if (typeof token === "function") {
    throw invalidArgument("A host cannot call a function for tokens; give apiKey, or a token");
  }
  if (options.tap !== undefined) {
    throw invalidArgument('`tap` sees the cells of this process; connect without host: "auto"');
  }
  if (typeof options.trust === "object") {
    throw invalidArgument(
      "A host reads the agents that its user knows from a file; give its path in `trust`, or nothing",
    );
  }
  if (typeof options.badge === "function") {
    throw invalidArgument("A host cannot call a function for badges; give the path of a file");
  }
  const settings = await platform.readSettings({ apiUrl: options.apiUrl });
  const trustFile = options.trust ?? platform.findTrust();
  const caFile = tls === undefined ? settings.caFile : tls.caFile;
  const fromFile = caFile === undefined ? [] : [await readCaFile(caFile, platform)];
  // The authority that the CLI has pinned, as without a host.
  const pinned = tls === undefined && caFile === undefined ? settings.relayCaFile : undefined;
  const { url, key } = credentialsFor(options, settings);
  const relay = endpoint ?? settings.relayUrl;
  const trust = {
    caCerts: [...tls?.caCerts ?? [], ...fromFile],
    relayCaCerts: pinned === undefined
      ? tls?.relayCaCerts ?? []
      : [await readCaFile(pinned, platform)],
    certificateHashes: (tls?.certificateHashes ?? []).map((hash) =>
      typeof hash === "string" ? hash : bytesToHex(hash)
    ),
  };
  return {
    identity: typeof identity === "string" ? new TextEncoder().encode(identity) : identity,
    fields: {
      // Beside a link, an address of the user says more than a saved one: a host must be able to
      // tell them apart.
      ...(link !== undefined && { link, saved: pick(settings) }),
      endpoint: relay,
      apiUrl: url,
      apiKey: key,
      token,
      passphrase,
      transport,
      cover,
      ...(isTrustGiven(options, settings) && { tls: trust }),
      trustFile,
      badge: options.badge === false ? "" : options.badge,
      ...(options.repair === true && { repair: true }),
      damaged: options.damaged,
      receipts: options.receipts,
    },
  };
}

/** With a link, and for a token of another place, nothing that is saved counts as given. */
function credentialsFor(
  { token, apiKey, apiUrl, endpoint, link }: ConnectOptions,
  settings: PlatformSettings,
): { readonly url: string | undefined; readonly key: string | undefined } {
  if (link !== undefined || (token !== undefined && endpoint !== undefined)) {
    return { url: apiUrl, key: apiKey };
  }
  const usesSettings = token === undefined && apiKey === undefined;
  const usesKey = usesSettings && (apiUrl === undefined || isSameApi(apiUrl, settings.apiUrl));
  return { url: apiUrl ?? settings.apiUrl, key: usesKey ? settings.apiKey : apiKey };
}

function pick({ apiUrl, apiKey }: PlatformSettings): Pick<PlatformSettings, "apiUrl" | "apiKey"> {
  return { apiUrl, apiKey };
}

async function readCaFile(path: string, { readTextFile }: HostedPlatform): Promise<string> {
  try {
    return await readTextFile(path);
  } catch (cause) {
    throw createError("invalid_request", `Cannot read the certificates in ${path}`, { cause });
  }
}
