/** Numbers as people read them. */

const grouping = new Intl.NumberFormat("en-US");

/** 10,000 */
export function grouped(count: number): string {
  return grouping.format(count);
}

/** 4.0 kB */
export function byteSize(bytes: number): string {
  const unit = bytes < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3));
  const scaled = bytes / 1000 ** unit;
  return `${unit === 0 ? bytes : scaled.toFixed(1)} ${["B", "kB", "MB", "GB", "TB"][unit]}`;
}
