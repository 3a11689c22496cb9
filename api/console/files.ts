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

const common: readonly (readonly [string, Source])[] = [
  ["console.css", { type: "text/css; charset=utf-8", load: () => import("./gen/style.ts") }],
  ["ui.js", { type: script, load: () => import("./gen/ui.ts") }],
  ["shared.js", { type: script, load: () => import("./gen/shared.ts") }],
  ["icon.svg", { type: "image/svg+xml", load: () => import("./icon.ts") }],
];

export function createConsoleFiles(): ConsoleFiles {
  return createFiles([
    ...common,
    ["console.js", { type: script, load: () => import("./gen/console.ts") }],
    ["plot.js", { type: script, load: () => import("./gen/plot.ts") }],
    ["live.js", { type: script, load: () => import("./gen/live.ts") }],
    ["worker.js", { type: script, load: () => import("./gen/worker.ts") }],
  ]);
}

/** For the admin port: the page of operators is nowhere else. */
export function createOperatorFiles(): ConsoleFiles {
  return createFiles([...common, ["operator.js", { type: script, load: () => import("./gen/operator.ts") }]]);
}

function createFiles(list: readonly (readonly [string, Source])[]): ConsoleFiles {
  const sources = new Map(list);
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

export interface FileAnswer {
  readonly status: 200 | 304 | 404;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer> | null;
}

export interface FileQuestion {
  readonly encodings: string | undefined;
  readonly known: string | undefined;
  /** False for an address that has no page: the file, which says so to its reader, comes with 404. */
  readonly isFound?: boolean;
}

/** The form of a file that this browser takes, or that its copy is current. */
export function answerFile(file: ConsoleFile, asked: FileQuestion): FileAnswer {
  const { isFound = true } = asked;
  const isZipped = acceptsGzip(asked.encodings ?? "");
  const { etag, bytes } = isZipped ? file.gzip : file.plain;
  // The runtime would compress it again in its own way, and make the ETag a weak one.
  const headers = { "cache-control": "no-cache, no-transform", etag, vary: "Accept-Encoding, Origin" };
  if (isFound && isKnown(asked.known, etag)) return { status: 304, headers, body: null };
  const encoding = isZipped ? { "content-encoding": "gzip" } : {};
  return { status: isFound ? 200 : 404, headers: { ...headers, "content-type": file.type, ...encoding }, body: bytes };
}

function isKnown(known: string | undefined, etag: Body["etag"]): boolean {
  return known !== undefined && known.split(",").some((each) => ["*", etag].includes(each.trim().replace(/^W\//, "")));
}

function acceptsGzip(encodings: string): boolean {
  return encodings.split(",").some((each) => {
    const [name = "", quality = ""] = each.split(";").map((part) => part.trim());
    return name.toLowerCase() === "gzip" && !/^q=0(\.0*)?$/.test(quality);
  });
}
