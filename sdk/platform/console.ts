/** The console, which is the same in every runtime. */

/** Shows a mistake of the program to its programmer. */
export function show(text: string): void {
  console.error(text);
}
