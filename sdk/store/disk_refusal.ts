/**
 * Why a disk refused, as a `StoreFault`. The same reason has a name of its own in each layer: an
 * errno of the runtime's files, a text of LevelDB, a `DOMException` of IndexedDB. This is the one
 * place that knows them.
 */
import { type StoreErrorCode, StoreFault } from "./errors.ts";

interface DiskRefusalReason {
  readonly signs: RegExp;
  readonly code: StoreErrorCode;
  readonly why: string;
  readonly wayOut: string;
}

const reasons: readonly DiskRefusalReason[] = [
  {
    signs: /\b(ENOSPC|EDQUOT|No space left on device|Disk quota exceeded)\b/,
    code: "store_full",
    why: "the disk is full",
    wayOut: "Free space, then connect again",
  },
  {
    signs: /\bQuotaExceededError\b/,
    code: "store_full",
    why: "the browser has no more room for this site",
    wayOut: "Free space, then connect again",
  },
  {
    signs: /\b(EROFS|Read-only file system)\b/,
    code: "store_failed",
    why: "the file system is mounted read-only",
    wayOut: "Mount it for writing, or use another directory",
  },
  {
    signs: /\b(EACCES|EPERM|Permission denied|Operation not permitted)\b/,
    code: "store_failed",
    why: "this user has no right to it",
    wayOut: "Give it the right, or use another directory",
  },
  {
    signs: /\b(EMFILE|ENFILE|Too many open files)\b/,
    code: "store_failed",
    why: "too many files are open",
    wayOut: "Close some or raise the limit, then connect again",
  },
  {
    signs: /\b(EIO|Input\/output error)\b/,
    code: "store_failed",
    why: "the disk fails to read or write",
    wayOut: "Replace it, and restore the directory from a backup",
  },
  {
    signs: /\b(ENOTDIR|EISDIR|Not a directory|Is a directory)\b/,
    code: "store_failed",
    why: "a file is in the place of a directory, or a directory in that of a file",
    wayOut: "Move it away, or use another directory",
  },
];

/**
 * Returns the reason by the system's own word, as in "ENOSPC". Undefined when the disk is not to
 * blame.
 */
export function findReason(errno: string): Pick<DiskRefusalReason, "code" | "why"> | undefined {
  return reasons.find(({ signs }) => signs.test(errno));
}

/**
 * Undefined when the cause is none of the known refusals: a database may say then that it is
 * damaged.
 */
export function findRefusal(action: string, cause: unknown): StoreFault | undefined {
  const words = chainOf(cause).map(({ code, name, message }) => `${code} ${name} ${message}`).join(
    " ",
  );
  const reason = reasons.find(({ signs }) => signs.test(words));
  return reason &&
    new StoreFault(reason.code, `${action}: ${reason.why}. ${reason.wayOut}`, { cause });
}

/** Returns the fault for whatever a disk threw. */
export function refusalOf(action: string, cause: unknown): StoreFault {
  const said = chainOf(cause).at(-1)?.message ?? String(cause);
  const text = `${action}: the disk refused (${said}). Mend it, then connect again`;
  return findRefusal(action, cause) ?? new StoreFault("store_failed", text, { cause });
}

interface ErrorLink {
  readonly code: string;
  readonly name: string;
  readonly message: string;
}

/** The error and its causes: databases wrap what the system said. */
function chainOf(error: unknown): ErrorLink[] {
  if (!(error instanceof Error)) return [];
  const { name, message, cause } = error;
  return [{ code: "code" in error ? String(error.code) : "", name, message }, ...chainOf(cause)];
}
