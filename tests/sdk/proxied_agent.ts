/**
 * An agent that uses its relay over TCP, and HTTPS as it would for the API, behind whatever proxy
 * its environment names.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import {
  openRelaySession,
  type Platform,
  type RelayOptions,
} from "../../sdk/session/testing/mod.ts";

export interface ProxiedAgent {
  readonly options: RelayOptions;
  /** For HTTPS. */
  readonly caCert: string;
  readonly url: string;
}

/**
 * Returns the transport of its session, and the status over HTTPS; or why there is none of them.
 */
export async function goThroughProxy(
  platform: Platform,
  { options, caCert, url }: ProxiedAgent,
): Promise<string> {
  const seed = new Uint8Array(32).fill(7);
  const http = platform.openHttp({ caCerts: [caCert], certificateHashes: [] });
  try {
    const session = await openRelaySession({ ...options, cover: { mode: "off" } }, {
      identity: Uint8Array.of(7),
      publicKey: ed25519.getPublicKey(seed),
      sign: (message) => ed25519.sign(message, seed),
    }, platform);
    await session.call("Ping", {}, { timeoutMs: 20_000 }).catch(async (error) => {
      await session.close();
      throw error;
    });
    const transport = session.state.kind === "online"
      ? session.state.connection.transport
      : session.state.kind;
    await session.close();
    const answer = await http.request(url, { method: "GET" });
    await answer.body?.cancel();
    return `${transport} ${answer.status}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    http.close();
  }
}
