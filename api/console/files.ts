/**
 * The console's files, served from memory. `deno task build` makes them of `page/`; those that it
 * has made last are read when one is asked for, and compressed once. Their names stay the same, so
 * a browser asks each time whether its copy is current; the ETag is strong, and another one for the
 * compressed form.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { text as icon } from "./icon.ts";

export interface ConsoleFile {
  readonly type: string;
  readonly plain: FileVariant;
  readonly gzip: FileVariant;
}

export interface FileVariant {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

export interface ConsoleFiles {
  /** Returns undefined when there is no such file, and for every file when nothing was built. */
  find(name: string): Promise<ConsoleFile | undefined>;
}

const script = "text/javascript; charset=utf-8";
const style = "text/css; charset=utf-8";
const common = ["console.css", "ui.js", "shared.js"];
/** Where `tools/build_console.ts` writes. */
const built = new URL("../../dist/console/", import.meta.url);

export function createConsoleFiles(folder = built): ConsoleFiles {
  return createFiles([...common, "console.js", "plot.js", "live.js", "worker.js"], folder);
}

/** For the admin port: the page of operators is nowhere else. */
export function createOperatorFiles(folder = built): ConsoleFiles {
  return createFiles([...common, "operator.js"], folder);
}

type FilesByPath = ReadonlyMap<string, ConsoleFile>;

function createFiles(names: readonly string[], folder: URL): ConsoleFiles {
  const held: { build?: string; files?: Promise<FilesByPath> } = {};
  return {
    find: async (name) => {
      try {
        const build = await Deno.readTextFile(new URL("current", folder));
        if (held.build !== build) held.files = readFiles(names, new URL(`${build}/`, folder));
        held.build = build;
        return (await held.files)?.get(name);
      } catch (error) {
        delete held.build;
        // A folder that is being replaced is gone for a moment too.
        if (error instanceof Deno.errors.NotFound) return undefined;
        throw error;
      }
    },
  };
}

async function readFiles(names: readonly string[], folder: URL): Promise<FilesByPath> {
  const read = async (name: string): Promise<[string, ConsoleFile]> => {
    const type = name.endsWith(".css") ? style : script;
    return [name, await createFile(type, await Deno.readTextFile(new URL(name, folder)))];
  };
  return new Map([...await Promise.all(names.map(read)), [
    "icon.svg",
    await createFile("image/svg+xml", icon),
  ]]);
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
  /** 503: it was not built. */
  readonly status: 200 | 304 | 404 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer> | null;
}

export interface FileQuestion {
  readonly encodings: string | undefined;
  readonly known: string | undefined;
  /**
   * False for an address that has no page: the file, which says so to its reader, comes with 404.
   */
  readonly isFound?: boolean;
}

/** The form of a file that this browser takes, or that its copy is current. */
export function answerFile(file: ConsoleFile, asked: FileQuestion): FileAnswer {
  const { isFound = true } = asked;
  const isZipped = acceptsGzip(asked.encodings ?? "");
  const { etag, bytes } = isZipped ? file.gzip : file.plain;
  // The runtime would compress it again in its own way, and make the ETag a weak one.
  const headers = {
    "cache-control": "no-cache, no-transform",
    etag,
    vary: "Accept-Encoding, Origin",
  };
  if (isFound && isKnown(asked.known, etag)) return { status: 304, headers, body: null };
  const encoding = isZipped ? { "content-encoding": "gzip" } : {};
  return {
    status: isFound ? 200 : 404,
    headers: { ...headers, "content-type": file.type, ...encoding },
    body: bytes,
  };
}

function isKnown(known: string | undefined, etag: FileVariant["etag"]): boolean {
  return known !== undefined &&
    known.split(",").some((each) => ["*", etag].includes(each.trim().replace(/^W\//, "")));
}

function acceptsGzip(encodings: string): boolean {
  return encodings.split(",").some((each) => {
    const [name = "", quality = ""] = each.split(";").map((part) => part.trim());
    return name.toLowerCase() === "gzip" && !/^q=0(\.0*)?$/.test(quality);
  });
}
