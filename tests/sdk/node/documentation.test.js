// What the documentation of the simulator shows is run here as it stands there.

import { deepEqual, notEqual } from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { story } from "../lib/story.js";

const DOCUMENT = new URL("../../../docs/simulator.md", import.meta.url);
const HERE = fileURLToPath(new URL(".", import.meta.url));

story("the examples for Node print what they promise", async ({ simulator }) => {
  const text = await readFile(DOCUMENT, "utf8");
  const examples = [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);
  notEqual(examples.length, 0);
  for (const code of examples) {
    const there = code.replaceAll("12111", new URL(simulator.url).port);
    const run = await promisify(execFile)("node", ["--input-type=module", "--eval", there], { cwd: HERE });
    const promised = [...code.matchAll(/ \/\/ (.+)$/gm)].map(([, line]) => line);
    deepEqual(run.stdout.trimEnd().split("\n"), promised);
  }
});
