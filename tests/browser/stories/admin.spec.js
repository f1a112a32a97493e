// The operator's pages: what happened is found and read, and what is stuck gets going again.

import { expect, expectOf, test } from "../lib/test.js";
import { WHO } from "../lib/visitor.js";

const PHONE = { width: 360, height: 740 };
const ORDER = /^[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{2}$/;

for (const [device, viewport] of [["at a desk", undefined], ["on a phone", PHONE]]) {
  test(`an operator finds a purchase and reads its story, ${device}`, async ({ visitor, operator, shop }) => {
    if (viewport) await operator.page.setViewportSize(viewport);
    await visitor.getsReadyToPay();
    await visitor.pays();
    await visitor.isToldThatItIsPaid();
    await operator.waitsFor("/admin/mail", "sent");

    await operator.goes("/admin");
    await expect(operator.heading).toHaveText("Overview");
    await operator.searches(WHO.email.toUpperCase());
    await expect(operator.page.getByRole("row")).toHaveCount(2);
    await operator.readsStory();
    const story = operator.page.locator(".admin-story");
    for (const moment of ["Submitted", "Call payment_intents.create", "Ended as paid", "Order placed", "Shipped", "Mail sent"]) {
      await expect(story.getByText(moment, { exact: true })).toBeVisible();
    }

    await operator.page.getByRole("link", { name: ORDER }).click();
    await expect(operator.heading).toHaveText(/^Order /);
    await expect(operator.page.getByText("Desk lamp")).toBeVisible();
    await expectOf(shop, { checkouts: 1, paid: 1 });
  });
}

test("a parked message is tried again, and everybody hears of it", async ({ visitor, operator, shop }) => {
  await operator.page.setViewportSize(PHONE);
  await visitor.getsReadyToPay();
  await visitor.pays();
  await visitor.isToldThatItIsPaid();
  await operator.waitsFor("/admin/outbox", "published");
  await shop.parks();

  await operator.goes("/admin");
  await operator.page.getByRole("link", { name: "1 parked messages" }).click();
  const parked = operator.page.getByRole("table", { name: "Parked" });
  await expect(parked).toContainText("refused by a story");
  await parked.getByRole("button", { name: /^Try again/ }).click();
  await expect(operator.page.getByRole("status")).toHaveText("One is tried again now.");
  await expect(parked).toHaveCount(0);
  await operator.waitsFor("/admin/outbox", "published");
  await expectOf(shop, { checkouts: 1, paid: 1 });
});

test("each list is searched in its own page, and led back to everything", async ({ visitor, operator, shop }) => {
  await operator.page.setViewportSize(PHONE);
  await visitor.getsReadyToPay();
  await visitor.pays();
  await visitor.isToldThatItIsPaid();
  await operator.waitsFor("/admin/mail", "sent");

  await operator.goes("/admin/orders");
  const number = await operator.page.getByRole("link", { name: ORDER }).textContent();
  for (const list of ["orders", "outbox", "mail"]) {
    await operator.goes(`/admin/${list}`);
    await operator.searches(number.replaceAll("-", "").toLowerCase());
    await expect(operator.page.getByRole("table", { name: "Found" })).toBeVisible();
    await operator.searches("nobody@example.com");
    await expect(operator.page.getByRole("status")).toContainText("“nobody@example.com”");
    await operator.page.getByRole("link", { name: "Everything" }).click();
    await expect(operator.page.getByRole("table", { name: "All" })).toBeVisible();
  }
  await expectOf(shop, { checkouts: 1, paid: 1 });
});

test("a refund is reached from the list of orders, and from that of refunds", async ({ visitor, operator, shop }) => {
  await visitor.getsReadyToPay();
  await visitor.pays();
  await visitor.isToldThatItIsPaid();
  await operator.goes("/admin/orders");
  await operator.page.getByRole("link", { name: "Give money back" }).click();
  await operator.page.getByRole("button", { name: "Give back" }).click();
  await expect(operator.heading).toHaveText("Given back");
  await operator.goes("/admin/refunds");
  await operator.page.getByRole("link", { name: "See it" }).click();
  await expect(operator.heading).toHaveText("Given back");
  await expectOf(shop, { checkouts: 1, paid: 1 });
});

test("the audit is run, and says that all holds", async ({ visitor, operator, shop }) => {
  await visitor.getsReadyToPay();
  await visitor.pays();
  await visitor.isToldThatItIsPaid();
  await operator.goes("/admin/audit");
  await operator.page.getByRole("button", { name: "Run it" }).click();
  await expect(operator.page.getByRole("status")).toContainText("All of it holds");
  await expect(operator.page.getByText("stock is conserved")).toBeVisible();
  await expectOf(shop, { checkouts: 1, paid: 1 });
});

test("strangers are asked for the password", async ({ visitor, shop }) => {
  const answer = await visitor.page.request.get(`${shop.url}/admin`);
  expect(answer.status()).toBe(401);
  expect(answer.headers()["www-authenticate"]).toContain("Basic");
});

test("a double click on Send again sends one copy", { tag: "@scripts" }, async ({ visitor, operator, shop }) => {
  await visitor.getsReadyToPay();
  await visitor.pays();
  await visitor.isToldThatItIsPaid();
  await operator.waitsFor("/admin/mail", "sent");
  await operator.page.getByRole("button", { name: /^Send again/ }).dblclick();
  // Whoever goes elsewhere at once may be gone before the form is sent.
  await expect(operator.page).toHaveURL(/resent=/);
  await operator.waitsFor("/admin/mail", "order_confirmation (copy 1)");
  await expect(operator.page.getByText("(copy 2)")).toHaveCount(0);
  await expectOf(shop, { checkouts: 1, paid: 1 });
});

test("nothing is wider than the screen, and no id is broken to pieces", { tag: "@scripts" }, async ({ visitor, operator, shop }) => {
  test.slow(); // Many pages, at many widths.
  await visitor.goes("/lab");
  await visitor.page.getByRole("radio", { name: /^Refund twice/ }).check();
  await visitor.page.getByRole("button", { name: "Play it" }).click();
  await expect(visitor.page.getByRole("heading", { name: "The two ledgers" })).toBeVisible();
  const { page } = operator;
  const leadsTo = async (link) => new URL(await link.first().getAttribute("href"), shop.url).pathname;
  await operator.goes("/admin/checkouts");
  const order = await leadsTo(page.getByRole("link", { name: ORDER }));
  const story = await leadsTo(page.getByRole("link", { name: /^[0-9a-f]{8}-/ }));
  const lists = ["checkouts", "orders", "customers", "refunds", "events", "outbox", "mail", "discrepancies"];
  for (const path of [...lists.map((list) => `/admin/${list}`), order, story]) {
    await operator.goes(path);
    for (const width of [360, 768, 1000, 1279, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate(misfits), `${path} at ${width}`).toEqual({ beyond: 0, broken: [] });
    }
  }
  await expectOf(shop, { checkouts: 1, paid: 1, lamps: 0 });
});

/** How far a page goes beyond its screen, and the ids on it that take more than two lines. */
function misfits() {
  const { scrollWidth, clientWidth } = document.documentElement;
  const lines = (cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell.querySelector(":is(a, bdi):not(:has(*))") ?? cell);
    return range.getClientRects().length;
  };
  const cells = [...document.querySelectorAll("main :is(td, dd)")];
  const ids = cells.filter(({ textContent }) => /^[\w-]{12,40}$/.test(textContent.trim()));
  return { beyond: scrollWidth - clientWidth, broken: ids.filter((cell) => lines(cell) > 2).map((id) => id.textContent.trim()) };
}
