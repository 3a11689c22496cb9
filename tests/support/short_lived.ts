/**
 * For processes that open the embedded database and live for seconds. V8 compiles WebAssembly once
 * quickly, and what runs often once more for speed: that is half of what a start costs, and pays
 * only for those that live longer.
 */
export const shortLived: Readonly<Record<string, string>> = { DENO_V8_FLAGS: "--liftoff-only" };
