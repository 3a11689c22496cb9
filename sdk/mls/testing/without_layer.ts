/** Welcomes as they are for programs that know no layer: what RFC 9420 has is inside of it. */
import { equalBytes } from "../codec.ts";
import { takeLayerOff } from "../crypto/seal_layer.ts";
import type { Signatures } from "../crypto/signatures.ts";
import type { OwnKeyPackage } from "../key_package.ts";
import { encodeMlsMessage } from "../ts_mls.ts";
import { decodeWelcomeMessage, readyToJoin } from "../welcome.ts";

/** The same Welcome without the layer around what it has for this KeyPackage. */
export async function withoutLayer(
  message: Uint8Array,
  own: OwnKeyPackage,
  signatures: Signatures,
): Promise<Uint8Array> {
  const { layerSecret } = await readyToJoin(message, own, signatures);
  const welcome = decodeWelcomeMessage(message);
  const groupInfoHash = signatures.longHash(welcome.encryptedGroupInfo);
  const secrets = welcome.secrets.map((sealed) => {
    const { newMember, encryptedGroupSecrets } = sealed;
    if (!equalBytes(newMember, own.reference)) return sealed;
    const inner = takeLayerOff(encryptedGroupSecrets, { newMember, groupInfoHash }, layerSecret);
    return { newMember, encryptedGroupSecrets: inner };
  });
  return encodeMlsMessage({
    version: "mls10",
    wireformat: "mls_welcome",
    welcome: { ...welcome, secrets },
  });
}
