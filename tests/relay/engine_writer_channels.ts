/** The channels that the killed writer and its reader agree on. */
export const writerChannels: readonly number[] = [1, 2];
export const writerLease = "writer";

/**
 * Entries between two copies of the log in a campaign, so that relays begin soon although the log
 * is long.
 */
export const campaignCopyEvery = 2_000;
