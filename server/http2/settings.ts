/** The settings that this server announces (RFC 9113 §6.5). */
import { Setting } from "../../proto/http2/mod.ts";
import type { Budgets } from "./budgets.ts";

export function announcedSettings(
  budgets: Budgets,
): readonly (readonly [id: number, value: number])[] {
  return [
    [Setting.maxConcurrentStreams, budgets.concurrentStreams],
    [Setting.initialWindowSize, budgets.streamWindowBytes],
    [Setting.maxHeaderListSize, budgets.headerListBytes],
    [Setting.noRfc7540Priorities, 1],
  ];
}
