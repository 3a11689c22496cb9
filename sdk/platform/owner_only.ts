/**
 * Files for their owner alone, from the moment they exist. LevelDB creates its files by itself, at any time, with whatever the
 * process's umask leaves; so while any store is open the umask leaves nothing to others.
 */
import process from "node:process";

const ownerOnly = 0o077;

interface Held {
  stores: number;
  before: number;
}

/** One umask per process, so one count per process. */
const held: Held = { stores: 0, before: 0 };

/** Answers the function that gives the umask back once the last store is closed. */
export function holdOwnerOnly(): () => void {
  if (held.stores++ === 0) held.before = setUmask(ownerOnly);
  let done = false;
  return () => {
    if (done) return;
    done = true;
    if (--held.stores === 0) setUmask(held.before);
  };
}

/** A worker may not change it, and Windows has none: there the 0700 folder around the files must do. */
function setUmask(mask: number): number {
  try {
    return process.umask(mask);
  } catch {
    return mask;
  }
}
