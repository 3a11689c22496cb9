/** The HTTP API. `startApi` runs it in this process; `createApi` gives the app without sockets. */
export { type App, type AppDeps, createApp } from "./app.ts";
export { type Config, ConfigError, configFromEnvironment, readConfig } from "./config.ts";
export { PortTaken } from "./ports.ts";
export { type Api, type ApiOptions, createApi, type RunningApi, startApi } from "./start_api.ts";
export { StartFailed } from "../server/mod.ts";
export { runAdmin } from "./admin/commands.ts";
