/**
 * Additions that both sides settle in `GetChallenge`: the client names those that it knows, and the
 * relay answers with those of them that the session has. Numbers are never used again; 1 and 2 are
 * reserved.
 */
export const sessionFeatures = {
  /** One entry of the log may hold several messages, and the relay charges each of them. */
  bundles: 3,
  /** Replies say within which time agents come back after a loss. */
  returns: 4,
} as const;

/** All that this version knows. */
export const knownFeatures: readonly number[] = Object.values(sessionFeatures);
