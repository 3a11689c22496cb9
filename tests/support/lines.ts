/**
 * Text cut into lines; what comes after the last end of a line is dropped, because it is not whole.
 */
export class TextLineStream extends TransformStream<string, string> {
  constructor() {
    let rest = "";
    super({
      transform: (text, controller) => {
        const lines = (rest + text).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) controller.enqueue(line);
      },
    });
  }
}
