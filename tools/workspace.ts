/**
 * The packages of the project, and what each lets others import: the exports in its `deno.json`.
 * Beside `mod.ts` these are: what would burden a browser that needs the rest of `proto`, its
 * version alone, the operations of hosts, what to do about errors, how names are shown, the names
 * of variables, and which word was meant; the HTTP/2 server and the engine, which know nothing of
 * their package; limits and the wrapper of secrets, which the API's domain and the relay's core
 * need without the sockets and files in the rest of `server`; the configurations of API and relay,
 * which `start.ts` reads without loading both; an agent through its host, without the rest of the
 * SDK; A2A over channels, whose package nobody else needs; and the platforms, one runtime each, so
 * that no other has to load it.
 */
const packages: readonly string[] = readConfig("deno.json").workspace ?? [];

/** Every module that another package may import, as a path in the repository. */
export const entryPoints: ReadonlySet<string> = new Set(
  packages.flatMap((folder) =>
    Object.values(readConfig(`${folder}/deno.json`).exports ?? {}).map((module) =>
      `${folder}/${module.slice("./".length)}`
    )
  ),
);

interface WorkspaceConfig {
  readonly workspace?: readonly string[];
  readonly exports?: Readonly<Record<string, string>>;
}

function readConfig(path: string): WorkspaceConfig {
  return JSON.parse(Deno.readTextFileSync(new URL(`../${path}`, import.meta.url)));
}
