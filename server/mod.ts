/**
 * Parts that API and relay share as long-lived processes. The HTTP/2 server is an entry point of
 * its own, `http2/mod.ts`.
 */
export { createOriginCheck, isLoopback, parseWebOrigin, urlHost } from "./addresses.ts";
export { type AdminAddress, type AdminServer, readAdminAddress, serveAdmin } from "./admin.ts";
export {
  type CertificateFiles,
  type CertificateSource,
  isPair,
  openCertificate,
  openDevelopmentCertificate,
  readCertificateFiles,
} from "./certificate.ts";
export {
  explain,
  guardProcess,
  type RunningProcess,
  runUntil,
  untilAskedToStop,
} from "./lifetime.ts";
export { ListenerWatch, type ListenerWatchOptions } from "./listener_watch.ts";
export {
  createLog,
  describeError,
  describeFailure,
  type Log,
  type LogFields,
  type LogLevel,
} from "./log.ts";
export { type LogOutput, type LogState, openLogOutput } from "./log_output.ts";
export { type Metric, renderMetrics, type Sample } from "./metrics.ts";
export { openFileLimit, type OpenFilesQuestion } from "./open_files.ts";
export { makePrivateFolder, readIfPresent, readOrCreateOwned, writeOwned } from "./owned_file.ts";
export { loadAdminSecret, loadRelaySecret } from "./relay_secret.ts";
export { Secret } from "./secret.ts";
export { needed, StartFailed } from "./start_failed.ts";
export { type ConfiguredPort, naming, PortTaken } from "./taken_port.ts";
export { after, every, soon, within } from "./timers.ts";
export { openTraces, type Span, type Traces, tracesVariable } from "./traces.ts";
export { ownNames, ownVariable } from "./environment.ts";
export { ConfigError, type ReadVariable, readVariables, type VariableReader } from "./variables.ts";
export { type Wait, waits } from "./waits.ts";
export { createNodeAuthority, createNodeCertificate, type KeyedCertificate } from "./x509.ts";
