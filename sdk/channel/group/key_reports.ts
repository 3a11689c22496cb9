/** Identities that came with another key than the one that was known, in words and as events. */
import { quoted } from "../../../proto/mod.ts";
import { identityText } from "../../base/identity_text.ts";
import type { HealthLog } from "../health.ts";
import type { ChangedKeys } from "./key_changes.ts";

export function reportChangedKeys(health: HealthLog, { accepted, doubtful }: ChangedKeys): void {
  for (const bytes of accepted) {
    const identity = identityText(bytes);
    health.report(
      "key_changed",
      `${quoted(identity)} is in the channel with a new key, brought in by an owner`,
    );
    health.tell({ type: "key_changed", identity, trusted: true });
  }
  for (const bytes of doubtful) {
    reportDoubtful(health, bytes);
    health.tell({ type: "key_changed", identity: identityText(bytes), trusted: false });
  }
}

export function reportDoubtful(health: HealthLog, identity: Uint8Array): void {
  const text =
    `${
      quoted(identityText(identity))
    } is in the channel with another key than before, and no owner brought it in. It can ` +
    "read along, and its messages are not shown; ask an owner to remove it first, and to invite it then if it is genuine";
  health.report("key_changed", text);
}
