/** Importing it builds the console, for tests that load its pages. */
import { buildConsole } from "../../tools/build_console.ts";

await buildConsole();
