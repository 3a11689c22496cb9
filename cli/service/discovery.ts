/**
 * Finds the relay and what to trust from the API's address alone. The authority of a private installation is pinned on first
 * use: its fingerprint is shown, it is kept beside the credentials, and another one is refused later.
 */
import { isLoopback, readDiscovery, type ServiceDiscovery } from "../../proto/mod.ts";
import type { Context } from "../command.ts";
import { Failure } from "../failure.ts";
import { openAccess } from "./api.ts";
import { localRelay, type Settings } from "./settings.ts";

export interface FoundService extends Settings {
  /** Where a development machine puts its mail. */
  readonly mailFolder: string | undefined;
}

const timeoutMs = 5_000;

/** Settings with what the API tells where nobody else has said it. An API that tells nothing changes nothing. */
export async function findService(context: Context, settings: Settings): Promise<FoundService> {
  const told = await ask(context, settings);
  const relayUrl = settings.relayUrl ?? told?.relayUrl ?? (isLoopback(settings.apiUrl) ? localRelay : undefined);
  const found = { ...settings, relayUrl, mailFolder: told?.mailFolder };
  if (settings.caFile !== undefined || told?.ca === undefined) return found;
  return { ...found, ...await pin(context, settings.apiUrl, told.ca) };
}

/** Nothing is asked when everything is known. */
export async function findRelay(context: Context, settings: Settings): Promise<Settings> {
  return settings.relayUrl !== undefined && settings.caFile !== undefined
    ? settings
    : await findService(context, settings);
}

async function ask({ platform }: Context, { apiUrl: url, caCerts }: Settings): Promise<ServiceDiscovery | undefined> {
  const answer = await readDiscovery(openAccess(platform, { url, caCerts, timeoutMs }));
  return answer.outcome === "done" ? answer.value : undefined;
}

async function pin(
  { platform: { files, folders }, output }: Context,
  apiUrl: string,
  { pem, sha256 }: { readonly pem: string; readonly sha256: string },
): Promise<Pick<Settings, "caFile" | "caCerts">> {
  const name = new URL(apiUrl).host.replaceAll(/[^\w.-]/g, "_");
  const path = files.join(folders.credentialsFile, "..", `ca_${name}.pem`);
  const pinned = await files.read(path).catch(() => undefined);
  if (pinned !== undefined && pinned.trim() !== pem.trim()) {
    throw new Failure(
      "connection_error",
      `The authority of ${apiUrl} is another one than before, now SHA-256 ${sha256}`,
      {
        advice: `If you expect that, delete ${path} and try again`,
      },
    );
  }
  if (pinned === undefined) {
    await files.writePrivate(path, pem);
    await output.note(`Trusting the authority of ${apiUrl} from now on: SHA-256 ${sha256}`, `  It is kept in ${path}`);
  }
  return { caFile: path, caCerts: [pem] };
}
