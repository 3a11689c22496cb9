/** The channels that the killed writer and its reader agree on. */
export const writerChannels: readonly number[] = [1, 2];
export const writerLease = "writer";
