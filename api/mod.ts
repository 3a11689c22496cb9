/** The HTTP API. `startApi` runs it in this process; `createApi` gives the app without sockets. */
export { type App, type AppDeps, createApp } from "./app.ts";
export { type Config, configFromEnvironment, readConfig } from "./config.ts";
export { apiLimits, type PlanMessages } from "./limit_table.ts";
export { type Api, type ApiOptions, createApi, type RunningApi, startApi } from "./start_api.ts";
export { runAdmin } from "./admin/run_admin.ts";
