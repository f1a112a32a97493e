// Every page in every state: valid, small and still; and, light and dark, wide and narrow, looked at by axe. Each is left as a
// picture in test-results/pages, to be looked at by people.
//
// Those in the documentation are such pictures as well: `npm run pictures` makes them anew.

import AxeBuilder from "@axe-core/playwright";

import { Documents } from "../lib/documents.js";
import { expect, test } from "../lib/test.js";
import { PAGES } from "../lib/pages.js";

const WIDE = { width: 1280, height: 900 };
const CORNER = { x: 0, y: 0 };
const NARROW = { width: 360, height: 740 };

const PICTURES = { "checkout: filled in": "checkout.png", "lab: run": "lab.png" };

/** What happens is added while somebody looks. */
const IS_LIVE = ["lab: checkout", "simulator", "simulator: wrong fields"];

const ABOUT_COLORS = ["color-contrast", "link-in-text-block"];

test.use({ reducedMotion: "reduce" });

for (const [name, visit] of Object.entries(PAGES)) {
  test(`R76: ${name}`, { tag: "@scripts" }, async ({ visitor, stranger, shop, complaints }) => {
    if (name === "error: a mistake of ours") complaints.allowed.push(/500/);
    if (name.startsWith("simulator")) test.slow(); // It has long lists, and axe looks at every line of them.
    const documents = new Documents(visitor.page);
    await visit({ visitor, stranger, shop });
    expect(await documents.mistakes()).toEqual([]);
    expect(documents.strangers(shop.url, shop.providerUrl)).toEqual([]);
    expect(await documents.size()).toMatchObject({ isSmall: true });
    if (!IS_LIVE.includes(name)) {
      expect(await documents.shift(), "nothing moves by itself").toBeLessThan(0.001);
      expect(await documents.isAsSent(), "so axe sees what is there without scripts, too").toBe(true);
    }
    for (const viewport of [WIDE, NARROW]) {
      await visitor.page.setViewportSize(viewport);
      for (const colorScheme of ["light", "dark"]) {
        await visitor.page.emulateMedia({ colorScheme });
        await test.step(`${viewport.width} pixels, ${colorScheme}`, async () => {
          await photograph(visitor.page, name, viewport, colorScheme);
          // Looking takes its time. Nothing but colors is different in the dark, and they are the same at any width.
          const axe = new AxeBuilder({ page: visitor.page });
          if (colorScheme === "light") await expectAccessible(visitor.page, axe.disableRules(exempt(name)));
          else if (viewport === WIDE) await expectAccessible(visitor.page, axe.withRules(ABOUT_COLORS));
        });
      }
    }
  });
}

async function photograph(page, name, viewport, colorScheme) {
  const path = `test-results/pages/${name.replaceAll(/\W+/g, "-")}.${viewport.width}.${colorScheme}.png`;
  await page.screenshot({ path, fullPage: true });
  const isWanted = process.env.PICTURES && PICTURES[name] && viewport === WIDE && colorScheme === "light";
  if (isWanted) await page.screenshot({ path: `../../docs/${PICTURES[name]}`, fullPage: true, clip: { ...WIDE, ...CORNER } });
}

async function expectAccessible(page, axe) {
  const { violations } = await axe.analyze();
  expect(violations.map(({ id, help, nodes }) => ({ id, help, at: nodes.map((node) => node.html) }))).toEqual([]);
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(beyond, "the page must not scroll sideways").toBe(0);
}

/**
 * The page of an undecided payment renews itself, without scripts too, since that is how its customer learns of the
 * outcome. The rule forbids it on any page, however little is on it to be read.
 */
function exempt(name) {
  return ["status: being checked", "status: needs authentication"].includes(name) ? ["meta-refresh"] : [];
}
