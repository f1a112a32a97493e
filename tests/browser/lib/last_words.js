// Says at the very end, in a line each, which stories failed and why. What is said before it of each is long, and the end is what
// is seen first.

export default class LastWords {
  #failed = [];

  onTestEnd(test, { status, error }) {
    if (status === test.expectedStatus || status === "skipped") return;
    const words = (error?.message ?? status).replaceAll(/\u001b\[\d+m/g, "").replaceAll(/\s+/g, " ");
    this.#failed.push(`${test.titlePath().slice(-1)[0]}: ${words.slice(0, 400)}`);
  }

  onEnd() {
    for (const line of this.#failed) console.log(line);
  }

  printsToStdio() {
    return false; // So the usual reporter keeps saying the rest.
  }
}
