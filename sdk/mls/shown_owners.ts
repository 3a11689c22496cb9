/**
 * How the owners, the policy and the issuers of a channel came to be, as the GroupInfo of a Welcome
 * shows it: the latest changes. They are not in the GroupContext, which is hashed with every
 * message.
 */
import {
  decodeOwnersChanges,
  encodeOwnersChanges,
  MlsReader,
  type OwnersChange,
  WireError,
} from "../../proto/mod.ts";
import { channelIdOf, decodeBinding } from "./channel_extensions.ts";
import { MlsFault, vector } from "./codec.ts";
import type { Signatures } from "./crypto/signatures.ts";
import { ownersExtension } from "./leaf.ts";
import { checkChain, checkContinuation, type KnownOwners } from "./owners_chain.ts";
import { versionIn } from "./owners_rules.ts";
import { type Extension, extensionTypeToNumber } from "./ts_mls.ts";
import type { JoinedEpoch } from "./welcome.ts";

export function encodeShownChanges(changes: readonly OwnersChange[]): Extension[] {
  return [{ extensionType: ownersExtension, extensionData: vector(encodeOwnersChanges(changes)) }];
}

/**
 * Returns the owners that a Welcome shows, if it is credible: for a joiner because its inviter says
 * so, for a member that comes back because they follow from the owners that it knew. Throws
 * `MlsFault`.
 */
export function believeOwners(
  { epoch: { context }, extensions }: Pick<JoinedEpoch, "epoch" | "extensions">,
  known: KnownOwners | undefined,
  signatures: Signatures,
): readonly OwnersChange[] {
  const binding = decodeBinding(context.extensions);
  const changes = decodeShownChanges(extensions);
  if (changes === undefined) {
    throw new MlsFault("A Welcome does not show how its group's owners came to be");
  }
  const shown = {
    channelId: channelIdOf(context),
    now: versionIn(binding),
    generation: binding.generation?.generation ?? 0,
    policy: binding.policy,
    issuers: binding.issuers,
    changes,
  };
  if (known === undefined) checkChain(shown, signatures);
  else checkContinuation(known, shown, signatures);
  return changes;
}

function decodeShownChanges(extensions: readonly Extension[]): OwnersChange[] | undefined {
  const [shown, ...others] = extensions.filter(({ extensionType }) =>
    extensionTypeToNumber(extensionType) === ownersExtension
  );
  if (shown === undefined) return undefined;
  if (others.length > 0) throw new MlsFault("A Welcome shows changes of the owners twice");
  try {
    const reader = new MlsReader(shown.extensionData, "changes of a channel's owners");
    const changes = reader.vector();
    reader.end();
    return decodeOwnersChanges(changes);
  } catch (cause) {
    if (cause instanceof WireError) throw new MlsFault(cause.message, { cause });
    throw cause;
  }
}
