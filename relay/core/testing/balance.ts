/** For the small world in which relays move sessions. */
export { type Balance, startBalance, step } from "../session/balance.ts";
export { type RelayLoad, unknownLoad } from "../relay_load.ts";
