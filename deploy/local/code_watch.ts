/**
 * For `--watch`: which parts a change of the code concerns, told once for changes that come
 * together.
 */
import { fileURLToPath } from "node:url";

export interface CodeWatchOptions<Name extends string> {
  readonly root: URL;
  /** Folders of each part's code, from the root. */
  readonly folders: Readonly<Record<Name, readonly string[]>>;
  readonly onChange: (parts: readonly Name[]) => void;
}

/** An editor saves several files at once, and one file in several steps. */
const settleMs = 300;

export function watchCode<Name extends string>(
  { root, folders, onChange }: CodeWatchOptions<Name>,
): Disposable {
  const names = Object.keys(folders) as Name[]; // cast: the record's own keys
  const all = [...new Set(names.flatMap((name) => folders[name]))];
  const pathOf = (folder: string): string => fileURLToPath(new URL(folder, root));
  const watcher = Deno.watchFs(all.map(pathOf));
  const changed = new Set<Name>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tell = (): void => {
    const parts = names.filter((name) => changed.has(name));
    changed.clear();
    onChange(parts);
  };
  void (async () => {
    for await (const { kind, paths } of watcher) {
      if (kind === "access") continue;
      const sources = paths.filter((path) =>
        /\.(ts|sql|css)$/.test(path) && !path.endsWith("_test.ts")
      );
      const concerned = names.filter((name) =>
        folders[name].some((folder) => sources.some(isIn(folder)))
      );
      if (concerned.length === 0) continue;
      for (const name of concerned) changed.add(name);
      clearTimeout(timer);
      timer = setTimeout(tell, settleMs);
    }
  })();
  const isIn = (folder: string) => (path: string): boolean => path.startsWith(pathOf(folder));
  return {
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      watcher.close();
    },
  };
}
