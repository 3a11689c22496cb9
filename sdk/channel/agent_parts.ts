/** The parts that an agent is made of. */
import type { ReaderAccount, Trust } from "../../proto/mod.ts";
import type { Runtime } from "../base/runtime.ts";
import type { Signatures } from "../mls/crypto/signatures.ts";
import type { MlsIdentity } from "../mls/identity.ts";
import type { RelaySession } from "../session/relay_session.ts";
import type { RecordStore } from "../store/mod.ts";
import type { OwnBadges } from "./own_badges.ts";
import type { HealingPace } from "./upkeep/healing_pace.ts";

export interface AgentParts {
  readonly store: RecordStore;
  readonly session: RelaySession;
  readonly runtime: Runtime;
  readonly signatures: Signatures;
  readonly identity: MlsIdentity;
  /** The agents that the user knows; nobody when it is not given. */
  readonly trust?: Trust & { readonly look?: () => void };
  /** Returns this agent's account, and its service as an issuer of badges, once they are known. */
  readonly ownAccount?: (() => ReaderAccount | undefined) | undefined;
  /** The badges that it shows; none when it is not given. */
  readonly ownBadges?: OwnBadges | undefined;
  /** `off`: nobody is told what becomes of its messages here. */
  readonly receipts?: "addressed" | "off" | undefined;
  /** The usual one when it is not given. */
  readonly pace?: HealingPace;
}
