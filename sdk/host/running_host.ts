/** The host that runs, for those who only want to know about it or to end it: none is started. */
import type { HostPlatform } from "../platform/platform.ts";
import type { HostConnection } from "./connection.ts";
import { connectTo } from "./find_host.ts";

/** Undefined when there is none. Throws `StaticError` when its folder is not safe. */
export async function runningHost(
  dataDir: string,
  hosts: HostPlatform,
): Promise<HostConnection | undefined> {
  const connection = await connectTo(await hosts.place(dataDir), { hosts, onEvent: () => {} });
  if (connection === undefined) return undefined;
  // One that ends just now is as good as none.
  return await connection.hello.then(() => connection, () => undefined);
}
