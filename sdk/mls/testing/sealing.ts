/** For worlds of letters, which judge by the real rules, and for suites of all runtimes. */
export { atOnce } from "../../base/interruptible_work.ts";
export { pskOf } from "../base_epoch.ts";
export { decodeBinding, encodeBinding } from "../channel_extensions.ts";
export { createCommit } from "../commit.ts";
export { putLayer } from "../crypto/seal_layer.ts";
export { contextBytesOf as encodeContext } from "../epoch.ts";
export { foundGroup } from "../founding.ts";
export { encodeShownChanges } from "../shown_owners.ts";
export { type Forged, verdict } from "./forged_commit.ts";
export { foundedPlan } from "./founded_plan.ts";
export { signedAnew } from "./odd_key_package.ts";
export { encodeMlsMessage, type Extension, type Welcome } from "../ts_mls.ts";
export { decodeWelcomeMessage, readyToJoin } from "../welcome.ts";
export { MlsFault } from "../codec.ts";
export { checkKeyPackage, type KeyPackage, sealKeyOf } from "../key_package.ts";
export { sealingExtension } from "../leaf.ts";
export {
  checkSealing,
  checkStillRequired,
  checkWelcomeSealed,
  foundedSealing,
  isKeyMissing,
  mayFollow,
  newSealing,
  type Sealing,
  sealingAfter,
  withoutSealKey,
} from "../sealing_rules.ts";
