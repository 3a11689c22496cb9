/** The wire contract that relay, SDK and proxy share. Pure: no I/O, no clock, no randomness. */
export { limits } from "./limits.ts";
