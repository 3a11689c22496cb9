/** The HTTP API. `startApi` runs it in this process; `createService` gives the app without sockets. */
export { type App, type AppDeps, createApp } from "./app.ts";
export { type Config, ConfigError, configFromEnvironment, readConfig } from "./config.ts";
export { PortTaken } from "./ports.ts";
export { createService, type RunningApi, type Service, type ServiceOptions, startApi } from "./service.ts";
export { StartFailed } from "../server/mod.ts";
export { runAdmin } from "./admin/commands.ts";
