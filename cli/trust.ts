/**
 * `trust.json` (`proto/people/trust.ts`) on this machine and in the words of this program: names
 * that this user gave to agents, and domains whose badges the user believes.
 */
import {
  fetchDueIssuers,
  followIssuers,
  formatTrust,
  issuerTimeoutMs,
  type IssuerWeb,
  nobodyKnown,
  parseTrust,
  type Trust,
  WireError,
} from "../proto/mod.ts";
import type { Context, ParsedArguments } from "./command.ts";
import { diskCodeOf, reasonOf } from "./disk.ts";
import { Failure } from "./failure.ts";
import { findRunning } from "./agent_access.ts";
import { readAuthority } from "./service/settings.ts";

/** Between two thoughts of a document that is a day old. */
const thinkMs = 60 * 60 * 1000;

export async function readTrust(
  { platform: { files, folders } }: Pick<Context, "platform">,
): Promise<Trust> {
  const path = folders.trustFile;
  const text = await files.read(path).catch((cause) => {
    throw new Failure(
      diskCodeOf(cause) ?? "store_corrupt",
      `Cannot read ${path}: ${reasonOf(cause)}`,
      { cause },
    );
  });
  if (text === undefined) return nobodyKnown;
  try {
    return parseTrust(text, path);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    const advice = "Correct it, or delete it and begin again with: {} trust name, {} trust add";
    throw new Failure("store_corrupt", error.message, { advice });
  }
}

/**
 * Changes what was read just now, so that what other commands wrote meanwhile stays. Hosts of this
 * user's agents are told, so that programs show it at once.
 */
export async function changeTrust(
  context: Context,
  change: (trust: Trust) => Trust,
): Promise<void> {
  const { platform: { files, folders }, given } = context;
  const trust = change(await readTrust(context));
  const before = await files.read(folders.trustFile);
  await files.writePrivate(folders.trustFile, formatTrust(trust, before));
  for (const name of await files.list(folders.agents)) {
    const as: ParsedArguments = {
      ...given,
      value: (each) => each === "agent" ? name : given.value(each),
    };
    await tellHost({ ...context, given: as });
  }
}

/** The host of the agent, if one runs, reads the user's files again: known agents, its badges. */
export async function tellHost(context: Context): Promise<void> {
  const host = await findRunning(context).catch(() => undefined);
  await host?.call("names").catch(() => {});
  host?.end();
}

/** The service's own certificates do not count: its operator must not become every domain. */
export async function webOf(
  { platform, given }: Context,
  signal = platform.interrupted,
): Promise<IssuerWeb> {
  const authority = given.value("ca-file");
  const caCerts = authority === undefined ? [] : [await readAuthority(authority, platform)];
  return {
    fetch: platform.openHttp(caCerts),
    deadline: () => AbortSignal.any([signal, platform.deadline(issuerTimeoutMs)]),
  };
}

/** Until a person has looked. */
export function changedWords(domain: string, program: string): string {
  return `issuer_keys_changed: it has other keys, which you do not believe. Look at them with: ${program} trust add ${domain}`;
}

/**
 * Keeps the keys of commands that stay up to date: reads documents of domains again that are a day
 * old, until it is disposed of. The host of an agent may not change the user's list, because
 * strangers talk to it.
 */
export function refreshDaily(context: Context): AsyncDisposable {
  const { platform, output } = context;
  const stop = new AbortController();
  const told = new Set<string>();
  const look = async (): Promise<void> => {
    const nowMs = platform.nowMs();
    const web = await webOf(context, stop.signal);
    const fetched = await fetchDueIssuers(await readTrust(context), nowMs, web);
    if (fetched.size === 0 || stop.signal.aborted) return;
    await changeTrust(context, (trust) => followIssuers(trust, fetched, nowMs));
    for (const [domain, { changed }] of (await readTrust(context)).domains) {
      if (!changed || told.has(domain)) continue;
      told.add(domain);
      await output.warn(`${domain}: ${changedWords(domain, platform.program)}`);
    }
  };
  // A list that cannot be read is told by the commands that need it.
  let looking = look().catch(() => {});
  const end = platform.every(thinkMs, () => void (looking = looking.then(look).catch(() => {})));
  return {
    [Symbol.asyncDispose]: async () => {
      end();
      stop.abort();
      await looking;
    },
  };
}
