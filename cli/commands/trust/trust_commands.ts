/** The commands about who is who, in the order in which help shows them. */
import type { Command } from "../../command.ts";
import {
  addIssuerKey,
  closeIssuerKey,
  issueBadge,
  showBadge,
  showDocument,
  useBadge,
} from "./badges.ts";
import { channelIssuers } from "./channel_issuers.ts";
export { listMembers } from "./channel_members.ts";
import { refreshIssuers, trustIssuer, trustMail } from "./issuers.ts";
import { listTrusted, nameAgent, removeTrusted, showNumber } from "./names.ts";

export const trustCommands: readonly Command[] = [
  showNumber,
  nameAgent,
  trustIssuer,
  trustMail,
  refreshIssuers,
  listTrusted,
  removeTrusted,
  useBadge,
  showBadge,
  addIssuerKey,
  closeIssuerKey,
  showDocument,
  issueBadge,
  channelIssuers,
];
