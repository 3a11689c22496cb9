/**
 * From the option `badge` to the badges that an agent shows: the user's own, and behind it that of
 * the service, by which other agents of the account know this one.
 */
import { isBadgeFile } from "../base/badge_option.ts";
import type { BadgeSource } from "../channel/own_badges.ts";
import type { Platform } from "../platform/platform.ts";
import type { ConnectOptions } from "./connect_options.ts";
import type { ServiceBadge } from "./service_badge.ts";

type BadgeOption = Exclude<ConnectOptions["badge"], false | undefined>;

type OwnSource = Pick<ServiceBadge, "read" | "everyMs">;

const [minuteMs, hourMs] = [60_000, 3_600_000];

export function badgeSourceOf(
  option: BadgeOption | undefined,
  service: Pick<ServiceBadge, "read" | "everyMs" | "strangersAmong"> | undefined,
  platform: Pick<Platform, "readTextFile">,
): BadgeSource | undefined {
  const given = option === undefined ? undefined : givenSource(option, platform);
  const sources = [given, service].filter((source) => source !== undefined);
  if (sources.length === 0) return undefined;
  return {
    ...(service !== undefined && { strangersAmong: (ids) => service.strangersAmong(ids) }),
    everyMs: Math.min(...sources.map(({ everyMs }) => everyMs)),
    read: async () => {
      const texts = await Promise.all(sources.map((source) => source.read()));
      return texts.filter((text) => text !== undefined);
    },
  };
}

function givenSource(
  option: BadgeOption,
  { readTextFile }: Pick<Platform, "readTextFile">,
): OwnSource {
  if (typeof option === "function") return { everyMs: hourMs, read: async () => await option() };
  if (!isBadgeFile(option)) return { everyMs: hourMs, read: () => Promise.resolve(option) };
  // The file may come later, and is replaced in time.
  return { everyMs: minuteMs, read: () => readTextFile(option).catch(() => undefined) };
}
