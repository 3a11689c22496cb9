/** The modules that MLS takes, created before they are needed. */
import { sharedChaCha20Poly1305 } from "./chacha20poly1305.ts";
import { sharedEdwards25519 } from "./ed25519_batch.ts";
import { sharedSha256 } from "./sha256.ts";

/**
 * Throws where there is no memory for them, or no WebAssembly with SIMD. After it, no call creates
 * an instance.
 */
export function createInstances(): void {
  sharedSha256();
  sharedChaCha20Poly1305();
  sharedEdwards25519();
}
