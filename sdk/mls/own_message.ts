/**
 * Whether a message is one of ours that our state knows nothing of. Members share the chains, so
 * that a message opens with ours says little; that it carries our signature says that we sent it,
 * and a key which we still hold says that we do not know.
 */
import { attempt, equalBytes, vector } from "./codec.ts";
import type { Signatures } from "./crypto/signatures.ts";
import { aeadOfEpoch, type Epoch } from "./epoch.ts";
import {
  contentToSign,
  openContent,
  openSenderData,
  readApplicationContent,
  type SealedMessage,
} from "./framing.ts";
import type { MlsIdentity } from "./identity.ts";

/** The chain is walked as far as for anybody's message, and stays where it is. */
export function isUnknownOwn(
  epoch: Epoch,
  message: SealedMessage,
  { signatureKey }: Pick<MlsIdentity, "signatureKey">,
  signatures: Signatures,
): boolean | Promise<boolean> {
  const { context, ownLeaf, secretTree, secrets, contextBytes } = epoch;
  const here = message.epoch === context.epoch && equalBytes(message.groupId, context.groupId);
  if (!here || message.contentType !== "application") return false;
  const aead = aeadOfEpoch(epoch);
  const from = attempt(() => openSenderData(message, aead, secrets.senderData));
  if (from?.sender !== ownLeaf || from.generation < secretTree.generation(ownLeaf, "application")) {
    return false;
  }
  const key = secretTree.find(ownLeaf, "application", from.generation);
  if (typeof key === "string") return false;
  const content = attempt(() =>
    readApplicationContent(openContent(message, aead, key, from.reuseGuard))
  );
  if (content === undefined) return false;
  const signed = contentToSign(
    { ...message, sender: ownLeaf, content: vector(content.data) },
    contextBytes,
  );
  return signatures.verifyApplication(signatureKey, signed, content.signature);
}
