/** The text of an answer that is known to be short. */

/** Undefined when it is longer than that: then it is not what was asked for, and the rest is not read. */
export async function readBoundedText(response: Response, maxLength: number): Promise<string | undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (let next = await reader.read(); next.value !== undefined; next = await reader.read()) {
      text += decoder.decode(next.value, { stream: true });
      if (text.length > maxLength) return undefined;
    }
    return text;
  } finally {
    await reader.cancel();
  }
}
