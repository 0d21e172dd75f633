// Owns the colours of states: told apart by people who do not see red and green (after Okabe and Ito), on light and on dark.
const LIGHT = ["#009e73", "#e69f00", "#0072b2", "#56b4e9", "#d55e00", "#b8b0c8", "#8c6d31", "#cc79a7", "#dfe3e8", "#7a6fa8", "#a0a6ad", "#4f9d8a", "#93b5a5"];
const DARK = ["#1fbf8f", "#f0b429", "#3d8fd1", "#7cc7f2", "#e8743b", "#6d667d", "#b08d4c", "#d78fb5", "#39424b", "#9489c4", "#69727b", "#3f8574", "#5d7f70"];

export const dark = (): boolean => matchMedia("(prefers-color-scheme: dark)").matches;
export const colours = (): readonly string[] => (dark() ? DARK : LIGHT);
/** Ink, dim ink, lines, ground, mark. */
export const inks = () =>
  dark() ? { ink: "#e4e8ec", dim: "#a4aeb8", line: "#333b43", ground: "#15191d", soft: "#1e242a", mark: "#ff7b72", light: "#56d364" }
    : { ink: "#1b1f24", dim: "#57606a", line: "#d9dee3", ground: "#ffffff", soft: "#f4f6f8", mark: "#b42318", light: "#1a7f37" };

/** A canvas of the right size for its place and the screen's pixels. */
export function fit(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}
