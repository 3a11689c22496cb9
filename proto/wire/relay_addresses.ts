/**
 * Lists of relay addresses: those of one service, which may have several relays, each with one
 * address or two. A TCP address right behind a `quic://` one is the same relay's; every other
 * address begins another relay. So a list that was written for one relay means the same as ever.
 */

/** A list longer than this is a mistake. */
export const maxRelayAddresses = 32;

/** For each address, in order, the number of its relay, from 0. Only its scheme is looked at. */
export function relaysOf(addresses: readonly string[]): readonly number[] {
  const isQuic = (address: string): boolean => /^quic:/i.test(address);
  let relay = -1;
  return addresses.map((address, index) => {
    const before = addresses[index - 1];
    const isSecond = before !== undefined && isQuic(before) && !isQuic(address);
    if (!isSecond) relay++;
    return relay;
  });
}

/** The addresses of each relay. */
export function groupByRelay(addresses: readonly string[]): readonly (readonly string[])[] {
  const groups: string[][] = [];
  for (const [index, relay] of relaysOf(addresses).entries()) {
    (groups[relay] ??= []).push(addresses[index] ?? "");
  }
  return groups;
}

/**
 * Whole relays, drawn by chance, with at most `max` addresses together; in the order of the list.
 */
export function someRelays(
  addresses: readonly string[],
  { max, random }: { readonly max: number; readonly random: () => number },
): readonly string[] {
  if (addresses.length <= max) return addresses;
  const groups = groupByRelay(addresses).map((group, index) => ({ group, index, place: random() }));
  let room = max;
  const taken = groups.sort((a, b) => a.place - b.place).filter(({ group }) => {
    const fits = group.length <= room;
    if (fits) room -= group.length;
    return fits;
  });
  return taken.sort((a, b) => a.index - b.index).flatMap(({ group }) => group);
}
