/** What the API and the relay share as long-lived processes. The HTTP/2 server is an entry point of its own, `http2/mod.ts`. */
export { type AdminOptions, type AdminServer, serveAdmin } from "./admin.ts";
export { type CertificateOptions, type CertificateSource, openCertificate } from "./certificate.ts";
export { createLog, describeError, describeFailure, type Log, type LogFields, type LogLevel } from "./log.ts";
export { readIfPresent, readOrCreateOwned, writeOwned } from "./owned_file.ts";
export { loadRelaySecret } from "./relay_secret.ts";
export { Secret } from "./secret.ts";
export { needed, StartFailed } from "./start_failed.ts";
export { untilAskedToStop } from "./lifetime.ts";
export { naming, PortTaken } from "./taken_port.ts";
export { type ReadVariable, VariableReader } from "./variables.ts";
export type { KeyedCertificate } from "./x509.ts";
