/** What the writer that gets killed and its reader agree on. */
export const writerChannels: readonly number[] = [1, 2];
export const writerLease = "writer";
