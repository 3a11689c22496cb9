/** The relay. `startRelay` runs it in this process. */
export { ConfigError, configFromEnvironment, readConfig, type RelayConfig } from "./config.ts";
export { PortTaken } from "./operations/ports.ts";
export { untilAskedToStop } from "./operations/stop_signals.ts";
export { type RelayOptions, type RunningRelay, startRelay } from "./start_relay.ts";
