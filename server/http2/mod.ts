/**
 * A small, strict, bounded HTTP/2 server (RFC 9113) with HTTP/1.1 beside it. It knows nothing of
 * relays, MLS or gRPC.
 */
export { type Budgets, defaultBudgets } from "./budgets.ts";
export {
  connectCors,
  createConnectHandler,
  remoteAddressKey,
  vouchKey,
} from "./connect_adapter.ts";
export { Connection, type ConnectionDeps } from "./connection.ts";
export { type CorsPolicy, withCors } from "./cors.ts";
export { connectionKey } from "./socket_admission.ts";
export {
  type Handler,
  type HeaderField,
  headerValue,
  type RequestStanding,
  type ServerRequest,
  type ServerRequestBody,
  type ServerResponse,
  type StandingOf,
} from "./handler.ts";
export {
  addressesOf,
  backlog,
  createTlsServer,
  listen,
  type ListenAddress,
  openOnEach,
  takeSockets,
  type TlsServer,
} from "./incoming_sockets.ts";
export type { Transport } from "./outbox.ts";
export { type PeerBudget, PeerBudgets, type PeerStats } from "./peer_budgets.ts";
export { serve, type Server, type ServerOptions, type ServerStats } from "./server.ts";
export { SessionSockets, type SocketPlace, SocketPlaces } from "./socket_places.ts";
export { StreamAborted } from "./stream_aborted.ts";
