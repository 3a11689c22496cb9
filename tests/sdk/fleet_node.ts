/**
 * A fleet in Node: its options are the argument, in JSON; the codes of those that did not get in
 * are its output.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import process from "node:process";
import { platform } from "../../sdk/platform/node.ts";
import {
  firstConnection,
  openRelaySession,
  patienceMs,
  StaticError,
  whileBusy,
} from "../../sdk/session/testing/mod.ts";

const { agents, ...options } = JSON.parse(process.argv[2] ?? "");
const untilMs = platform.nowMs() + patienceMs;

async function connect(agent: number): Promise<string | undefined> {
  const seed = new Uint8Array(32).fill(agent + 1);
  const self = {
    identity: Uint8Array.of(agent),
    publicKey: ed25519.getPublicKey(seed),
    sign: (message: Uint8Array) => ed25519.sign(message, seed),
    untilMs,
  };
  try {
    await firstConnection(
      await whileBusy(() => openRelaySession(options, self, platform), { untilMs }, platform),
    );
    return undefined;
  } catch (error) {
    return error instanceof StaticError ? `${error.code}: ${error.message}` : String(error);
  }
}

const outcomes = await Promise.all(Array.from({ length: agents }, (_, agent) => connect(agent)));
const failures = outcomes.filter((outcome) => outcome !== undefined);
process.stdout.write(JSON.stringify(failures), () => process.exit());
