/** Changes of `trust.json`, which hosts that run are told of. */
import { formatTrust, type Trust } from "../../../proto/mod.ts";
import type { Context, Given } from "../../command.ts";
import { readTrust } from "../../trust.ts";
import { findRunning } from "../../hosting.ts";

/**
 * Changes what was read just now, so that what other commands wrote meanwhile stays. Hosts of this
 * user's agents are told, so that programs show it at once.
 */
export async function changeTrust(
  context: Context,
  change: (trust: Trust) => Trust,
): Promise<void> {
  const { platform: { files, folders }, given } = context;
  const trust = change(await readTrust(context));
  const before = await files.read(folders.trustFile);
  await files.writePrivate(folders.trustFile, formatTrust(trust, before));
  for (const name of await files.list(folders.agents)) {
    const as: Given = { ...given, value: (each) => each === "agent" ? name : given.value(each) };
    const host = await findRunning({ ...context, given: as }).catch(() => undefined);
    await host?.call("names").catch(() => {});
    host?.end();
  }
}
