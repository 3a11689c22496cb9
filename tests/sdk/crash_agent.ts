/** An agent that lives through the crash of its relay, and tells. The same in every runtime. */
import { ed25519 } from "@noble/curves/ed25519.js";
import {
  openRelaySession,
  type Platform,
  type RelayOptions,
} from "../../sdk/session/testing/mod.ts";

export interface CrashAgent {
  readonly options: RelayOptions;
  readonly agent: number;
  readonly tell: (line: string) => void;
  /** Resolves when the relay answers no more. */
  readonly stopped: Promise<void>;
}

export async function liveThroughCrash(
  platform: Platform,
  { options, agent, tell, stopped }: CrashAgent,
): Promise<void> {
  const seed = new Uint8Array(32).fill(agent);
  const session = await openRelaySession({ ...options, cover: { mode: "off" } }, {
    identity: Uint8Array.of(agent),
    publicKey: ed25519.getPublicKey(seed),
    sign: (message) => ed25519.sign(message, seed),
  }, platform);
  await session.call("Ping", {});
  tell("online");
  await stopped;
  const call = session.call("Ping", {}, { timeoutMs: 60_000 });
  tell("called");
  tell(
    await call.then(
      () => "answered",
      (error: unknown) => error instanceof Error && "code" in error ? String(error.code) : "?",
    ),
  );
  await session.call("Ping", {}, { timeoutMs: 60_000 });
  tell("back");
  await session.close();
}

/** The events that it must report, in this order. */
export const expectedStory = ["online", "called", "transport_error", "back"];
