/** Errors of the user's own disk, in words. The system's word for the others, as in "EACCES", is short and quotes nothing. */

const words: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk's quota is used up",
  EROFS: "the file system is mounted read-only",
};

/** Of files; those of connections are not among them. */
const failures: ReadonlySet<string> = new Set([
  "EROFS",
  "EACCES",
  "EPERM",
  "EIO",
  "EISDIR",
  "EMFILE",
  "ENFILE",
  "ENOTDIR",
]);

export function reasonOf(cause: unknown): string {
  const code = systemCodeOf(cause);
  if (code !== undefined) return words[code] ?? code;
  return cause instanceof Error ? cause.message : String(cause);
}

/** Undefined when the disk is not to blame. */
export function diskCodeOf(cause: unknown): "store_full" | "store_failed" | undefined {
  const code = systemCodeOf(cause) ?? "";
  if (code === "ENOSPC" || code === "EDQUOT") return "store_full";
  return failures.has(code) ? "store_failed" : undefined;
}

function systemCodeOf(cause: unknown): string | undefined {
  const code: unknown = cause instanceof Error ? Reflect.get(cause, "code") : undefined;
  return typeof code === "string" ? code : undefined;
}
