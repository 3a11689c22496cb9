/** The option `badge`: programs give it, and hosts are given it. */

const textPrefix = "badge_";

/** Whether it is a path, and no badge itself. */
export function isBadgeFile(option: string): boolean {
  return option !== "" && !option.trimStart().startsWith(textPrefix);
}
