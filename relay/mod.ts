/** The relay. `startRelay` runs it in this process. */
export { ConfigError, configFromEnvironment, readConfig, type RelayConfig } from "./config.ts";
export { PortTaken, untilAskedToStop } from "../server/mod.ts";
export { type RelayOptions, type RunningRelay, startRelay } from "./start_relay.ts";
