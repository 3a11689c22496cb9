/**
 * The list of everything that a release runs, as a CycloneDX 1.6 document: each npm package of the
 * lock file with its exact version and the hash that the registry gave for it. The same lock file
 * makes the same document, so two builds can be compared byte by byte.
 */

interface LockEntry {
  readonly integrity: string;
  readonly dependencies?: readonly string[];
  readonly optionalDependencies?: readonly string[];
}

export interface LockFile {
  readonly npm: Readonly<Record<string, LockEntry>>;
}

interface Component {
  readonly type: "library";
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes: readonly { readonly alg: "SHA-512"; readonly content: string }[];
}

export interface Sbom {
  readonly bomFormat: "CycloneDX";
  readonly specVersion: "1.6";
  readonly version: 1;
  readonly metadata: {
    readonly component: { readonly type: "application"; name: string; version: string };
  };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** Returns the document of a release. Throws when an entry of the lock file has no SHA-512 hash. */
export function createSbom(lock: LockFile, version: string): Sbom {
  const keys = Object.keys(lock.npm).sort();
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: { type: "application", name: "static", version } },
    components: deduplicated(keys.map((key) => componentOf(key, lock.npm[key]?.integrity ?? ""))),
    dependencies: keys.map((key) => ({
      ref: purlOf(key),
      dependsOn: dependenciesOf(lock.npm[key]).flatMap((name) => resolve(name, keys)).sort(),
    })).filter(({ ref }, index, all) => all.findIndex((other) => other.ref === ref) === index),
  };
}

function componentOf(key: string, integrity: string): Component {
  const [, base64] = /^sha512-(.+)$/.exec(integrity) ?? [];
  if (base64 === undefined) {
    throw new Error(`Cannot list ${key}: the lock file has no SHA-512 hash for it.`);
  }
  const { name, version } = nameAndVersion(key);
  const content = Uint8Array.fromBase64(base64).toHex();
  const purl = purlOf(key);
  return {
    type: "library",
    "bom-ref": purl,
    name,
    version,
    purl,
    hashes: [{ alg: "SHA-512", content }],
  };
}

/** A key is `name@version`, followed by `_` and the versions of its peers. */
function nameAndVersion(key: string): { readonly name: string; readonly version: string } {
  const [, name = "", version = ""] = /^(@?[^@]+)@([^_]+)/.exec(key) ?? [];
  return { name, version };
}

function purlOf(key: string): string {
  const { name, version } = nameAndVersion(key);
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

function dependenciesOf(entry: LockEntry | undefined): readonly string[] {
  return [...entry?.dependencies ?? [], ...entry?.optionalDependencies ?? []];
}

/** A dependency is named without its version where the lock file holds only one. */
function resolve(dependency: string, keys: readonly string[]): string[] {
  const found = keys.find((key) => key === dependency || nameAndVersion(key).name === dependency) ??
    keys.find((key) => purlOf(key) === purlOf(dependency));
  return found === undefined ? [] : [purlOf(found)];
}

/** One package may stand in the lock file several times, once for each set of peers. */
function deduplicated(components: readonly Component[]): Component[] {
  return components.filter(({ purl }, index) =>
    components.findIndex((other) => other.purl === purl) === index
  );
}
