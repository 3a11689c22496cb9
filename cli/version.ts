/** The version that `--version` shows. */
export const version = "0.1.0";
