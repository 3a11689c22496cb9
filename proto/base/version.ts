/**
 * The version of the whole project: what every package carries, and what `static --version` prints.
 */
export const version = "0.1.0";
