// Pictures of every page, to be looked at: `npm run screenshots -- FOLDER`, or of some: `… -- FOLDER checkout`.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { chromium } from "@playwright/test";

import { CHROMIUM } from "./lib/chromium.js";
import { PAGES } from "./lib/pages.js";
import { Shop } from "./lib/shop.js";
import { Visitor } from "./lib/visitor.js";

const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 360, height: 740 };

const LOOKS = {
  wide: { viewport: WIDE },
  narrow: { viewport: NARROW },
  dark: { viewport: WIDE, colorScheme: "dark" },
  "dark-narrow": { viewport: NARROW, colorScheme: "dark" },
  "no-scripts": { viewport: WIDE, javaScriptEnabled: false },
};

const [folder = "screenshots", some = ""] = process.argv.slice(2);
await mkdir(folder, { recursive: true });
const browser = await chromium.launch(CHROMIUM);
for (const [name, visit] of Object.entries(PAGES).filter(([name]) => name.includes(some))) {
  for (const [look, options] of Object.entries(LOOKS)) {
    const path = join(folder, `${name.replaceAll(/\W+/g, "-")}.${look}.png`);
    await photograph(visit, options, path);
    console.log(path);
  }
}
await browser.close();

async function photograph(visit, options, path) {
  const shop = await Shop.open();
  const [context, elsewhere] = [await browser.newContext(options), await browser.newContext(options)];
  const page = await context.newPage();
  await visit({ visitor: new Visitor(page, shop), stranger: new Visitor(await elsewhere.newPage(), shop), shop });
  await page.screenshot({ path, fullPage: true });
  await context.close();
  await elsewhere.close();
  await shop.close();
}
