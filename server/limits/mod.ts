/**
 * How much each party may have of a thing that all share. Pure: the domain of the API and the core
 * of the relay use it too.
 */
export { type AddressRange, isAddress, parseAddressRange } from "./addresses.ts";
export { AddressBuckets, Bucket, Buckets, type Level, type Rate, takeOfAll } from "./buckets.ts";
export { networkOf, networkShare, type Origin, originOf, prefixOf } from "./parties.ts";
export type { Place, PlaceUse } from "./party_places.ts";
export {
  type Limit,
  type Limits,
  limitTopics,
  tellBytes,
  tellCount,
  tellMs,
  tellPart,
  tellRate,
  tellTime,
} from "./table.ts";
export {
  type Newcomer,
  type PlaceOutcome,
  Places,
  type PlacesOptions,
  type PlaceVerdict,
} from "./places.ts";
export { SharedRate } from "./shared_rate.ts";
