/**
 * The files and folders that API and relay may read and write, as values of Deno's flags. `start`
 * asks for them, and so do the tasks of both parts (`permitted/main.ts`): a shell cannot look at
 * what may be a key without telling it to every process.
 */
import { fileURLToPath } from "node:url";

export type VariableOf = (name: string) => string | undefined;

interface Paths {
  /** Variables that name files, which may come later. */
  readonly files: readonly string[];
  /** Variables that name files of keys. Somebody may have put the key itself into one. */
  readonly keys: readonly string[];
  /** Variables of secrets, which may be `file:` and a path. */
  readonly secrets: readonly string[];
  readonly code: () => readonly string[];
}

/** Packages whose files, beside their code, the embedded database reads. */
const databasePackages = ["@electric-sql/pglite", "@electric-sql/pglite-prepopulatedfs"];

/** The API reads its migrations, the code of its threads, and the console as it was built. */
function apiCode(): string[] {
  const own = ["api", "dist/console", "migrations"].map((name) =>
    new URL(`../../${name}`, import.meta.url)
  );
  const packages = databasePackages.map((name) => new URL("..", import.meta.resolve(name)));
  return [...own, ...packages].map((url) => fileURLToPath(url));
}

const paths = {
  api: {
    files: ["STATIC_TLS_CERT", "STATIC_CA_FILE", "STATIC_DATABASE_CA"],
    keys: ["STATIC_TLS_KEY", "STATIC_JWT_KEYS"],
    secrets: ["DATABASE_URL", "STATIC_ADMIN_SECRET", "STATIC_RELAY_SECRET", "STATIC_SMTP_URL"],
    code: apiCode,
  },
  relay: {
    files: ["STATIC_TLS_CERT", "STATIC_NATS_CA"],
    keys: ["STATIC_TLS_KEY", "STATIC_NATS_CREDENTIALS"],
    secrets: ["STATIC_RELAY_SECRET"],
    code: () => [],
  },
} satisfies Record<"api" | "relay", Paths>;

export function readableBy(part: "api" | "relay", variable: VariableOf): string {
  const { files, keys, secrets, code }: Paths = paths[part];
  const named = files.flatMap((name) => variable(name) || []);
  const ofKeys = keys.flatMap((name) => variable(name) || []).filter(isFile);
  const ofSecrets = secrets.flatMap((name) => /^file:(.+)$/.exec(variable(name) ?? "")?.[1] ?? []);
  return pathList([dataDirOf(variable), ...named, ...ofKeys, ...ofSecrets, ...code()]);
}

export function writableBy(variable: VariableOf): string {
  return pathList([dataDirOf(variable)]);
}

/**
 * In the data directory that the parts share: the keys and files of nodes and of several relays.
 */
export function keptFromApi(variable: VariableOf): string {
  return pathList(["nats", "relays"].map((name) => `${dataDirOf(variable)}/${name}`));
}

/** Commas stand between paths, and two for one that belongs to a path. */
export function pathList(paths: readonly string[]): string {
  return paths.map((path) => path.replaceAll(",", ",,")).join(",");
}

function dataDirOf(variable: VariableOf): string {
  return variable("STATIC_DATA_DIR") || ".static";
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
