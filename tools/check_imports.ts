/**
 * Enforces the architecture: which package may import which, what pure code may touch, where the
 * environment is read.
 */
import { findCircles } from "./import_circles.ts";
import { importsOf } from "./import_statements.ts";
import { checkOwners } from "./owners.ts";
import { isTest, lineAt, readSources, report, type SourceFile, type Violation } from "./source.ts";
import { entryPoints } from "./workspace.ts";

/**
 * Packages and what of ours each may import besides itself. Anything not listed here may use every
 * `mod.ts`.
 */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  proto: [],
  wasm: [],
  server: ["proto"],
  api: ["server", "proto"],
  relay: ["server", "proto"],
  sdk: ["proto", "wasm"],
  cli: ["sdk", "proto"],
};

/**
 * The contract from the ground up: a room imports from lower floors only, so no two import each
 * other.
 */
const protoFloors: readonly (readonly string[])[] = [
  ["proto/base/"],
  ["proto/mls/", "proto/wire/", "proto/api/", "proto/http2/"],
  ["proto/statements/", "proto/people/"],
  ["proto/content/", "proto/host/"],
  ["proto/mod.ts"],
];

/** The relay, in the same way. */
const relayFloors: readonly (readonly string[])[] = [
  ["relay/engine/"],
  ["relay/core/"],
  ["relay/cells/", "relay/quota/", "relay/tokens/", "relay/cluster/"],
  ["relay/listeners/", "relay/grpc/"],
  ["relay/edge.ts"],
  ["relay/operations/", "relay/proxy/"],
  ["relay/config.ts"],
  ["relay/open_parts.ts"],
  ["relay/start_relay.ts"],
  ["relay/main.ts", "relay/mod.ts", "relay/import/"],
];

/** The rooms of the relay's core, and those of its cluster, in the same way. */
const coreFloors: readonly (readonly string[])[] = [
  ["relay/core/limits/"],
  ["relay/core/channel/"],
  ["relay/core/upkeep/"],
  ["relay/core/session/"],
  ["relay/core/requests/"],
  ["relay/core/relay_core.ts"],
];
const clusterFloors: readonly (readonly string[])[] = [
  ["relay/cluster/nodes/"],
  ["relay/cluster/log/"],
  ["relay/cluster/replica/"],
  ["relay/cluster/memory/", "relay/cluster/silence/"],
  ["relay/cluster/peers.ts"],
  ["relay/cluster/open_cluster.ts", "relay/cluster/import_file.ts"],
];

/** Inside a package, adapters import the core and never the reverse. */
const mayNotImport: readonly { readonly from: string; readonly to: readonly string[] }[] = [
  // Protobuf is for what speaks gRPC: the SDK's package and browsers do without its runtime.
  ...["proto/mod.ts", "sdk/", "cli/"].map((from) => ({
    from,
    to: ["proto/wire/grpc.ts", "proto/wire/convert.ts", "proto/wire/descriptors.ts"],
  })),
  {
    from: "api/domain/",
    to: [
      "api/routes/",
      "api/store/",
      "api/app.ts",
      "api/main.ts",
      "api/config.ts",
      "server/mod.ts",
      "server/http2/",
    ],
  },
  { from: "api/store/", to: ["api/routes/", "api/app.ts", "api/main.ts"] },
  { from: "api/routes/", to: ["api/store/", "api/main.ts"] },
  { from: "relay/core/", to: ["server/mod.ts", "server/http2/"] },
  { from: "relay/engine/", to: ["server/http2/"] },
  ...[protoFloors, relayFloors, coreFloors, clusterFloors].flatMap((floors) =>
    floors.flatMap((floor, level) =>
      floor.map((from) => ({
        from,
        to: floors.slice(level).flat().filter((room) => room !== from),
      }))
    )
  ),
  {
    from: "sdk/mls/",
    to: [
      "sdk/transport/",
      "sdk/platform/",
      "sdk/api/client.ts",
      "sdk/api/channel.ts",
      "sdk/api/manager.ts",
    ],
  },
  {
    from: "sdk/session/",
    to: ["sdk/mls/", "sdk/store/", "sdk/api/client.ts", "sdk/api/channel.ts", "sdk/api/manager.ts"],
  },
  {
    from: "sdk/transport/",
    to: ["sdk/platform/", "sdk/mls/", "sdk/store/", "sdk/api/client.ts", "sdk/api/manager.ts"],
  },
];

/** Folders that import nothing of their package but themselves and what stands here. */
const selfContained: Readonly<Record<string, readonly string[]>> = {
  "server/limits/": [],
  "server/http2/": ["server/limits/mod.ts"],
  "sdk/base/": [],
  "sdk/store/": [],
};

