/** The wire contract that relay, SDK and proxy share. Pure: no I/O, no clock, no randomness. */
export { limits } from "./limits.ts";
export { type ErrorCode, errorCodes, WireError } from "./errors.ts";
export { type AccountId, type KeyId, parseAccountId, parseKeyId } from "./ids.ts";
export {
  type ApiKeyEnvironment,
  apiKeyLookupLength,
  apiKeyPattern,
  apiKeySecretLength,
  encodeApiKey,
  encodeBase62,
  parseApiKey,
  type ParsedApiKey,
} from "./api_key.ts";
export {
  type Lease,
  leaseList,
  type LeaseReportBatch,
  leaseReportBatch,
  type LeaseReportResults,
  leaseReportResults,
  type LeaseRequest,
  leaseRequest,
  type LeaseResponse,
  leaseResponse,
  leaseStopMarginMs,
} from "./lease.ts";
