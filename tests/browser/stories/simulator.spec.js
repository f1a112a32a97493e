// The page of the payment provider simulator: what it knows, and its levers.

import { expect, expectOf, test } from "../lib/test.js";

test("a fault is armed on the page, and strikes", async ({ page, visitor, shop }) => {
  await page.goto(shop.providerUrl);
  await page.getByLabel("What goes wrong").first().selectOption("error_before");
  await page.getByLabel("On the operation").selectOption("payment_intents.create");
  await page.getByLabel("Times").first().fill("3");
  await page.getByRole("button", { name: "Arm it" }).first().click();
  await expect(page.getByText("struck 0 of 3")).toBeVisible();

  await visitor.getsReadyToPay();
  await visitor.pays();
  await visitor.isToldThatItIsPaid();

  await page.goto(shop.providerUrl);
  await expect(page.locator("#requests .mark").first()).toHaveText("error_before");
  await expect(page.locator("#ledger")).toContainText("succeeded");
  await expectOf(shop, { checkouts: 1, paid: 1 });
});

test("it shows what happens while somebody looks, and leaves alone what is typed", { tag: "@scripts" }, async ({
  page,
  stranger,
  shop,
}) => {
  await page.goto(shop.providerUrl);
  await expect(page.getByText("Live", { exact: true })).toBeVisible();
  await page.getByLabel("Only with the key").fill("half a ke");

  await stranger.getsReadyToPay();
  await stranger.pays();
  await stranger.isToldThatItIsPaid();

  await expect(page.locator("#ledger")).toContainText("1 of 1");
  await expect(page.locator("#requests tbody tr")).not.toHaveCount(0);
  await expect(page.getByLabel("Only with the key")).toHaveValue("half a ke");
  await expectOf(shop, { checkouts: 1, paid: 1 });
});

test("chaos, clock and reset", async ({ page, shop }) => {
  await page.goto(shop.providerUrl);
  await page.getByLabel("Seed").fill("7");
  await page.getByRole("button", { name: "Start" }).click();
  await expect(page.locator("#chaos")).toContainText("seed 7");
  await page.getByRole("button", { name: "Move it" }).click();
  await expect(page.locator("#clock")).toContainText("1h ahead");
  await page.getByRole("button", { name: "Forget everything" }).click();
  await expect(page.locator("#clock")).not.toContainText("ahead");
  await expect(page.locator("#chaos")).toContainText("Off");
});
