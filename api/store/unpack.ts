/**
 * Puts an archive (tar, compressed with gzip) into an empty folder. The database's own way goes
 * through its virtual file system, which takes several times as long. Only plain files and folders,
 * readable by this user alone; everything else is refused.
 */
const blockBytes = 512;
const nameBytes = 100;
const size = { at: 124, end: 136 };
const octal = /^[0-7]+$/;
const kindAt = 156;
const kinds: Readonly<Record<string, "file" | "folder">> = {
  "0": "file",
  "\0": "file",
  "5": "folder",
};

interface ArchiveEntry {
  readonly path: string;
  readonly kind: "file" | "folder";
  readonly bytes: Uint8Array;
}

export async function unpack(archive: Blob, folder: string): Promise<void> {
  const unzipped = archive.stream().pipeThrough(new DecompressionStream("gzip"));
  for (const { path, kind, bytes } of entriesOf(await new Response(unzipped).bytes())) {
    if (kind === "folder") Deno.mkdirSync(`${folder}/${path}`, { mode: 0o700 });
    else Deno.writeFileSync(`${folder}/${path}`, bytes, { mode: 0o600, createNew: true });
  }
}

/**
 * Up to the first empty block. Long names, which take a second field or an entry of their own, are
 * not known here.
 */
function* entriesOf(tar: Uint8Array): Generator<ArchiveEntry> {
  for (let at = 0; at + blockBytes <= tar.length;) {
    const header = tar.subarray(at, at + blockBytes);
    if (header[0] === 0) return;
    const path = pathOf(textOf(header.subarray(0, nameBytes)));
    const kind = kinds[String.fromCharCode(header[kindAt] ?? 0)];
    const digits = textOf(header.subarray(size.at, size.end)).trim();
    const length = octal.test(digits) ? parseInt(digits, 8) : Infinity;
    at += blockBytes;
    if (kind === undefined || at + length > tar.length) {
      throw new Error(`the archive is damaged at ${path}`);
    }
    yield { path, kind, bytes: tar.subarray(at, at + length) };
    at += Math.ceil(length / blockBytes) * blockBytes;
  }
  throw new Error("the archive has no end");
}

function textOf(field: Uint8Array): string {
  const end = field.indexOf(0);
  return new TextDecoder().decode(end < 0 ? field : field.subarray(0, end));
}

/** Relative to the folder, and inside it. */
function pathOf(name: string): string {
  const parts = name.split("/").filter((part) => part !== "");
  if (parts.length === 0 || parts.some((part) => part === "." || part === "..")) {
    throw new Error(`the archive has an entry outside the folder: ${name}`);
  }
  return parts.join("/");
}
