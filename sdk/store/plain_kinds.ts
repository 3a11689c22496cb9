/**
 * Kinds of records that hold no secret, by family: the part of a kind before its first "-". Every
 * other kind is a secret one: its earlier versions are forgotten (`periods.ts`), and a new kind is
 * until somebody enters it here.
 *
 * Secret are the state of MLS (`mls`: epochs, secret trees, chains of senders, commits of ours),
 * private keys of KeyPackages (`keypackages`), invites (`inv`), and requests with a key and their
 * replies (`asked`, `reply`).
 */

const plainFamilies: ReadonlySet<string> = new Set([
  // Hardly overwritten, and what a repaired store must still know of itself.
  ...["identity", "service"],
  // Records of a channel: members, places in its log, counts, signed statements, hashes of states.
  ...["channels", "facts", "read", "run", "erasing"],
  // A commit as it was sent to the relay.
  "commit",
  // Names and references of what is being made.
  ...["creating", "joining", "passes", "uploaded"],
]);

export function familyOf(kind: string): string {
  return kind.split("-", 1)[0] ?? kind;
}

export function isPlain(kind: string): boolean {
  return plainFamilies.has(familyOf(kind));
}
