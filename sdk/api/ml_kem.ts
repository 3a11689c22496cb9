/** Tells `static doctor` of the ML-KEM that opens Welcomes here. */
import { platform } from "#platform";
import { createSignatures } from "../mls/crypto/signatures.ts";

/**
 * Returns the ML-KEM-768 that opens Welcomes in this process: the runtime's, which runs in constant
 * time, or the portable one of JavaScript, which cannot promise that.
 */
export async function mlKemInUse(): Promise<"runtime" | "portable"> {
  return await (await createSignatures(platform)).xWing.mlKem();
}
