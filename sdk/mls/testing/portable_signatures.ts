/** Cryptography with nothing of the runtime's: the same bytes and verdicts everywhere. */
import { createSignatures, type Signatures } from "../crypto/signatures.ts";

export const portableSignatures: Signatures = await createSignatures();
