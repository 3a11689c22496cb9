/**
 * The interface that validators share (standardschema.dev), as far as reading a value needs it:
 * zod, valibot, arktype have it.
 */

/** A validator of any library that follows the Standard Schema. */
export interface StandardSchema<Output = unknown> {
  /** The library's side of it. */
  readonly "~standard": {
    /** The version of the interface; 1. */
    readonly version: 1;
    /** Which library. */
    readonly vendor: string;
    /** Returns the value, or what is wrong with it. */
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
  };
}

/** A validator's result for a value. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** One thing that is wrong with a value. */
export interface SchemaIssue {
  /** In words. */
  readonly message: string;
  /** Where. */
  readonly path?: readonly unknown[] | undefined;
}

/** Both halves of a value that was checked: the value, or what is wrong with it in words. */
export function describeIssues(issues: readonly SchemaIssue[]): string {
  return issues.map(({ message, path }) =>
    path === undefined || path.length === 0 ? message : `${placeOf(path)}: ${message}`
  )
    .join("; ");
}

/** Steps are keys, or objects with one. */
function placeOf(path: readonly unknown[]): string {
  return path.map((step) =>
    String(typeof step === "object" && step !== null ? Reflect.get(step, "key") : step)
  ).join(
    ".",
  );
}
