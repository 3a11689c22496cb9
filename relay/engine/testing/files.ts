/** A look into files, as somebody has who stole the disk. */

/** Returns those of the texts that stand in any file of a folder. */
export async function filesContain(
  folder: string,
  texts: readonly string[],
): Promise<readonly string[]> {
  let all = "";
  for await (const { name } of Deno.readDir(folder)) {
    // One character for each byte, so that any text of ASCII is found where its bytes are.
    all += new TextDecoder("latin1").decode(await Deno.readFile(`${folder}/${name}`)) + "\n";
  }
  return texts.filter((text) => all.includes(text));
}
