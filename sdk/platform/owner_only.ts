/**
 * Files for their owner alone, from the moment they exist. LevelDB creates its files at any time,
 * with the process's umask. So while any store is open, the umask gives no rights to others.
 */
import process from "node:process";

const ownerOnly = 0o077;

interface UmaskHold {
  stores: number;
  before: number;
}

/** One umask per process, so one count per process. */
const held: UmaskHold = { stores: 0, before: 0 };

/** Returns the function that restores the umask once the last store is closed. */
export function holdOwnerOnly(): () => void {
  if (held.stores++ === 0) held.before = setUmask(ownerOnly);
  let done = false;
  return () => {
    if (done) return;
    done = true;
    if (--held.stores === 0) setUmask(held.before);
  };
}

/**
 * A worker may not change it, and Windows has none: there the 0700 folder around the files must do.
 */
function setUmask(mask: number): number {
  try {
    return process.umask(mask);
  } catch {
    return mask;
  }
}
