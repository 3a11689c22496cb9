/** Everything that a program can ask a host for. */
export { operationNames } from "../driver/session.ts";
export { hostOperationNames } from "../driver/socket_host.ts";
