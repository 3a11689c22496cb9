/** An agent through its host. Options that only a new host needs are gathered when one has to be started. */
import { createError, invalidArgument } from "./base/errors.ts";
import type { ConnectOptions } from "./connect_options.ts";
import { findHost, type HostOptions } from "./host/finding.ts";
import { RemoteClient } from "./host/remote_client.ts";
import type { HostedPlatform } from "./platform/host_platform.ts";

/** Throws `StaticError`. */
export async function connectHost(options: ConnectOptions, platform: HostedPlatform): Promise<RemoteClient> {
  const { hosts } = platform;
  if (hosts === undefined) throw invalidArgument('There are no hosts in browsers; connect without host: "auto"');
  const { dataDir, signal } = options;
  return await RemoteClient.open(
    {
      find: (onEvent, stop) =>
        findHost({ hosts, runtime: platform, dataDir, options: () => hostOptions(options, platform), onEvent }, stop),
    },
    platform,
    signal,
  );
}

/** What a host is given. It may read no file of its user: what they hold goes with it. */
async function hostOptions(options: ConnectOptions, platform: HostedPlatform): Promise<HostOptions> {
  const { token, identity, tls, apiKey, apiUrl, endpoint, passphrase, transport, cover } = options;
  if (typeof token === "function") {
    throw invalidArgument("A host cannot call a function for tokens; give apiKey, or a token");
  }
  if (options.tap !== undefined) {
    throw invalidArgument('`tap` sees the cells of this process; connect without host: "auto"');
  }
  const settings = await platform.readSettings();
  const caFile = tls === undefined ? settings.caFile : tls.caFile;
  const fromFile = caFile === undefined ? [] : [await readCaFile(caFile, platform)];
  const usesSettings = token === undefined && apiKey === undefined;
  const url = apiUrl ?? settings.apiUrl;
  const key = usesSettings && (apiUrl === undefined || apiUrl === settings.apiUrl) ? settings.apiKey : apiKey;
  const relay = endpoint ?? settings.relayUrl;
  const trust = {
    caCerts: [...tls?.caCerts ?? [], ...fromFile],
    certificateHashes: tls?.certificateHashes ?? [],
  };
  return {
    identity: typeof identity === "string" ? new TextEncoder().encode(identity) : identity,
    fields: {
      ...(relay !== undefined && { endpoint: relay }),
      ...(url !== undefined && { apiUrl: url }),
      ...(key !== undefined && { apiKey: key }),
      ...(token !== undefined && { token }),
      ...(passphrase !== undefined && { passphrase }),
      ...(transport !== undefined && { transport }),
      ...(cover !== undefined && { cover }),
      ...(trust.caCerts.length + trust.certificateHashes.length > 0 && { tls: trust }),
      ...(options.repair === true && { repair: true }),
      ...(options.damaged !== undefined && { damaged: options.damaged }),
    },
  };
}

async function readCaFile(path: string, { readTextFile }: HostedPlatform): Promise<string> {
  try {
    return await readTextFile(path);
  } catch (cause) {
    throw createError("invalid_request", `Cannot read the certificates in ${path}`, { cause });
  }
}
