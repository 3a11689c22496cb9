/** The one door to the root of a channel: for its rooms, the relay, the session and the program. */
import type { RootEvent } from "../root/root_state.ts";

/**
 * Resolves when the rooms have carried out what they were told. Undefined when nothing had to be
 * waited for.
 */
export type RootDoor = (found: RootEvent) => Promise<void> | undefined;
