/**
 * The mark of Static: an S that stands out from cells of one size. `text` is the icon of its pages.
 */

/** Lit cells are the letter; the others are cover. */
export const markLines: readonly (readonly boolean[])[] = ["###", "#..", "###", "..#", "###"]
  .map((line) => [...line].map((cell) => cell === "#"));

const [left, top, side, step] = [8, 2, 4.8, 5.7];
const cells = markLines.flatMap((line, row) =>
  line.map((isLit, column) =>
    `<rect x="${(left + column * step).toFixed(1)}" y="${
      (top + row * step).toFixed(1)
    }" width="${side}" height="${side}" ` +
    `rx="1" fill="${isLit ? "#5eead4" : "#334a63"}"/>`
  )
);

export const text =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" ` +
  `fill="#0b1a2b"/>${cells.join("")}</svg>\n`;
