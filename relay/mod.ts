/** The relay. `startRelay` runs it in this process. */
export { configFromEnvironment, readConfig, type RelayConfig } from "./config.ts";
export { relayLimits } from "./limit_table.ts";
export { type RelayStartOptions, type RunningRelay, startRelay } from "./start_relay.ts";