/**
 * Only these may know ts-mls and HTTP/2's neighbours: everything else goes through their own
 * modules.
 */
const onlyIn: readonly DependencyRule[] = [
  // Another version is a change of these two files.
  {
    dependency: /^(npm:)?ts-mls\b/,
    places: ["sdk/mls/ts_mls.ts", "sdk/mls/testing/ts_mls.ts"],
    tests: true,
  },
  // In Deno it can abort the process; this file is loaded in Node only.
  { dependency: /^node:http2$/, places: ["bench/relay/grpc_load.ts"] },
];

interface DependencyRule {
  readonly dependency: RegExp;
  readonly places: readonly string[];
  /** Whether it binds tests as well. */
  readonly tests?: true;
}

/**
 * A folder of `tests/` other than `support/` is one suite: nothing outside it may build on its
 * files.
 */
const suiteFolder = /^tests\/(?!support\/)[^/]+\//;

const pureZone = /^(?:(?:proto|api\/domain|relay\/core|sdk|server\/limits)\/|server\/secret\.ts$)/;
const pureExempt = /^sdk\/(platform|host\/server)\//;
const impure =
  /\b(?:Deno\b|Date\.now\b|new Date\(\)|performance\.now\b|setTimeout\b|setInterval\b|getRandomValues\b|randomUUID\b|Math\.random\b|console\b|process\.|fetch\()/g;

/**
 * Modules that a browser loads; they and everything that they import must do without Deno and Node.
 */
const browserEntries = [
  "proto/mod.ts",
  "wasm/mod.ts",
  "sdk/platform/browser.ts",
  "sdk/mod.ts",
  "api/console/page/console.ts",
  "api/console/page/live/live.ts",
  "api/console/page/operator/operator.ts",
];

const environment = /\b(?:Deno\.(?:env|exit|exitCode)|process\.(?:env|exit|exitCode))\b/g;
const environmentExempt =
  /(^|\/)(main|config)\.ts$|^sdk\/platform\/|^cli\/platform\/|^start\.ts$|^server\/environment\.ts$|^bench\/|^examples\/|^tools\//;

const moduleState = /^(?:export )?(?:let|var) /gm;

export function checkImports(file: SourceFile): Violation[] {
  const violations: Violation[] = [];
  const add = (index: number, rule: string, what: string): void => {
    violations.push({ path: file.path, line: lineAt(file.code, index), rule, what });
  };
  const test = isTest(file.path);

  for (const { index, specifier } of importsOf(file)) {
    for (const fault of importFaults(file.path, specifier, test)) {
      add(index, fault.rule, fault.what);
    }
  }
  if (test) return violations;

  if (pureZone.test(file.path) && !pureExempt.test(file.path)) {
    for (const match of file.code.matchAll(impure)) {
      add(match.index, "pure", `${match[0]} reaches outside; take it from the deps object`);
    }
  }
  if (!environmentExempt.test(file.path)) {
    for (const match of file.code.matchAll(environment)) {
      add(match.index, "environment", `${match[0]} belongs in main.ts or config.ts`);
    }
  }
  for (const match of file.code.matchAll(moduleState)) {
    add(
      match.index,
      "state",
      "module-level mutable state; hold it in an object that someone creates",
    );
  }
  return violations;
}

/**
 * Among files, tests included, and among the folders of a package, without its tests. An import of
 * a type is one too.
 */
export function checkCircles(sources: readonly SourceFile[]): Violation[] {
  const imports = sources.flatMap((file) =>
    importsOf(file).flatMap(({ index, specifier }) => {
      const to = resolveImport(file.path, specifier);
      return to === undefined ? [] : [{ path: file.path, line: lineAt(file.code, index), to }];
    })
  );
  const product = imports.filter(({ path }) => !isTest(path));
  const ofFiles = circlesAmong(imports, (path) => path);
  const known = new Set(ofFiles.map(({ what }) => what)); // files directly in a package
  return [...ofFiles, ...circlesAmong(product, folderOf).filter(({ what }) => !known.has(what))];
}

/**
 * Files that a browser loads name neither Deno nor a module of Node. Imports of types count,
 * because they are checked there too.
 */
export function checkBrowser(
  sources: readonly SourceFile[],
  entries: readonly string[] = browserEntries,
): Violation[] {
  const files = new Map(sources.map((file) => [file.path, file]));
  const loaded = new Set(entries);
  const violations: Violation[] = [];
  for (const path of loaded) {
    const file = files.get(path);
    if (file === undefined) continue; // generated
    const add = (index: number, what: string): void =>
      void violations.push({ path, line: lineAt(file.code, index), rule: "browser", what });
    for (const { index, specifier } of importsOf(file)) {
      if (specifier.startsWith("node:")) {
        add(index, `${specifier} is not there in a browser, which loads this file`);
      }
      const to = resolveImport(path, specifier);
      if (to !== undefined) loaded.add(to);
    }
    const deno = /\bDeno\b/.exec(file.code);
    if (deno !== null) add(deno.index, "Deno is not there in a browser, which loads this file");
  }
  return violations;
}

interface Import {
  readonly path: string;
  readonly line: number;
  readonly to: string;
}

function circlesAmong(imports: readonly Import[], placeOf: (path: string) => string): Violation[] {
  const arrows = new Map<string, Set<string>>();
  for (const { path, to } of imports) {
    const [from, target] = [placeOf(path), placeOf(to)];
    if (from === target) continue;
    arrows.set(from, (arrows.get(from) ?? new Set()).add(target));
  }
  return findCircles(arrows).map((circle) => {
    const [first = "", second = ""] = circle;
    const tie = imports.find(({ path, to }) => placeOf(path) === first && placeOf(to) === second);
    const what = `${
      [...circle, first].join(" → ")
    } is a circle; move what they share to where all may import it`;
    return { path: tie?.path ?? first, line: tie?.line ?? 1, rule: "circle", what };
  });
}

function importFaults(
  path: string,
  specifier: string,
  test: boolean,
): { rule: string; what: string }[] {
  const target = resolveImport(path, specifier);
  if (target === undefined) {
    const faults = onlyIn.filter(({ dependency, places, tests }) =>
      (!test || tests === true) && dependency.test(specifier) &&
      !places.some((place) => path.startsWith(place))
    );
    const pure = pureZone.test(path) && !pureExempt.test(path) && !test &&
      specifier.startsWith("node:");
    return [
      ...faults.map(({ places }) => ({
        rule: "dependency",
        what: `${specifier} may be imported only in ${places.join(" and ")}`,
      })),
      ...(pure
        ? [{ rule: "pure", what: `${specifier} reaches outside; take it from the deps object` }]
        : []),
    ];
  }

  const faults: { rule: string; what: string }[] = [];
  const [from, to] = [packageOf(path), packageOf(target)];
  const testSupport = test && (target.startsWith("tests/") || target.startsWith("tools/"));
  if (from !== to && !testSupport) {
    const allowed = mayImport[from];
    if (allowed !== undefined && !allowed.includes(to)) {
      faults.push({ rule: "layer", what: `${from} may not import ${to} (${specifier})` });
    }
    // A package's `testing/` folder is its surface for tests and benchmarks of its insides.
    const testing = target.includes("/testing/") && (test || from === "bench");
    if (to in mayImport && !entryPoints.has(target) && !testing) {
      faults.push({ rule: "mod", what: `import ${to}/mod.ts instead of ${target}` });
    }
  }
  const suite = suiteFolder.exec(target)?.[0];
  if (suite !== undefined && !path.startsWith(suite)) {
    faults.push({
      rule: "suite",
      what: `${target} belongs to its suite; move what is shared to tests/support/`,
    });
  }
  if (from === "tools" && to === "tests" && !test) {
    faults.push({
      rule: "tools",
      what: `${target} is for tests; what builds or checks the product stands on its own`,
    });
  }
  for (const rule of test ? [] : mayNotImport) {
    if (path.startsWith(rule.from) && rule.to.some((forbidden) => target.startsWith(forbidden))) {
      faults.push({ rule: "direction", what: `${rule.from} may not import ${target}` });
    }
  }
  for (const [folder, others] of test ? [] : Object.entries(selfContained)) {
    if (
      from === to && path.startsWith(folder) && !target.startsWith(folder) &&
      !others.includes(target)
    ) {
      faults.push({ rule: "direction", what: `${folder} may not import ${target}` });
    }
  }
  return faults;
}

/** The repository path of a relative import; undefined for a dependency. */
export function resolveImport(path: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  return new URL(specifier, `file:///${path}`).pathname.slice(1);
}

/** The folder below the package; a file that is directly in the package stands for itself. */
function folderOf(path: string): string {
  const [name, folder, ...rest] = path.split("/");
  return rest.length === 0 ? path : `${name}/${folder}`;
}

function packageOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.indexOf("/")) : path;
}

if (import.meta.main) {
  const sources = await readSources(".");
  const violations = [
    ...sources.flatMap(checkImports),
    ...sources.flatMap(checkOwners),
    ...checkCircles(sources),
    ...checkBrowser(sources),
  ];
  Deno.exit(report("imports", violations, sources.length));
}
