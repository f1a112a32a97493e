// Nothing that the SDK's types require is missing, and nothing is given that they do not know.

import { deepEqual, equal } from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { after, before, test } from "node:test";

import { Simulator } from "../lib/simulator.js";
import { compilerErrors, Declarations, writeLiterals } from "./declarations.js";
import { Survey } from "./fields.js";
import { collectSamples } from "./samples.js";

const TABLE = new URL("../../../docs/simulator-fields.md", import.meta.url);

let simulator;
let samples;

before(async () => {
  simulator = await Simulator.start();
  samples = await collectSamples(simulator);
  await writeLiterals(samples);
});

after(() => simulator.stop());

test("every answer compiles as what the SDK says it is", async () => {
  deepEqual(await compilerErrors(), []);
});

test("every operation of the simulator was asked", async () => {
  const asked = new Set(samples.map(({ operation }) => operation));
  deepEqual((await simulator.operations()).filter((operation) => !asked.has(operation)), []);
});

test("the table of fields is up to date", async () => {
  const declarations = new Declarations();
  const table = new Survey(samples, declarations).toMarkdown(await simulator.operations());
  declarations.close();
  if (process.env.UPDATE) await writeFile(TABLE, table);
  equal(await readFile(TABLE, "utf8"), table, "docs/simulator-fields.md is stale: npm run fields --prefix tests/sdk");
});
