// Every story is told twice, with scripts and without; what needs scripts to be observed is tagged @scripts. Those of whole
// journeys, tagged @phone, are told on a narrow page as well.

import { defineConfig } from "@playwright/test";

import { CHROMIUM } from "./lib/chromium.js";

export default defineConfig({
  testDir: "stories",
  outputDir: "test-results",
  fullyParallel: true,
  workers: "100%",
  forbidOnly: process.env.CI === "true",
  retries: 0, // A story that fails sometimes tells of a race.
  timeout: 120_000, // Two browsers, their shops and axe share what there is of a processor.
  expect: { timeout: 20_000 },
  reporter: [["list"], ["./lib/last_words.js"]],
  use: {
    browserName: "chromium",
    launchOptions: CHROMIUM,
    actionTimeout: 20_000,
    trace: process.env.TRACE ?? "off", // TRACE=on records each story for `npx playwright show-trace`.
  },
  projects: [
    { name: "scripts" },
    { name: "no scripts", use: { javaScriptEnabled: false }, grepInvert: /@scripts/ },
    { name: "phone", use: { javaScriptEnabled: false, viewport: { width: 390, height: 844 } }, grep: /@phone/ },
  ],
});
