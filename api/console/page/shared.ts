/**
 * Modules that several scripts must have only once: a context is known by its identity, and so is a
 * class of errors.
 */
export * from "./context.ts";
export * from "./elements.ts";
export * from "./frame.ts";
export * from "./service.ts";
