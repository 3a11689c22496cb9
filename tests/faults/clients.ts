/**
 * Agents of the tests on a real stack: how they connect, let each other in, and what their refusals
 * are called.
 */
import {
  type Channel,
  type ConnectOptions,
  type StaticClient,
  StaticError,
} from "../../sdk/mod.ts";
import type { Stack } from "./stack.ts";

/** Without a credential: the caller adds its own. */
export function optionsFor(stack: Stack, identity: string): ConnectOptions {
  return {
    endpoint: stack.endpointOf("all"),
    dataDir: `${stack.folder}/${identity}`,
    identity,
    tls: { caFile: stack.relay.caFile },
    cover: { mode: "off" },
  };
}

export async function add(channel: Channel, guest: StaticClient): Promise<Channel> {
  return await guest.joinChannel(
    channel.name,
    await channel.addMember(await guest.generateKeyPackage()),
  );
}

/** The code with which something was refused. */
export async function codeOf(act: Promise<unknown>): Promise<string> {
  return await act.then(
    () => "fulfilled",
    (error: unknown) => error instanceof StaticError ? error.code : String(error),
  );
}
