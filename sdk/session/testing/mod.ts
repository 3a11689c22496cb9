/** The session layer, for tests that run it against a real relay without channels on top. */
export { StaticError } from "../../base/errors.ts";
export type { Platform } from "../../platform/platform.ts";
export { firstConnection, patienceMs, whileBusy } from "../first_connection.ts";
export { openRelaySession, type RelayOptions } from "../open_session.ts";
export type { RelaySession } from "../relay_session.ts";
export { createRelaySession } from "../session.ts";
export { parseEndpoints } from "../../transport/endpoint.ts";
export type { CellStream, Connector } from "../../transport/transport.ts";
