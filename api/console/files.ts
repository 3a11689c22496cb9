/**
 * The console's files, served from memory. They are generated from `page/` by `deno task generate`, loaded when they are asked
 * for, and compressed once. Their names stay the same, so a browser asks each time whether its copy is current; the ETag is
 * strong, and another one for the compressed form.
 */
import { sha256 } from "@noble/hashes/sha2.js";

export interface ConsoleFile {
  readonly type: string;
  readonly plain: Body;
  readonly gzip: Body;
}

export interface Body {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

export interface ConsoleFiles {
  /** Returns undefined when there is no such file. */
  find(name: string): Promise<ConsoleFile | undefined>;
}

interface Source {
  readonly type: string;
  readonly load: () => Promise<{ readonly text: string }>;
}

const script = "text/javascript; charset=utf-8";

const sources: ReadonlyMap<string, Source> = new Map<string, Source>([
  ["console.css", { type: "text/css; charset=utf-8", load: () => import("./gen/style.ts") }],
  ["console.js", { type: script, load: () => import("./gen/console.ts") }],
  ["ui.js", { type: script, load: () => import("./gen/ui.ts") }],
  ["shared.js", { type: script, load: () => import("./gen/shared.ts") }],
  ["plot.js", { type: script, load: () => import("./gen/plot.ts") }],
  ["live.js", { type: script, load: () => import("./gen/live.ts") }],
  ["icon.svg", { type: "image/svg+xml", load: () => import("./icon.ts") }],
]);

export function createConsoleFiles(): ConsoleFiles {
  const made = new Map<string, Promise<ConsoleFile>>();
  return {
    find: async (name) => {
      const source = sources.get(name);
      if (source === undefined) return undefined;
      const file = made.get(name) ?? make(source);
      made.set(name, file);
      return await file;
    },
  };
}

async function make({ type, load }: Source): Promise<ConsoleFile> {
  const { text } = await load();
  return await createFile(type, text);
}

export async function createFile(type: string, text: string): Promise<ConsoleFile> {
  const bytes = new TextEncoder().encode(text);
  const hash = sha256(bytes).toHex().slice(0, 32);
  const zipped = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return {
    type,
    plain: { bytes, etag: `"${hash}"` },
    gzip: { bytes: await new Response(zipped).bytes(), etag: `"${hash}-gzip"` },
  };
}
